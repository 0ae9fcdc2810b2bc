/* The contexts whose memory the copies and fills of a graph write. Where another context launches
 * the graph it is at work in their memory (memory/sharing.h). */
#include "graph/inside.h"

#include "memory/buffers.h"
#include "memory/sharing.h"

#include <stdlib.h>

static bool make_room(struct gp_graph_owners *o)
{
    if (o->count < o->room)
        return true;
    unsigned room = 2 * o->room + 4;
    CUcontext *list = realloc(o->list, room * sizeof(CUcontext));
    if (!list)
        return false;
    o->list = list;
    o->room = room;
    return true;
}

void graph_owners_add(struct gp_graph_owners *o, CUmemorytype type, CUdeviceptr to)
{
    bool on_device = type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
    CUcontext owner = on_device && to ? gp_owner_of(to) : NULL;
    for (unsigned i = 0; i < o->count; i++)
        if (o->list[i] == owner)
            return;
    if (owner && make_room(o))
        o->list[o->count++] = owner;
    else if (owner)
        gp_memory_bar_replay(
            GP_REASON_TEXT(NO_MEMORY, "out of memory: not all memory that graphs write is known"));
}

static void read_graph(struct gp_graph_owners *o, CUgraph graph, unsigned depth);

static void read_node(struct gp_graph_owners *o, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    CUDA_MEMCPY3D_v2 copy;
    CUDA_MEMSET_NODE_PARAMS_v1 fill;
    CUgraph child;
    if (gp_cuda.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return;
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY &&
        gp_cuda.cuGraphMemcpyNodeGetParams(node, &copy) == CUDA_SUCCESS)
        graph_owners_add(o, copy.dstMemoryType, copy.dstDevice);
    if (type == CU_GRAPH_NODE_TYPE_MEMSET &&
        gp_cuda.cuGraphMemsetNodeGetParams(node, &fill) == CUDA_SUCCESS)
        graph_owners_add(o, CU_MEMORYTYPE_UNIFIED, fill.dst);
    if (type == CU_GRAPH_NODE_TYPE_GRAPH &&
        gp_cuda.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS)
        read_graph(o, child, depth + 1);
}

static void read_graph(struct gp_graph_owners *o, CUgraph graph, unsigned depth)
{
    size_t count;
    CUgraphNode *nodes = depth < GP_MOST_GRAPH_DEPTH ? graph_nodes(graph, &count) : NULL;
    for (size_t i = 0; nodes && i < count; i++)
        read_node(o, nodes[i], depth);
    free(nodes);
}

static bool driver_can_read(void)
{
    return gp_cuda.cuGraphGetNodes && gp_cuda.cuGraphNodeGetType &&
           gp_cuda.cuGraphMemcpyNodeGetParams && gp_cuda.cuGraphMemsetNodeGetParams &&
           gp_cuda.cuGraphChildGraphNodeGetGraph;
}

void graph_owners_read(struct gp_graph_owners *o, CUgraph graph)
{
    if (driver_can_read())
        read_graph(o, graph, 0);
}

void graph_owners_free(struct gp_graph_owners *o)
{
    free(o->list);
    *o = (struct gp_graph_owners){0};
}

void graph_owners_note(const struct gp_graph_owners *o, CUcontext by)
{
    gp_context_is_used(by);
    for (unsigned i = 0; by && i < o->count; i++)
        if (o->list[i] != by)
            gp_peer_copies(by, o->list[i]);
}
