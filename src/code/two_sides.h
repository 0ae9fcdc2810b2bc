/* Predicated instructions, and short branches that became such. */
#ifndef GPUPROF_CODE_TWO_SIDES_H
#define GPUPROF_CODE_TWO_SIDES_H

#include <stdbool.h>
#include <stddef.h>

/* True where the instruction runs under a predicate, and is neither a jump nor an exit. */
bool gp_is_under_predicate(const void *word);

/* True where the instruction at `at` runs under a predicate, near one that runs under the opposite:
 * both sides of a branch, one behind the other. A jump or an exit is no side. `code` is that of a
 * function, of compute capability 7.0 or later, and `at` leaves room for one instruction. */
bool gp_is_of_two_sides(const void *code, size_t size, size_t at);

#endif
