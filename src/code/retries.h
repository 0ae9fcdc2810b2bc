/* Code that runs as often as time has it: a kernel asks a barrier in shared memory, or the pool of
 * registers, again and again until the answer is yes; or it swaps a value of shared memory for
 * another one until no other thread has come between. Pure. */
#ifndef GPUPROF_CODE_RETRIES_H
#define GPUPROF_CODE_RETRIES_H

#include <stdbool.h>
#include <stddef.h>

/* True for a branch, `at` bytes from the start of a function of `size` bytes, that belongs to such
 * a question: in a loop that does nothing but ask, behind the first question, or on the way back
 * from such a loop where it stands apart. `cc` is the compute capability times ten; before 9.0
 * there are none. */
bool gp_code_retries(const void *code, size_t size, size_t at, int cc);

/* True for an instruction of any kind in the innermost loop around a swap: one that changes the
 * same shared memory in each round, and ends when it did. An addition to a float is such a loop. Of
 * global memory each round moves sectors, too, of which equal launches have as many. */
bool gp_code_retries_swap(const void *code, size_t size, size_t at, int cc);

#endif
