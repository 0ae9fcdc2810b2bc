/* Reads a device program: an ELF file as ptxas writes it, alone or inside a fat binary, or PTX.
 * Only names and sizes are taken from it; the work of a kernel is looked up among the simulator's
 * own. */
#ifndef GPUSIM_IMAGE_READER_H
#define GPUSIM_IMAGE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/driver.h"

struct gpusim_image_function {
    const char *name; /* inside the image */
    const char *body; /* the same; the simulator's kernel that it is */
    unsigned registers, shared, local;
};

struct gpusim_image_variable {
    const char *name;
    uint64_t size;
    const void *initial; /* NULL: zero */
    bool managed;
    unsigned section; /* the bytes of that, and the variable's offset in it: */
    uint64_t section_size, offset;
};

enum gpusim_image_kind {
    GPUSIM_IMAGE_BAD,
    GPUSIM_IMAGE_ELF,
    GPUSIM_IMAGE_FATBIN,
    GPUSIM_IMAGE_PTX
};

struct gpusim_image_visitor {
    /* Both answer false to stop; variable may be NULL. */
    bool (*function)(void *self, const struct gpusim_image_function *function);
    bool (*variable)(void *self, const struct gpusim_image_variable *variable);
    void *self;
};

/*
 * Walks the image. A fat binary may hold its ELF files compressed; then nothing is visited, and the
 * caller learns that it was one.
 */
enum gpusim_image_kind gpusim_image_walk(const void *image,
                                         const struct gpusim_image_visitor *visitor);

/* How long the image is by its own account, and where it begins (a wrapper only points to it). */
size_t gpusim_image_bytes(const void *image, const void **start);

/* The content of a file, to be freed; NULL and why not. */
void *gpusim_image_from_file(const char *path, CUresult *result);

#endif
