/* Put before srad_v2's source: its kernels read a row before the picture and one behind it, and
 * do not use it. Where nothing is mapped there each launch fails, and the program does not check
 * that. With a margin on both sides of each buffer they read the margin. */
#ifndef GPUPROF_RODINIA_MARGIN_H
#define GPUPROF_RODINIA_MARGIN_H

#ifdef __CUDACC__
#include <cuda_runtime.h>

enum { RODINIA_MARGIN = 64 * 1024 };

static cudaError_t cudaMallocWithMargin(void **pointer, size_t size)
{
    cudaError_t error = cudaMalloc(pointer, size + 2 * RODINIA_MARGIN);
    if (error == cudaSuccess)
        *pointer = (char *)*pointer + RODINIA_MARGIN;
    return error;
}

static cudaError_t cudaFreeWithMargin(void *pointer)
{
    return cudaFree(pointer ? (char *)pointer - RODINIA_MARGIN : pointer);
}
#define cudaMalloc cudaMallocWithMargin
#define cudaFree cudaFreeWithMargin
#endif

#endif
