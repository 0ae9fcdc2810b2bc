/* Nodes of a graph as graphs of their own. */
#ifndef GPUPROF_GRAPH_PARTS_H
#define GPUPROF_GRAPH_PARTS_H

#include "graph/clone.h"
#include "graph/ends.h"
#include "graph/stand_ins.h"

/* Adds a copy of a kernel's node to a graph, behind no other. */
bool graph_kernel_copy(CUgraph graph, CUgraphNode kernel, CUcontext context, CUgraphNode *copy);

/* The parameters of a copy, with stand-ins for memory of the graph's own; NULL: as they are. */
CUresult graph_read_copy(const struct gp_graph_node *node, const struct gp_stand_ins *stand_ins,
                         CUDA_MEMCPY3D_v2 *copy);

/* The memory that a copy or a fill writes, from its base on; not the bytes of an array. */
struct gp_graph_written {
    enum gp_copy_end side;
    CUdeviceptr base;
    struct gp_address_span bytes;
};
/* False where it cannot be read. A node of another kind writes nothing: its bytes are none. */
bool graph_read_written(const struct gp_graph_node *node, const struct gp_stand_ins *stand_ins,
                        struct gp_graph_written *written);

/* Nodes, and the memory that stands in for that of their graph. */
struct gp_graph_source {
    const struct gp_graph_node *nodes;
    const struct gp_stand_ins *stand_ins; /* NULL: it is not replaced */
    CUcontext context;
};

/* An executable graph of these of the nodes, one behind the other; to be destroyed. Nodes are
 * kernels, copies and fills, and those that only order others. */
bool graph_part_make(const struct gp_graph_source *from, const unsigned *which, size_t count,
                     CUgraphExec *part);

/* An executable graph of all nodes from the one at `from` in the order's sequence on, each behind
 * the ones among them that it depends on; to be destroyed. */
bool graph_rest_make(const struct gp_graph_source *source, const struct gp_graph_order *order,
                     unsigned from, CUgraphExec *rest);

#endif
