/* Launches of a graph, counted as launches of its kernels. */
#ifndef GPUPROF_GRAPH_COUNT_H
#define GPUPROF_GRAPH_COUNT_H

#include "graph/clone.h"
#include "launch/launch.h"

/* The kernels of a graph of the program's that has no clone, those of child graphs among them; to
 * be freed. Those in the bodies of conditional nodes are left out: how often they run only the
 * device knows. NULL where there are none, when out of memory, and where they are too many. */
struct gp_graph_node *gp_graph_kernels(CUgraph graph, unsigned *count);
/* Those of a clone that is about to go. */
struct gp_graph_node *gp_graph_kernels_of_clone(const struct gp_graph_clone *clone,
                                                unsigned *count);

/* Counts the launches that are about to be made of the kernels among these nodes, and takes down
 * which of them are to be measured: none where the graph is launched as a whole, and nodes stay as
 * they are. True where some are. *selected: the user has selected some. *unending becomes true
 * where a kernel is known not to end by itself. */
bool gp_graph_count(struct gp_graph_node *nodes, unsigned count, bool as_a_whole, bool *selected,
                    bool *unending);

/* A node that was to be measured is not. */
void gp_graph_node_passed_over(struct gp_graph_node *node, enum gp_passed_over why);

#endif
