/* Memory that graphs allocate. Where each allocation of a graph is freed in the same graph, it is
 * there only while that runs, and no other work reaches it. */
#ifndef GPUPROF_GRAPH_ALLOCATIONS_H
#define GPUPROF_GRAPH_ALLOCATIONS_H

#include "cuda/driver.h"

#include <stdbool.h>
#include <stddef.h>

/* Allocations of one graph: each is compared with each that is freed. */
#define GP_MOST_GRAPH_ALLOCATIONS 1024

struct gp_graph_allocations {
    unsigned made_count, freed_count;
    struct gp_graph_allocation {
        CUdeviceptr address;
        size_t bytes;
        bool here; /* on the current device */
    } made[GP_MOST_GRAPH_ALLOCATIONS];
    CUdeviceptr freed[GP_MOST_GRAPH_ALLOCATIONS];
};

/* The allocations of the graph and its child graphs; to be freed. NULL where not all are known. */
struct gp_graph_allocations *graph_allocations(CUgraph graph);
/* True where it frees all that it allocates, and nothing else, and all lies on the current device.
 */
bool graph_keeps_to_itself(const struct gp_graph_allocations *allocations);

/* A graph of the program has got a node that allocates. */
void gp_graph_allocates(void);

/* Before the graph can be launched for the first time, or in another form. Nothing is replayed any
 * more in the process where it leaves memory behind, or where that is not known. The gate is
 * unlocked.
 */
void gp_graph_check_allocations(CUgraph graph);

#endif
