/* Device memory of our own, apart from the program's. To be freed by cuMemFree. Used with the
 * context current. */
#include "memory/inside.h"

/* The driver puts small allocations beside each other into blocks of this size. */
#define BLOCK_BYTES ((uint64_t)2 << 20)

uint64_t own_memory_takes(uint64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

/* Whole blocks. A kernel that writes past the end of a small buffer often does no harm by itself:
 * nobody uses the rest of the block. There it must not find our tables. */
CUresult own_memory(CUdeviceptr *address, uint64_t bytes)
{
    CUresult result = gp_cuda.cuMemAlloc_v2(address, own_memory_takes(bytes));
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        result = gp_cuda.cuMemAlloc_v2(address, bytes);
    if (result != CUDA_SUCCESS)
        *address = 0;
    return result;
}
