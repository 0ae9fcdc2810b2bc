/* Launching a graph: as it is, or, where its kernels are to be measured, node by node. Owns the
 * streams that the branches of a graph are launched into.
 *
 * Launched node by node a graph keeps its meaning: every node runs behind those it depends on, and
 * waits for no other kernel; earlier work of the stream is done before, later work waits for all of
 * it. Kernels go through gp_launch, one after the other; one that does not end by itself is
 * abandoned, and the others follow beside it. */
#ifndef GPUPROF_GRAPH_LAUNCH_H
#define GPUPROF_GRAPH_LAUNCH_H

#include "cuda/driver.h"

#include <stdbool.h>

/* Launches the graph into the stream; the result is the answer that the driver's own function,
 * `real`, would have given. */
CUresult gp_graph_launch(CUgraphExec exec, CUstream stream, bool per_thread_stream,
                         PFN_cuGraphLaunch_v10000 real);

#endif
