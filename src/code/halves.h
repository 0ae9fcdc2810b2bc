/* Arithmetic in half precision, found in machine code. */
#ifndef GPUPROF_CODE_HALVES_H
#define GPUPROF_CODE_HALVES_H

#include <stdbool.h>
#include <stddef.h>

/* True where the instruction at `at` computes with numbers of 16 bits. Compilers also load
 * constants by a multiply-add of zero (HFMA2.MMA R, -RZ, RZ, constant), and widen numbers to 32
 * bits by an addition of zero (HADD2.F32 R, -RZ, R): these are none. `cc`: the compute capability
 * times ten. */
bool gp_is_half_arithmetic(const void *code, size_t at, int cc);

/* True where it computes with one half of its registers alone: a number of 16 bits at a time, where
 * the instruction could do two. */
bool gp_is_scalar_half_arithmetic(const void *code, size_t at, int cc);

/* `size` bytes of machine code of one function, for compute capability cc / 10. False where neither
 * it nor a function that it calls has such arithmetic; true also where that is not known: it goes
 * on at code that is not here, has an unknown instruction, or is for a GPU before 7.0. */
bool gp_code_may_compute_halves(const void *code, size_t size, int cc);

#endif
