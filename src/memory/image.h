/* What we must know of a module's image: the names of its variables, and whether its kernels do
 * what cannot be undone;
 * whatever form the program loads it in: cubin (ELF), fatbin (compressed or not, bare or in nvcc's
 * wrapper), PTX text. Owns nothing; calls libc, lz4, zstd.
 *
 * The driver is asked for each name later, so a name too many does no harm; a name too few would
 * let a kernel's state escape the snapshot. */
#ifndef GPUPROF_MEMORY_IMAGE_H
#define GPUPROF_MEMORY_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

typedef void gp_name_visit(const char *name, size_t length, void *data);

/* Calls visit for each variable in device memory: static, constant or managed, of the file or of a
 * function. `size` is that of the image in bytes, 0 when only the image itself knows (the driver's
 * calls take no size). `cc` is the device's compute capability times ten: where a fatbin holds code
 * for several chips, that for this one is read. Returns false, with the reason in `why`, where the
 * image is in no form we know or memory ran out: then nothing is known of the module's variables.
 * *runs_once becomes the reason why its kernels must not run again, NULL where there is none. */
bool gp_image_read(const void *image, size_t size, int cc, gp_name_visit *visit, void *data,
                   const char **runs_once, const char **why);

#endif
