/* Whether a graph of the program's can be taken to pieces: the kinds of its nodes and edges. */
#include "graph/inside.h"

#include <stdlib.h>
#include <string.h>

void graph_edges_free(struct gp_graph_edges *e)
{
    free(e->from);
    free(e->to);
    free(e->data);
}

static CUresult get_edges(CUgraph graph, struct gp_graph_edges *e)
{
    if (gp_cuda.cuGraphGetEdges_v2)
        return gp_cuda.cuGraphGetEdges_v2(graph, e->from, e->to, e->data, &e->count);
    return gp_cuda.cuGraphGetEdges(graph, e->from, e->to, &e->count);
}

bool graph_edges_of(CUgraph graph, struct gp_graph_edges *e)
{
    memset(e, 0, sizeof(*e));
    if (get_edges(graph, e) != CUDA_SUCCESS)
        return false;
    e->from = calloc(e->count + 1, sizeof(CUgraphNode));
    e->to = calloc(e->count + 1, sizeof(CUgraphNode));
    e->data = calloc(e->count + 1, sizeof(CUgraphEdgeData));
    if (!e->from || !e->to || !e->data)
        return false;
    return e->count == 0 || get_edges(graph, e) == CUDA_SUCCESS;
}

static enum gp_graph_reason inspect(CUgraph graph, struct gp_graph_kinds *kinds, unsigned depth);

static enum gp_graph_reason inspect_kernel(CUgraphNode node)
{
    /* Drivers that know no such kernels do not know the attribute. */
    CUkernelNodeAttrValue value = {0};
    if (gp_cuda.cuGraphKernelNodeGetAttribute(
            node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value) == CUDA_SUCCESS &&
        value.deviceUpdatableKernelNode.deviceUpdatable)
        return GP_GRAPH_FROM_DEVICE;
    return GP_GRAPH_SPLITS;
}

/* A node that the program's run needs. Where the kernels run again it has done its work. */
static enum gp_graph_reason needs_whole(struct gp_graph_kinds *kinds, enum gp_graph_reason why)
{
    if (kinds->whole == GP_GRAPH_SPLITS)
        kinds->whole = why;
    return GP_GRAPH_SPLITS;
}

static enum gp_graph_reason inspect_node(CUgraphNode node, struct gp_graph_kinds *kinds,
                                         unsigned depth)
{
    CUgraphNodeType type;
    CUgraph child;
    if (gp_cuda.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return GP_GRAPH_NOT_COPIED;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return inspect_kernel(node);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return GP_GRAPH_SPLITS;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        if (gp_cuda.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_SUCCESS)
            return GP_GRAPH_NOT_COPIED;
        return inspect(child, kinds, depth + 1);
    case CU_GRAPH_NODE_TYPE_HOST:
        kinds->calls_host = true;
        return gp_cuda.cuGraphHostNodeGetParams && gp_cuda.cuGraphAddHostNode ? GP_GRAPH_SPLITS
                                                                              : GP_GRAPH_HOST_NODE;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        kinds->waits = true;
        return needs_whole(kinds, GP_GRAPH_EVENT_NODE);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return needs_whole(kinds, GP_GRAPH_EVENT_NODE);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        kinds->waits = true;
        return needs_whole(kinds, GP_GRAPH_SEMAPHORE_NODE);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return needs_whole(kinds, GP_GRAPH_SEMAPHORE_NODE);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        kinds->allocates = true;
        return needs_whole(kinds, GP_GRAPH_MEMORY_NODE);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return GP_GRAPH_CONDITIONAL_NODE;
    default:
        return GP_GRAPH_OTHER_NODE;
    }
}

/* A programmatic edge lets the next kernel begin before the one before it has ended, and wait on
 * the device. One that begins afterwards finds all that it waits for. */
static enum gp_graph_reason inspect_edges(CUgraph graph)
{
    struct gp_graph_edges e;
    enum gp_graph_reason why = graph_edges_of(graph, &e) ? GP_GRAPH_SPLITS : GP_GRAPH_NOT_COPIED;
    for (size_t i = 0; i < e.count && why == GP_GRAPH_SPLITS; i++)
        if (e.data[i].type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
            why = GP_GRAPH_OTHER_EDGE;
    graph_edges_free(&e);
    return why;
}

static enum gp_graph_reason inspect(CUgraph graph, struct gp_graph_kinds *kinds, unsigned depth)
{
    size_t count;
    CUgraphNode *nodes = depth < GP_MOST_GRAPH_DEPTH ? graph_nodes(graph, &count) : NULL;
    if (!nodes)
        return GP_GRAPH_NOT_COPIED;
    enum gp_graph_reason why = GP_GRAPH_SPLITS;
    for (size_t i = 0; i < count && why == GP_GRAPH_SPLITS; i++)
        why = inspect_node(nodes[i], kinds, depth);
    free(nodes);
    return why == GP_GRAPH_SPLITS ? inspect_edges(graph) : why;
}

enum gp_graph_reason graph_inspect(CUgraph graph, struct gp_graph_kinds *kinds)
{
    *kinds = (struct gp_graph_kinds){.whole = GP_GRAPH_SPLITS};
    enum gp_graph_reason why = inspect(graph, kinds, 0);
    /* A host function is not called again. */
    return why == GP_GRAPH_SPLITS && kinds->calls_host ? kinds->whole : why;
}
