/* Shared by several forms of a context call. */
#ifndef GPUSIM_CONTEXT_H
#define GPUSIM_CONTEXT_H

#include "driver/driver.h"

CUresult gpusim_context_destroy(CUcontext context);
CUresult gpusim_primary_release(CUdevice device);
CUresult gpusim_primary_reset(CUdevice device);

/* For cuInit: loads the library that CUDA_INJECTION64_PATH names and calls its function. */
void gpusim_inject(void);

#endif
