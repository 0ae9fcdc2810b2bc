/* A driver with one GPU, of compute capability 9.0, for tests of the lists that ask it. */
#ifndef GPUPROF_TESTS_ONE_GPU_H
#define GPUPROF_TESTS_ONE_GPU_H

#include "cuda/driver.h"

#include <stdint.h>

#define CONTEXT(n) ((CUcontext)(uintptr_t)(n))

static CUcontext current = CONTEXT(1);

static inline CUresult one_gpu_current(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

static inline CUresult one_gpu_device(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

static inline CUresult one_gpu_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return CUDA_SUCCESS;
}

static inline void one_gpu(void)
{
    gp_cuda.cuCtxGetCurrent = one_gpu_current;
    gp_cuda.cuCtxGetDevice = one_gpu_device;
    gp_cuda.cuDeviceGetAttribute = one_gpu_attribute;
}

#endif
