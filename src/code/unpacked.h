/* The cubins of an image, unpacked for one question and kept for those that follow: a new kernel
 * asks several, and to unpack a library's image takes milliseconds. A question for one function
 * unpacks those alone that may have it, once the image was unpacked as a whole. All images share
 * the room for cubins; those that were asked last keep theirs. Owns the memory they are unpacked
 * into, and knows how long that takes. Used with the lock of the list of modules held. */
#ifndef GPUPROF_CODE_UNPACKED_H
#define GPUPROF_CODE_UNPACKED_H

#include "code/names.h"
#include "code/parts.h"

#include <stdbool.h>
#include <stddef.h>

/* The cubins of one image. All zero at first; it may not move. */
struct gp_unpacked {
    int cc;            /* of the chip that they are for */
    bool is_known;     /* all of them have been visited: there are `total` */
    bool is_too_large; /* to be kept as a whole */
    size_t total;
    struct gp_part *cubins; /* those that are kept; the others have no bytes */
    size_t count;
    size_t bytes; /* unpacked; others lie in the image */
    struct gp_names names;
    struct gp_unpacked *prev, *next;
};

/* Calls the visitor as gp_image_parts does, with the cubins that are kept of the image; keeps them
 * if there is room. Cubins that do not have the function are passed by, as far as that is known;
 * `function` NULL: none is. The visitor keeps no memory, has none to unpack into, and passes no
 * cubin by. `unpacked` NULL: none is kept. */
bool gp_unpacked_parts(struct gp_unpacked *unpacked, const void *image, size_t size, int cc,
                       const char *function, const struct gp_part_visitor *visitor, void *data,
                       const char **why);

/* The bytes that have to be unpacked of the image to ask all its cubins for the function. */
size_t gp_unpacked_missing(const struct gp_unpacked *unpacked, const void *image, size_t size,
                           int cc, const char *function);

/* Before its image goes. */
void gp_unpacked_drop(struct gp_unpacked *unpacked);

/* The seconds that it takes to unpack so many bytes, by those that were unpacked so far. */
double gp_unpacking_seconds(size_t bytes);
/* The seconds that the calling thread has unpacked so far. Without the lock. */
double gp_unpacked_seconds(void);

#endif
