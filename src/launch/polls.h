/* Kernels that wait for the host: nobody waits for these. */
#ifndef GPUPROF_LAUNCH_POLLS_H
#define GPUPROF_LAUNCH_POLLS_H

#include "launch/contexts.h"
#include "launch/kernels.h"
#include "launch/launch.h"

/* True where the launch is a single warp, one of its parameters is an address that the host can
 * write, and the kernel's code reads such memory in a loop, as one that waits for a flag does. The
 * gate is closed. */
bool gp_launch_polls(struct gp_kernel *kernel, const struct gp_launch *call,
                     const struct gp_context *context);

#endif
