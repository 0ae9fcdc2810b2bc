/* Device memory of our own, apart from the program's. To be freed by cuMemFree. Used with the
 * context current. */
#ifndef GPUPROF_MEMORY_OWN_MEMORY_H
#define GPUPROF_MEMORY_OWN_MEMORY_H

#include "cuda/driver.h"

#include <stdbool.h>
#include <stdint.h>

/* At least so many bytes; 0 in *address where that fails, or the program wants the memory. */
CUresult gp_own_memory(CUdeviceptr *address, uint64_t bytes);

/* The program has run out of memory and tries again, or has done so. From any thread. */
void gp_own_memory_is_wanted(bool wanted);

#endif
