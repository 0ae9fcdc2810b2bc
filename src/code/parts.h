/* The parts of a module's image, cubins and PTX text, in each form in which a program can load it:
 * cubin (ELF), fatbin (compressed or not, bare or in nvcc's wrapper), PTX text. */
#ifndef GPUPROF_CODE_PARTS_H
#define GPUPROF_CODE_PARTS_H

#include <stdbool.h>
#include <stddef.h>

struct gp_part {
    bool is_cubin; /* else PTX */
    const char *bytes;
    size_t size;
    void *memory;   /* it was unpacked into; NULL: the part lies in the image */
    unsigned cubin; /* of a cubin: which one of those for the chip it is, from 0 */
};

struct gp_part_visitor {
    /* False, with the reason in *why, ends the visit. One that keeps the part's memory sets it to
     * NULL, and frees it later. */
    bool (*part)(struct gp_part *part, void *data, const char **why);
    /* Asked before a cubin is unpacked, into so many bytes: false passes it by. NULL: none is. */
    bool (*unpacks)(unsigned cubin, size_t bytes, void *data);
    /* Memory as malloc has it, to unpack a part into. Itself NULL: malloc. */
    void *(*room)(size_t size, void *data);
    bool cubins_only; /* PTX is passed by */
};

/* Calls the visitor for each part that the driver could load on this chip. `size` is that of the
 * image in bytes, 0 when only the image itself knows (the driver's calls take no size). `cc` is the
 * device's compute capability times ten: of a fatbin these are the cubins for the best architecture
 * it has (there may be variants of it, 9.0 and 9.0a), or else the best PTX. Returns false, with the
 * reason in `why`, where the image is in no form we know or is damaged, or we are out of memory. */
bool gp_image_parts(const void *image, size_t size, int cc, const struct gp_part_visitor *visitor,
                    void *data, const char **why);

/* True for PTX text that ends in a NUL. */
bool gp_image_is_ptx(const void *image);

/* How large an image is by its own account: a cubin or a bare fatbin; 0 for all others. */
size_t gp_image_size(const void *image);

/* True for nvcc's wrapper, which only points to fatbins, if the test holds for all of these. */
bool gp_image_wraps(const void *image, bool (*test)(const void *part, const void *data),
                    const void *data);

#endif
