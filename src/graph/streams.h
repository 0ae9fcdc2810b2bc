/* Streams of our own, one set for each context, for work that may run side by side. Owns them. Used
 * with the gate locked. */
#ifndef GPUPROF_GRAPH_STREAMS_H
#define GPUPROF_GRAPH_STREAMS_H

#include "cuda/driver.h"
#include "graph/order.h"

struct gp_graph_streams {
    CUcontext context;
    CUstream streams[GP_MOST_BRANCHES]; /* they do not wait for the default stream */
    struct gp_graph_streams *next;
};

/* The streams of the context, which is current; made when first asked for, NULL where they cannot
 * be. */
const struct gp_graph_streams *graph_streams_enter(CUcontext context);

/* The context is about to be destroyed. */
void gp_graph_streams_leave(CUcontext context);

#endif
