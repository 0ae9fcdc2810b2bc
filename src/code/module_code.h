/* The machine code of a module's functions: found in the image it was loaded from when it is first
 * asked for, and kept until the module goes. Owns its copies. Used with the lock of the list of
 * modules held. */
#ifndef GPUPROF_CODE_MODULE_CODE_H
#define GPUPROF_CODE_MODULE_CODE_H

#include "code/image.h"

#include <stdbool.h>
#include <stddef.h>

struct gp_code;

/* Remembers a module's image, of `size` bytes, 0 when only the image itself knows. One that stays
 * where it is until gp_code_drop is not copied. NULL when out of memory. */
struct gp_code *gp_code_keep(const void *image, size_t size, bool stays);
void gp_code_drop(struct gp_code *code);

/* It stays only as long as the executable or the shared library does that is loaded there. Takes
 * NULL. */
void gp_code_lies_in(struct gp_code *code, const void *object);

/* Reads the image, which is that of gp_code_keep, as gp_image_read does. The first question need
 * not unpack it again. `code` may be NULL. */
bool gp_code_read(struct gp_code *code, const void *image, size_t size, int cc,
                  const struct gp_image_visitor *visitor, void *data, const char **runs_once,
                  const char **why);

/* The PTX that the driver has compiled for a chip of compute capability `cc` (times ten), where the
 * image has no machine code for it: text that ends in a NUL, to be freed. NULL where there is none,
 * it is too large to be compiled once more, or was already. `code` may be NULL here and below. */
char *gp_code_ptx(struct gp_code *code, int cc);
/* The bytes of that text; 0 where there is none. */
size_t gp_code_ptx_bytes(struct gp_code *code, int cc);
/* A cubin that was made of it; NULL, with the reason, where there could be none. It is copied. */
void gp_code_compiled(struct gp_code *code, const void *cubin, size_t size, const char *why);
/* Where the code was made of PTX: is not given any more for the function that has another number of
 * registers than the driver says. */
void gp_code_check_registers(struct gp_code *code, const char *function, int cc,
                             unsigned registers);

/* The machine code of the function, for a chip of compute capability `cc` (times ten), at which
 * instruction offsets count from 0; it lives until gp_code_drop. Code of which several cubins have
 * different versions is not given. NULL with the reason in *why, which lives for ever. */
const void *gp_code_find(struct gp_code *code, const char *function, int cc, size_t *size,
                         const char **why);

/* The bytes that have to be unpacked of the image to find the function; 0 where it is known, or
 * nothing of it is packed. `code` may be NULL. */
size_t gp_code_missing(struct gp_code *code, const char *function, int cc);

/* The parts of a cubin that show the source lines of the function (code/slim.h), to be freed; at
 * most `most` bytes. NULL where it is not to be had. */
void *gp_code_slim(struct gp_code *code, const char *function, int cc, size_t most, size_t *size);

/* True when code of the module, for a chip of compute capability `cc` (times ten), calls the
 * function of that name of the device's runtime; also where that cannot be found out. `code` may be
 * NULL. */
bool gp_code_may_call(struct gp_code *code, const char *function, int cc);

#endif
