/* The facts of a GPU that the driver knows, for records and metrics. */
#ifndef GPUPROF_LAUNCH_DEVICE_FACTS_H
#define GPUPROF_LAUNCH_DEVICE_FACTS_H

#include "cuda/driver.h"
#include "profile/record.h"

/* Fills it in. 0 and an empty name stand for facts that the driver does not tell. */
void device_describe(CUdevice device, struct gp_device *facts);

#endif
