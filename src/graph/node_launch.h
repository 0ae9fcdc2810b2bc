/* A kernel of a graph as a launch of its own. */
#ifndef GPUPROF_GRAPH_NODE_LAUNCH_H
#define GPUPROF_GRAPH_NODE_LAUNCH_H

#include "graph/clone.h"
#include "launch/launch.h"

struct gp_node_launch {
    struct gp_launch call;
    PFN_cuLaunchKernelEx_v11060 real;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[8];
};

/* The parameters are the node's, and live as long as it is not changed. */
CUresult gp_node_launch_make(struct gp_node_launch *launch, const struct gp_graph_node *node,
                             CUstream stream, bool per_thread_stream);

#endif
