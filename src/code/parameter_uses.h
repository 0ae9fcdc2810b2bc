/* The words of its parameters through which a kernel reads and writes global memory: those on which
 * the addresses of its loads and stores depend. Pure. */
#ifndef GPUPROF_CODE_PARAMETER_USES_H
#define GPUPROF_CODE_PARAMETER_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of four bytes with a bit each, GP_DATA_WORDS of them from the first one on. Indices are
 * among them beside addresses. */
struct gp_parameter_uses {
    bool known;
    uint64_t reads, writes;
};

/* `size` bytes of machine code of one function, for compute capability cc / 10, 7.0 or later. Not
 * known where the function calls another one, reads memory by generic addresses or in blocks (the
 * TMA), or when out of memory. */
struct gp_parameter_uses gp_code_parameter_uses(const void *code, size_t size, int cc);

#endif
