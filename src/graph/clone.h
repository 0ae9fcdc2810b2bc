/* A clone of a graph, read and ordered, so that its nodes can be launched one by one. Owns the
 * clone. */
#ifndef GPUPROF_GRAPH_CLONE_H
#define GPUPROF_GRAPH_CLONE_H

#include "base/configuration.h"
#include "cuda/driver.h"
#include "graph/order.h"
#include "graph/reasons.h"
#include "launch/verify_schedule.h"

/* The most nodes there may be. */
#define GP_MOST_GRAPH_NODES (1u << 19)
/* Child graphs in child graphs. */
#define GP_MOST_GRAPH_DEPTH 16

union gp_graph_work {
    CUDA_MEMCPY3D_v2 copy;
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
};

struct gp_graph_node {
    CUgraphNode node;     /* of the clone; NULL for the end of a child graph; not used in lists */
    CUgraphNodeType type; /* CU_GRAPH_NODE_TYPE_EMPTY for a node that only orders others */
    /* The parameters of a copy or a fill that is not in the clone: the driver takes addresses of
     * memory that a graph allocates in that graph only. */
    union gp_graph_work *work;
    bool disabled;
    bool left_out;      /* where the nodes run again: it writes memory of the host */
    CUdeviceptr source; /* the same: the bytes that it copies from the host; 0: it does not */
    /* Kernel nodes alone have the members below. */
    CUfunction function; /* may be a CUkernel in disguise, as cuLaunchKernel allows */
    GP_CONFIGURATION;
    bool taken;    /* the launch that is being made of it is to be measured */
    uint64_t turn; /* which one of those of its kernel it is then */
};

struct gp_graph_clone {
    CUgraph graph;
    struct gp_graph_node
        *nodes; /* as many as there are in the order; child graphs are part of it */
    struct gp_graph_order order;
    bool spread;  /* its nodes have branches; else it is too wide as far as is known */
    bool by_code; /* these rest on the machine code of its kernels */
    struct gp_graph_original {
        CUgraphNode node;
        unsigned index;
    } * originals; /* the program's node, and which of ours stands for it; sorted */
    size_t original_count;
    CUcontext context; /* of its kernels; NULL where the driver does not tell */
    /* Why the program's run is one of the whole; GP_GRAPH_SPLITS where it need not be. */
    enum gp_graph_reason whole;
    bool calls_host;
    bool waits;                     /* for events or semaphores */
    union gp_graph_work *works;     /* of its nodes, where there are stand-ins */
    struct gp_stand_ins *stand_ins; /* for memory that it allocates; NULL where it does not */
    CUdeviceptr brought;            /* bytes from the host, while the nodes run again; 0: none */
    /* The runs of the graph as a whole with its kernels once more behind it. Where the graph is
     * updated only the schedule begins anew. */
    struct gp_graph_runs {
        struct gp_verify_schedule schedule;
        unsigned in_vain; /* in a row, where the kernels could not run again */
    } runs;
};

/* Clones the graph if it is one that can be taken to pieces; else there is nothing to be freed. */
enum gp_graph_reason graph_clone_make(struct gp_graph_clone *clone, CUgraph graph);
void graph_clone_free(struct gp_graph_clone *clone);

/* Our node for one of the program's, NULL where none is known: nodes in child graphs are not. */
struct gp_graph_node *graph_clone_node(const struct gp_graph_clone *clone, CUgraphNode original);

/* The nodes of a graph of the program's, to be freed. NULL when out of memory, for a graph that the
 * driver does not know, and for one with too many. */
CUgraphNode *graph_nodes(CUgraph graph, size_t *count);

/* True when all kernels of the graph run in that context, as far as is known. */
bool graph_is_in_context(const struct gp_graph_clone *graph, CUcontext context);

/* Reads a kernel's function and configuration, and the context it runs in, NULL where the driver
 * does not tell; false where that cannot be read. */
bool graph_node_read(struct gp_graph_node *kernel, CUcontext *context);

#endif
