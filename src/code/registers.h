/* The registers that a machine instruction reads and writes, as far as chains of results are
 * followed. For compute capability 7.0 and later. Pure. */
#ifndef GPUPROF_CODE_REGISTERS_H
#define GPUPROF_CODE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* Registers in a row. */
struct gp_register_range {
    unsigned first, count;
};

/* The registers of its result; none: count 0. `cc` is the compute capability times ten. */
struct gp_register_range gp_registers_written(const uint64_t word[2], int cc);

/* Its operands in registers; of an access to memory the address alone. Returns how many there
 * are. */
#define GP_MOST_OPERANDS 3
unsigned gp_registers_read(const uint64_t word[2], int cc,
                           struct gp_register_range operands[GP_MOST_OPERANDS]);

/* True where it leaves the registers as they were in threads whose predicate is off. */
bool gp_is_predicated(const uint64_t word[2]);

#endif
