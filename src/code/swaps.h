/* Loops that run as often as time has it: a kernel swaps a value of shared memory for another one
 * until no other thread has come between. Pure. */
#ifndef GPUPROF_CODE_SWAPS_H
#define GPUPROF_CODE_SWAPS_H

#include <stdbool.h>
#include <stddef.h>

/* True for an instruction of any kind in the innermost loop around a swap: one that changes the
 * same shared memory in each round, and ends when it did. An addition to a float is such a loop. Of
 * global memory each round moves sectors, too, of which equal launches have as many. */
bool gp_code_retries_swap(const void *code, size_t size, size_t at, int cc);

#endif
