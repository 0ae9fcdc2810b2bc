/* Memory that graphs allocate. Where each allocation of a graph is freed in the same graph, it is
 * there only while that runs, and no other work reaches it. */
#ifndef GPUPROF_GRAPH_ALLOCATIONS_H
#define GPUPROF_GRAPH_ALLOCATIONS_H

#include "cuda/driver.h"

#include <stdbool.h>
#include <stddef.h>

/* A graph of the program has got a node that allocates. */
void gp_graph_allocates(void);

/* Before the graph can be launched for the first time, or in another form. Nothing is replayed any
 * more in the process where it leaves memory behind, or where that is not known. The gate is
 * unlocked.
 */
void gp_graph_check_allocations(CUgraph graph);

#endif
