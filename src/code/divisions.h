/* Divisions of integers, found in machine code: the GPU has no instruction for them. Compilers
 * write the reciprocal by the pipe of special functions, a product, and up to two corrections; for
 * 64 bits a subroutine. Pure. */
#ifndef GPUPROF_CODE_DIVISIONS_H
#define GPUPROF_CODE_DIVISIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Marks the instructions of divisions and remainders, by a number that is known at run time alone,
 * in `size` bytes of code for compute capability cc / 10, 7.0 or later: `marks` has an entry for
 * each instruction, false before. */
void gp_divisions_mark(const void *code, size_t size, int cc, bool *marks);

/* True for the name of a subroutine of the compiler's that divides integers. */
bool gp_is_division(const char *function);

#endif
