/* Device memory of our own, apart from the program's. To be freed by cuMemFree. Used with the
 * context current. */
#ifndef GPUPROF_MEMORY_OWN_MEMORY_H
#define GPUPROF_MEMORY_OWN_MEMORY_H

#include "cuda/driver.h"

#include <stdint.h>

/* At least so many bytes; 0 in *address where that fails. */
CUresult own_memory(CUdeviceptr *address, uint64_t bytes);

#endif
