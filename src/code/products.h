/* Products of matrices, found in machine code: multiply-adds in a loop that sum, in the same
 * registers from round to round, products of two loaded numbers, one of which belongs to a row of
 * the result and one to a column. The address of each follows from the thread's or the block's
 * number, or parts of them, and neither from those of the other; or each number is used in several
 * sums, as it is where a thread computes a tile of the result.
 *
 * So these are none: polynomials, orbits and forces compute their factors; filters and
 * matrix-vector products share one factor among all threads, or among those of a row; element-wise
 * and dot products take both from the same address; of sparse ones one address leads to the other;
 * stencils have no sum that is carried from round to round. */
#ifndef GPUPROF_CODE_PRODUCTS_H
#define GPUPROF_CODE_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

enum gp_product {
    GP_NO_PRODUCT,
    GP_PRODUCT,       /* of a product of matrices */
    GP_PLAIN_PRODUCT, /* the same, of numbers that come from global memory for this product alone */
};

/* The products in the code of a function. Owns its list. */
struct gp_products {
    const void *code;  /* of the caller; not read any more */
    size_t count;      /* instructions */
    unsigned char *of; /* enum gp_product of each */
};

/* True where the instruction at `at` multiplies and adds in FP32 or FP16. */
bool gp_is_multiply_add(const void *code, size_t at, int cc);

/* Finds the products in a function of `size` bytes, for compute capability cc / 10, 7.0 or later.
 * NULL when out of memory, or where how numbers go through the code is not known. */
struct gp_products *gp_products_find(const void *code, size_t size, int cc);
void gp_products_free(struct gp_products *p);

/* The kind of the instruction at that offset. */
enum gp_product gp_products_at(const struct gp_products *p, size_t at);

#endif
