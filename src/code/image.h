/* A module's image read: the names of its variables, and whether its kernels have effects that
 * cannot be undone.
 *
 * The driver is asked for each name later, so a name too many does no harm; a name too few would
 * let a kernel's state escape the snapshot. */
#ifndef GPUPROF_CODE_IMAGE_H
#define GPUPROF_CODE_IMAGE_H

#include "code/unpacked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The position of a variable in its cubin. The driver loads a section as it is, but for variables
 * that are alone: managed ones, and those of PTX. */
struct gp_position {
    bool alone;
    unsigned part, section;
    uint64_t offset, bytes;
};

struct gp_image_visitor {
    /* a variable in device memory: static, constant or managed, of the file or of a function */
    void (*variable)(const char *name, size_t length, const struct gp_position *position,
                     void *data);
    /* a function that may print (code/printing.h) */
    void (*printing)(const char *name, size_t length, void *data);
    /* a function of PTX, and whether it may wait (code/ptx.h); may be NULL */
    void (*waits)(const char *name, size_t length, bool may_wait, void *data);
};

/* Calls the visitor. The image, its `size` and `cc` are those of gp_image_parts; the cubins that
 * are unpacked for it are kept in `unpacked`, which may be NULL. Returns false, with the reason in
 * `why`, where the image is in no form we know or we are out of memory: then nothing is known of
 * the module's variables. *runs_once becomes the reason why none of its kernels must run again,
 * NULL where there is none. */
bool gp_image_read(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                   const struct gp_image_visitor *visitor, void *data, const char **runs_once,
                   const char **why);

#endif
