/* Nodes of a graph as graphs of their own. */
#ifndef GPUPROF_GRAPH_PARTS_H
#define GPUPROF_GRAPH_PARTS_H

#include "graph/clone.h"

/* An executable graph of these of the nodes, one behind the other; to be destroyed. Nodes are
 * kernels, copies and fills, and those that only order others. */
bool gp_graph_part_make(const struct gp_graph_node *nodes, const unsigned *which, size_t count,
                        CUcontext context, CUgraphExec *part);

/* The same of all nodes from the one at `from` in the order's sequence on, each behind those of
 * them that it depends on. */
bool gp_graph_rest_make(const struct gp_graph_node *nodes, const struct gp_graph_order *order,
                        unsigned from, CUcontext context, CUgraphExec *rest);

#endif
