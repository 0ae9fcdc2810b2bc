/* Shared by several forms of a context call. */
#ifndef GPUSIM_CONTEXT_H
#define GPUSIM_CONTEXT_H

#include "driver/driver.h"

CUresult gpusim_context_destroy(CUcontext context);
CUresult gpusim_primary_release(CUdevice device);
CUresult gpusim_primary_reset(CUdevice device);

#endif
