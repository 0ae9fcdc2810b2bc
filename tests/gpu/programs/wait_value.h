// A stream that waits for a value in memory: cuStreamWaitValue32.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include "check.h"

// The driver's, which the runtime has no name for; found as the runtime finds its own.
typedef CUresult (*WaitValue)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
static WaitValue findWaitValue()
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult how;
#if CUDART_VERSION >= 13000
    CHECK(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &found, 12000, cudaEnableDefault,
                                           &how));
#else
    CHECK(cudaGetDriverEntryPoint("cuStreamWaitValue32", &found, cudaEnableDefault, &how));
#endif
    return (WaitValue)found;
}
