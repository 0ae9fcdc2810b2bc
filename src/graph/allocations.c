#include "graph/allocations.h"

#include "gate/internal_work.h"
#include "graph/inside.h"
#include "launch/launch.h"
#include "memory/buffers.h"

#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool some_allocates;

static bool list(struct gp_graph_allocations *a, CUgraph graph, unsigned depth);

static bool list_made(struct gp_graph_allocations *a, CUgraphNode node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 p = {0};
    CUdevice device;
    if (a->made_count == GP_MOST_GRAPH_ALLOCATIONS || !gp_cuda.cuGraphMemAllocNodeGetParams ||
        gp_cuda.cuGraphMemAllocNodeGetParams(node, &p) != CUDA_SUCCESS)
        return false;
    bool here = gp_cuda.cuCtxGetDevice(&device) == CUDA_SUCCESS &&
                p.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                p.poolProps.location.id == device;
    a->made[a->made_count++] = (struct gp_graph_allocation){p.dptr, p.bytesize, here};
    return true;
}

static bool list_freed(struct gp_graph_allocations *a, CUgraphNode node)
{
    CUdeviceptr address;
    if (a->freed_count == GP_MOST_GRAPH_ALLOCATIONS || !gp_cuda.cuGraphMemFreeNodeGetParams ||
        gp_cuda.cuGraphMemFreeNodeGetParams(node, &address) != CUDA_SUCCESS)
        return false;
    a->freed[a->freed_count++] = address;
    return true;
}

static bool list_node(struct gp_graph_allocations *a, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    CUgraph child;
    if (gp_cuda.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return false;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return list_made(a, node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return list_freed(a, node);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return gp_cuda.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS &&
               list(a, child, depth + 1);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: /* its bodies are not known */
        return false;
    default:
        return true;
    }
}

/* False where not all are known. */
static bool list(struct gp_graph_allocations *a, CUgraph graph, unsigned depth)
{
    size_t count;
    CUgraphNode *nodes = depth < GP_MOST_GRAPH_DEPTH ? graph_nodes(graph, &count) : NULL;
    bool known = nodes != NULL;
    for (size_t i = 0; known && i < count; i++)
        known = list_node(a, nodes[i], depth);
    free(nodes);
    return known;
}

struct gp_graph_allocations *graph_allocations(CUgraph graph)
{
    struct gp_graph_allocations *a = calloc(1, sizeof(*a));
    if (a && gp_cuda.cuGraphGetNodes && gp_cuda.cuGraphNodeGetType &&
        gp_cuda.cuGraphChildGraphNodeGetGraph && list(a, graph, 0))
        return a;
    free(a);
    return NULL;
}

static bool is_freed(const struct gp_graph_allocations *a, CUdeviceptr made)
{
    for (unsigned i = 0; i < a->freed_count; i++)
        if (a->freed[i] == made)
            return true;
    return false;
}

static bool is_made(const struct gp_graph_allocations *a, CUdeviceptr freed)
{
    for (unsigned i = 0; i < a->made_count; i++)
        if (a->made[i].address == freed)
            return true;
    return false;
}

static bool are_all_freed(const struct gp_graph_allocations *a)
{
    bool all = true;
    for (unsigned i = 0; all && i < a->made_count; i++)
        all = is_freed(a, a->made[i].address);
    return all;
}

bool graph_keeps_to_itself(const struct gp_graph_allocations *a)
{
    bool own = are_all_freed(a);
    for (unsigned i = 0; own && i < a->made_count; i++)
        own = a->made[i].here;
    for (unsigned i = 0; own && i < a->freed_count; i++)
        own = is_made(a, a->freed[i]);
    return own;
}

static bool may_leave_memory(CUgraph graph)
{
    struct gp_graph_allocations *a = graph_allocations(graph);
    bool all_freed = a && are_all_freed(a);
    free(a);
    return !all_freed;
}

void gp_graph_allocates(void)
{
    atomic_store(&some_allocates, true);
}

void gp_graph_check_allocations(CUgraph graph)
{
    if (!atomic_load(&some_allocates) || gp_memory_replay_barred().cause)
        return;
    gp_internal_work_begins();
    bool leaves = may_leave_memory(graph);
    gp_internal_work_ends();
    if (!leaves)
        return;
    gp_launch_before_change();
    gp_memory_bar_replay(GP_REASON_TEXT(REPLAY_BARRED, "the program allocates memory in a graph"));
}
