/* One measurement: the program's own run of a kernel, then a run for each pass, each from the same
 * memory. The gate is locked, the context current and idle. */
#ifndef GPUPROF_LAUNCH_MEASURE_H
#define GPUPROF_LAUNCH_MEASURE_H

#include "launch/contexts.h"
#include "launch/kernels.h"
#include "launch/launch.h"

/* Makes the launch, the index-th of the process, and measures it; the result is that of the
 * program's own run. turn: how many launches of this kernel and configuration were measured before.
 */
CUresult measure_launch(const struct gp_launch *call, struct gp_kernel *kernel,
                        struct gp_context *context, uint64_t index, uint64_t turn);

#endif
