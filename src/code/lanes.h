/* Whether the lanes with which each instruction of a function runs follow from those of its
 * branches and of its accesses to global and shared memory, which can be counted. Pure. */
#ifndef GPUPROF_CODE_LANES_H
#define GPUPROF_CODE_LANES_H

#include <stdbool.h>
#include <stddef.h>

/* False where another instruction runs under a predicate, a condition that became no branch; and
 * where a branch goes round instructions of which none is counted. `code` is that of a function, of
 * compute capability cc / 10, 7.0 or later. */
bool gp_code_tells_lanes(const void *code, size_t size, int cc);

#endif
