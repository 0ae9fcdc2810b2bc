/* Launches of a graph, counted as launches of its kernels. */
#ifndef GPUPROF_GRAPH_COUNT_H
#define GPUPROF_GRAPH_COUNT_H

#include "graph/clone.h"
#include "launch/launch.h"

/* The kernels of a graph of the program's that has no clone, those of child graphs among them; to
 * be freed. Those in the bodies of conditional nodes are left out: how often they run only the
 * device knows. NULL where there are none, when out of memory, and where they are too many. */
struct gp_graph_node *graph_kernels(CUgraph graph, unsigned *count);
/* The kernels of a clone that is about to go; the list is to be freed. NULL where there are none.
 */
struct gp_graph_node *graph_kernels_of_clone(const struct gp_graph_clone *clone, unsigned *count);

/* Counts the launches that are about to be made of the kernels among these nodes, and takes down
 * which of them are to be measured: none where the graph is launched as a whole, and nodes stay as
 * they are. True where some are. *selected: the user has selected some. *unending becomes true
 * where a kernel is known not to end by itself. */
bool graph_count(struct gp_graph_node *nodes, unsigned count, bool as_a_whole, bool *selected,
                 bool *unending);

/* Counts the launches as well, of a graph that is launched as it is and timed as a whole; lists
 * those that are to be recorded where that is wanted, and else passes them over. */
struct gp_graph_listing;
void graph_count_whole(const struct gp_graph_node *nodes, unsigned count, bool list,
                       struct gp_graph_listing *listing);
/* Counts the launches of a clone as graph_count_whole does; a clone of one kernel is always
 * listed. */
void graph_count_clone(const struct gp_graph_clone *clone, bool list,
                       struct gp_graph_listing *listing);

/* True where some kernel of it may launch graphs, as far as is known. */
bool graph_clone_launches_graphs(const struct gp_graph_clone *clone);
/* True where some node of it does not run. */
bool graph_clone_has_disabled(const struct gp_graph_clone *clone);

/* A node that was to be measured is not. */
void graph_node_passed_over(struct gp_graph_node *node, enum gp_passed_over why);

#endif
