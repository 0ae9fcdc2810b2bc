/* Kernels that wait for the host: nobody waits for these. */
#ifndef GPUPROF_LAUNCH_POLLS_H
#define GPUPROF_LAUNCH_POLLS_H

#include "launch/contexts.h"
#include "launch/kernels.h"
#include "launch/launch.h"

/* Blocks that wait for each other read their flags in the same way: cuDNN's do, in kernels that get
 * memory of the host besides. For the host a single warp waits. */
static inline bool is_one_warp(const struct gp_configuration *c)
{
    const unsigned *g = c->grid, *b = c->block;
    return (uint64_t)g[0] * g[1] * g[2] == 1 && (uint64_t)b[0] * b[1] * b[2] <= 32;
}

/* True where the launch is a single warp, one of its parameters is an address that the host can
 * write, and the kernel's code reads such memory in a loop, as one that waits for a flag does. The
 * gate is locked. */
bool launch_polls(struct gp_kernel *kernel, const struct gp_launch *call,
                  const struct gp_context *context);

#endif
