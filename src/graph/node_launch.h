/* A kernel of a graph as a launch of its own. */
#ifndef GPUPROF_GRAPH_NODE_LAUNCH_H
#define GPUPROF_GRAPH_NODE_LAUNCH_H

#include "graph/clone.h"
#include "graph/stand_ins.h"
#include "launch/launch.h"

struct gp_node_launch {
    struct gp_launch call;
    PFN_cuLaunchKernelEx_v11060 real;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[8];
    struct gp_replaced_parameters *replaced; /* NULL: the parameters are the node's */
};

/* The parameters are the node's, and live as long as it is not changed; or those with stand-ins for
 * memory of the graph's own (NULL: it has none). To be freed. */
CUresult node_launch_make(struct gp_node_launch *launch, const struct gp_graph_node *node,
                          const struct gp_stand_ins *stand_ins, CUstream stream,
                          bool per_thread_stream);
void node_launch_free(struct gp_node_launch *launch);

#endif
