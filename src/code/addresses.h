/* Whether a function reads addresses from memory. One that does not reaches only the memory to
 * which its parameters and the variables of its module lead: numbers that it finds there may be
 * equal to addresses, and are none. Pure. */
#ifndef GPUPROF_CODE_ADDRESSES_H
#define GPUPROF_CODE_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

/* `size` bytes of machine code of one function, for compute capability cc / 10, 7.0 or later. True
 * also where it calls another function or goes to an address that it computes: the code there is
 * not read. */
bool gp_code_may_load_addresses(const void *code, size_t size, int cc);

/* The things on which the addresses depend that a function writes to. */
enum gp_write_addresses {
    GP_WRITES_BY_PARAMETERS, /* on its parameters and the positions of its threads */
    GP_WRITES_SOME_BY_ORDER, /* the same, and the order of its threads says which of them write */
    GP_WRITES_BY_INPUT,      /* on numbers in memory, too */
    GP_WRITES_BY_ORDER,      /* on the order of its threads as well, by the answers of atomics, by
                              * numbers that may be those of other threads, or by where they run */
    GP_WRITES_ANYWHERE       /* that is not known */
};
enum gp_write_addresses gp_code_write_addresses(const void *code, size_t size, int cc);

#endif
