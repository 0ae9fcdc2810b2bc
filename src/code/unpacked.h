/* The cubins of an image, unpacked for one question and kept for those that follow: a new kernel
 * asks several, and to unpack a library's image takes milliseconds. All images share the room for
 * them; those that were asked last keep theirs. Owns the memory they are unpacked into. Used with
 * the lock of the list of modules held. */
#ifndef GPUPROF_CODE_UNPACKED_H
#define GPUPROF_CODE_UNPACKED_H

#include "code/parts.h"

#include <stdbool.h>
#include <stddef.h>

/* The kept cubins of one image. All zero at first; it may not move. */
struct gp_unpacked {
    int cc;
    bool is_kept;      /* `cubins` are all of them, for a chip of that compute capability */
    bool is_too_large; /* to be kept for it */
    struct gp_part *cubins;
    size_t count;
    size_t bytes; /* unpacked; others lie in the image */
    struct gp_unpacked *prev, *next;
};

/* Calls the visitor as gp_image_parts does, with the cubins that are kept of the image; keeps them
 * if there is room. The visitor keeps no memory and has none to unpack into. `unpacked` NULL: none
 * is kept. */
bool gp_unpacked_parts(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                       const struct gp_part_visitor *visitor, void *data, const char **why);

/* Before its image goes. */
void gp_unpacked_drop(struct gp_unpacked *unpacked);

#endif
