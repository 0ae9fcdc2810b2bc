/* In which order the nodes of a graph can be launched one by one, and which of them need a stream
 * of their own.
 *
 * A kernel or a host function may wait for another node that no path of the graph puts before or
 * after it: with that behind it in the same stream, it would never end. So nodes are spread over
 * branches, each a stream, in such a way that being behind the others of its branch makes a node
 * wait only for those of the nodes that may wait on which it depends anyway. Copies, fills, and
 * kernels that by their code cannot wait may have anything behind them.
 */
#ifndef GPUPROF_GRAPH_ORDER_H
#define GPUPROF_GRAPH_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Streams that run at the same time for certain: the driver maps streams to a few queues of the GPU
 * (8 where nobody says otherwise), and some of those belong to the program. */
#define GP_MOST_BRANCHES 4

/* A node, by its number, that must end before another begins. */
struct gp_graph_edge {
    unsigned from, to;
};

struct gp_graph_order {
    unsigned count;         /* nodes */
    unsigned branches;      /* streams they need; 1 where no two can wait for each other */
    unsigned *sequence;     /* the nodes, each behind those it depends on */
    unsigned *first;        /* of a node's dependencies, in the next list; one more at the end */
    unsigned *dependencies; /* nodes */
    unsigned char *branch;  /* of a node */
    bool *awaited;          /* a node of another branch depends on it */
};

/* Finds a sequence for nodes 0 to count - 1, which have no branches yet. False when out of memory,
 * or for input that is no graph: then there is nothing to free. */
bool graph_order_find(unsigned count, const struct gp_graph_edge *edges, size_t edge_count,
                      struct gp_graph_order *order);
/* Gives each node a branch; may_wait has one entry for each. False where more branches are needed
 * than there may be, or when out of memory: then they have none. */
bool graph_order_spread(struct gp_graph_order *order, const bool *may_wait);
void graph_order_free(struct gp_graph_order *order);

#endif
