/* Streams of our own, one set for each context, for work that may run side by side. Owns them.
 * Calls cuda/. Used with the gate closed. */
#ifndef GPUPROF_LAUNCH_LANES_H
#define GPUPROF_LAUNCH_LANES_H

#include "cuda/driver.h"
#include "launch/graph_order.h"

struct gp_lanes {
    CUcontext context;
    CUstream streams[GP_MOST_BRANCHES]; /* they do not wait for the default stream */
    struct gp_lanes *next;
};

/* Those of the context, which is current; made when first asked for, NULL where they cannot be. */
const struct gp_lanes *gp_lanes_enter(CUcontext context);

/* The context is about to be destroyed. */
void gp_lanes_leave(CUcontext context);

#endif
