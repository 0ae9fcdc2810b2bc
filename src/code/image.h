/* A module's image: the names of its variables, whether its kernels have effects that cannot be
 * undone, and the code in it; in each form in which a program can load it: cubin (ELF), fatbin
 * (compressed or not, bare or in nvcc's wrapper), PTX text.
 *
 * The driver is asked for each name later, so a name too many does no harm; a name too few would
 * let a kernel's state escape the snapshot. */
#ifndef GPUPROF_CODE_IMAGE_H
#define GPUPROF_CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct gp_cubin;

struct gp_image_visitor {
    /* a variable in device memory: static, constant or managed, of the file or of a function */
    void (*variable)(const char *name, size_t length, void *data);
    /* a function that may print (code/printing.h) */
    void (*printing)(const char *name, size_t length, void *data);
};

/* Calls the visitor. `size` is that of the image in bytes, 0 when only the image itself knows (the
 * driver's calls take no size). `cc` is the device's compute capability times ten: where a fatbin
 * holds code for several chips, that for this one is read. Returns false, with the reason in `why`,
 * where the image is in no form we know or we are out of memory: then nothing is known of the
 * module's variables. *runs_once becomes the reason why none of its kernels must run again, NULL
 * where there is none. */
bool gp_image_read(const void *image, size_t size, int cc, const struct gp_image_visitor *visitor,
                   void *data, const char **runs_once, const char **why);

/* Calls visit for each cubin of the image that the driver could load on this chip, decompressed;
 * they live as long as the call. Of a fatbin these are the ones for the best architecture it has
 * (there may be variants of it, 9.0 and 9.0a); of PTX there are none, the driver makes its own.
 * Returns false, with the reason in `why`, as gp_image_read. */
typedef void gp_cubin_visit(const struct gp_cubin *cubin, void *data);
bool gp_image_cubins(const void *image, size_t size, int cc, gp_cubin_visit *visit, void *data,
                     const char **why);

/* How large an image is by its own account: a cubin or a bare fatbin; 0 for all others. */
size_t gp_image_size(const void *image);

/* True for nvcc's wrapper, which only points to fatbins, if the test holds for all of these. */
bool gp_image_wraps(const void *image, bool (*test)(const void *part, const void *data),
                    const void *data);

#endif
