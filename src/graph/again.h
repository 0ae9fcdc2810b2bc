/* A graph runs as a graph, for the program, and its nodes are launched one by one behind it, on the
 * memory that it found, to be measured. Afterwards memory is as the graph left it. */
#ifndef GPUPROF_GRAPH_AGAIN_H
#define GPUPROF_GRAPH_AGAIN_H

#include "graph/clone.h"
#include "launch/again.h"

/* Saves the memory that a launch of the graph into that stream will reach, nothing else running.
 * False, with the reason in *why, where its nodes cannot run again. To be ended by
 * graph_again_ends in any case. With the gate locked. */
bool graph_save(struct gp_graph_clone *graph, CUstream stream, struct gp_again *again,
                struct gp_reason *why);
void graph_again_ends(struct gp_graph_clone *graph, struct gp_again *again);

/* Where that has often been in vain it is not tried any more. */
bool graph_may_run_again(const struct gp_graph_clone *graph);

#endif
