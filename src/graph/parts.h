/* Nodes of a graph as graphs of their own. */
#ifndef GPUPROF_GRAPH_PARTS_H
#define GPUPROF_GRAPH_PARTS_H

#include "graph/clone.h"

/* An executable graph of these of the nodes, one behind the other; to be destroyed. Nodes are
 * kernels, copies and fills, and those that only order others, which are left out. */
bool gp_graph_part_make(const struct gp_graph_node *nodes, const unsigned *which, size_t count,
                        CUcontext context, CUgraphExec *part);

#endif
