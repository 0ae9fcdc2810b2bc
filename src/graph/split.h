/* The nodes of a graph, launched one by one. */
#ifndef GPUPROF_GRAPH_SPLIT_H
#define GPUPROF_GRAPH_SPLIT_H

#include "cuda/driver.h"

#include <stdbool.h>

/* A stream and which default stream 0 means there. */
struct gp_graph_target {
    CUstream stream;
    bool per_thread;
};

static inline CUresult graph_wait_at(const struct gp_graph_target *p, CUevent event)
{
    return p->per_thread ? gp_cuda.cuStreamWaitEvent_ptsz(p->stream, event, 0)
                         : gp_cuda.cuStreamWaitEvent(p->stream, event, 0);
}

/* Launches the nodes, with the gate locked and nothing running. False where nothing was launched,
 * and the graph is to be launched as it is. */
bool graph_launch_split(CUgraphExec exec, const struct gp_graph_target *target, CUresult *result);

#endif
