#include "graph/allocations.h"

#include "gate/own_work.h"
#include "graph/clone.h"
#include "launch/launch.h"
#include "memory/buffers.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Allocations of one graph: each is compared with each that is freed. */
#define MOST_ALLOCATIONS 1024

static atomic_bool some_allocates;

struct allocations {
    unsigned made_count, freed_count;
    CUdeviceptr made[MOST_ALLOCATIONS], freed[MOST_ALLOCATIONS];
};

static bool list(struct allocations *a, CUgraph graph, unsigned depth);

static bool list_made(struct allocations *a, CUgraphNode node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 p = {0};
    if (a->made_count == MOST_ALLOCATIONS || !gp_cuda.cuGraphMemAllocNodeGetParams ||
        gp_cuda.cuGraphMemAllocNodeGetParams(node, &p) != CUDA_SUCCESS)
        return false;
    a->made[a->made_count++] = p.dptr;
    return true;
}

static bool list_freed(struct allocations *a, CUgraphNode node)
{
    CUdeviceptr address;
    if (a->freed_count == MOST_ALLOCATIONS || !gp_cuda.cuGraphMemFreeNodeGetParams ||
        gp_cuda.cuGraphMemFreeNodeGetParams(node, &address) != CUDA_SUCCESS)
        return false;
    a->freed[a->freed_count++] = address;
    return true;
}

static bool list_node(struct allocations *a, CUgraphNode node, unsigned depth)
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
static bool list(struct allocations *a, CUgraph graph, unsigned depth)
{
    size_t count;
    CUgraphNode *nodes = depth < GP_MOST_GRAPH_DEPTH ? gp_graph_nodes(graph, &count) : NULL;
    bool known = nodes != NULL;
    for (size_t i = 0; known && i < count; i++)
        known = list_node(a, nodes[i], depth);
    free(nodes);
    return known;
}

static bool is_freed(const struct allocations *a, CUdeviceptr made)
{
    for (unsigned i = 0; i < a->freed_count; i++)
        if (a->freed[i] == made)
            return true;
    return false;
}

static bool may_leave_memory(CUgraph graph)
{
    struct allocations *a = calloc(1, sizeof(*a));
    bool all_freed = a && gp_cuda.cuGraphGetNodes && gp_cuda.cuGraphNodeGetType &&
                     gp_cuda.cuGraphChildGraphNodeGetGraph && list(a, graph, 0);
    for (unsigned i = 0; all_freed && i < a->made_count; i++)
        all_freed = is_freed(a, a->made[i]);
    free(a);
    return !all_freed;
}

void gp_graph_allocates(void)
{
    atomic_store(&some_allocates, true);
}

void gp_graph_check_allocations(CUgraph graph)
{
    if (!atomic_load(&some_allocates) || gp_memory_replay_barred())
        return;
    gp_own_work_begins();
    bool leaves = may_leave_memory(graph);
    gp_own_work_ends();
    if (!leaves)
        return;
    gp_launch_before_change();
    gp_memory_bar_replay("the program allocates memory in a graph");
}
