/* How many nodes of a graph can wait for each other, by the machine code of its kernels. */
#ifndef GPUPROF_GRAPH_WIDTH_H
#define GPUPROF_GRAPH_WIDTH_H

#include "graph/clone.h"

/* Spreads the nodes of a graph over branches that was too wide where every kernel may wait. False
 * where it is too wide with those alone that may wait by their code. The gate is locked, and the
 * graph's context is current. */
bool graph_spread_by_code(struct gp_graph_clone *clone);

#endif
