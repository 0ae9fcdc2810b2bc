/* Multiply-adds of a product of matrices, found in machine code: sums of products of which both
 * factors were loaded. A chain of multiply-adds (a polynomial, a simulation of orbits) computes its
 * factors, or gives its result to the next one as a factor. */
#ifndef GPUPROF_CODE_PRODUCTS_H
#define GPUPROF_CODE_PRODUCTS_H

#include <stdbool.h>
#include <stddef.h>

/* True where the instruction at `at` multiplies and adds in FP32 or FP16. */
bool gp_is_multiply_add(const void *code, size_t at, int cc);

/* True where it adds a product of two registers that a load wrote last, in the order of the code,
 * to a register that was computed. `code` is that of a function, of compute capability 7.0 or later
 * (`cc` is ten times that), and `at` leaves room for one instruction. */
bool gp_is_product_of_loaded(const void *code, size_t at, int cc);

#endif
