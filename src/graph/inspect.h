/* Whether a graph of the program's can be taken to pieces: the kinds of its nodes and edges. */
#ifndef GPUPROF_GRAPH_INSPECT_H
#define GPUPROF_GRAPH_INSPECT_H

#include "graph/clone.h"

struct gp_graph_kinds {
    /* Why the program needs the graph as a whole, though its kernels may be launched by themselves
     * behind it; GP_GRAPH_SPLITS where it does not. */
    enum gp_graph_reason whole;
    bool calls_host, allocates;
    bool waits; /* for events or semaphores */
};

/* GP_GRAPH_SPLITS where its kernels can be launched one by one: some kinds of nodes forbid to try.
 */
enum gp_graph_reason graph_inspect(CUgraph graph, struct gp_graph_kinds *kinds);

struct gp_graph_edges {
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t count;
};

/* False when out of memory. To be freed in any case. */
bool graph_edges_of(CUgraph graph, struct gp_graph_edges *edges);
void graph_edges_free(struct gp_graph_edges *edges);

#endif
