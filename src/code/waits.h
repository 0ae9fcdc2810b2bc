/* Whether a function can wait for somebody outside of its grid: the host, a copy, another kernel.
 * It can only if it sees a change that others make while it runs. */
#ifndef GPUPROF_CODE_WAITS_H
#define GPUPROF_CODE_WAITS_H

#include <stdbool.h>
#include <stddef.h>

/* `size` bytes of machine code of one function, for compute capability cc / 10, 7.0 or later. True
 * also where it calls another function or goes to an address that it computes: the code there is
 * not read. False for a function that only takes long. */
bool gp_code_may_wait(const void *code, size_t size, int cc);

/* True where a loop of the function reads memory so that it sees the host's changes (volatile,
 * say): it waits for the host, if the memory is one that the host can write. */
bool gp_code_polls(const void *code, size_t size, int cc);

/* True where a loop of the function reads memory so that it sees changes that other blocks make:
 * its blocks wait for each other, if they wait. */
bool gp_code_spins(const void *code, size_t size, int cc);

#endif
