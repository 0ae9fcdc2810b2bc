/* Calls of the driver's own functions, which print, allocate, or end the kernel after a failed
 * assertion: the host writes their addresses into bank 4 of the constants. Pure. */
#ifndef GPUPROF_CODE_DRIVER_CALLS_H
#define GPUPROF_CODE_DRIVER_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* True where the instruction at this offset of the code is a call to an address in registers that
 * were loaded from there shortly before. */
bool gp_code_calls_driver(const void *code, size_t at);

#endif
