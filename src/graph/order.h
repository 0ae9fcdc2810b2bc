/* In which order the nodes of a graph can be launched one by one, and which of them need a stream
 * of their own.
 *
 * A kernel may wait for another one that no path of the graph puts before or after it: launched
 * behind it in the same stream, it would never end. So nodes are spread over branches, each a
 * stream, in such a way that being behind the others of its branch makes a node wait only for
 * kernels that it depends on anyway. Copies and fills wait for nobody, and may be behind anything.
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
    unsigned branches;      /* streams they need; 1 where no two kernels can run side by side */
    unsigned *sequence;     /* the nodes, each behind those it depends on */
    unsigned *first;        /* of a node's dependencies, in the next list; one more at the end */
    unsigned *dependencies; /* nodes */
    unsigned char *branch;  /* of a node */
    bool *awaited;          /* a node of another branch depends on it */
};

enum gp_graph_order_result { GP_ORDER_FOUND, GP_ORDER_TOO_WIDE, GP_ORDER_FAILED };

/* Orders nodes 0 to count - 1; is_kernel has one entry for each. GP_ORDER_TOO_WIDE where more
 * branches are needed than there may be; GP_ORDER_FAILED when out of memory, or for input that is
 * no graph. After both there is nothing to free. */
enum gp_graph_order_result gp_graph_order_find(unsigned count, const bool *is_kernel,
                                               const struct gp_graph_edge *edges, size_t edge_count,
                                               struct gp_graph_order *order);
void gp_graph_order_free(struct gp_graph_order *order);

#endif
