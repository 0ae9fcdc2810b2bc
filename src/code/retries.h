/* Branches that run as often as time has it: a kernel asks a barrier in shared memory, or the pool
 * of registers, again and again until the answer is yes. Pure. */
#ifndef GPUPROF_CODE_RETRIES_H
#define GPUPROF_CODE_RETRIES_H

#include <stdbool.h>
#include <stddef.h>

/* True for a branch, `at` bytes from the start of a function of `size` bytes, that belongs to such
 * a question: in a loop that does nothing but ask, behind the first question, or on the way back
 * from such a loop where it stands apart. `cc` is the compute capability times ten; before 9.0
 * there are none. */
bool gp_code_retries(const void *code, size_t size, size_t at, int cc);

#endif
