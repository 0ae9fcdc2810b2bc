#include "graph/parts.h"

/* The last node of a graph that is being made. */
struct end {
    CUgraph graph;
    CUgraphNode node; /* NULL: there is none yet */
};

static CUresult add_copy(struct end *e, CUgraphNode from, CUcontext context, CUgraphNode *node)
{
    CUDA_MEMCPY3D_v2 copy = {0};
    CUresult result = gp_cuda.cuGraphMemcpyNodeGetParams(from, &copy);
    return result == CUDA_SUCCESS
               ? gp_cuda.cuGraphAddMemcpyNode(node, e->graph, e->node ? &e->node : NULL,
                                              e->node != NULL, &copy, context)
               : result;
}

static CUresult add_fill(struct end *e, CUgraphNode from, CUcontext context, CUgraphNode *node)
{
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {0};
    CUresult result = gp_cuda.cuGraphMemsetNodeGetParams(from, &fill);
    return result == CUDA_SUCCESS
               ? gp_cuda.cuGraphAddMemsetNode(node, e->graph, e->node ? &e->node : NULL,
                                              e->node != NULL, &fill, context)
               : result;
}

static CUresult add_kernel(struct end *e, CUgraphNode from, CUgraphNode *node)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = {0};
    if (!gp_cuda.cuGraphAddKernelNode_v2 || !gp_cuda.cuGraphKernelNodeCopyAttributes)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = gp_cuda.cuGraphKernelNodeGetParams_v2(from, &kernel);
    if (result == CUDA_SUCCESS)
        result = gp_cuda.cuGraphAddKernelNode_v2(node, e->graph, e->node ? &e->node : NULL,
                                                 e->node != NULL, &kernel);
    return result == CUDA_SUCCESS ? gp_cuda.cuGraphKernelNodeCopyAttributes(*node, from) : result;
}

static bool add(struct end *e, const struct gp_graph_node *n, CUcontext context)
{
    CUgraphNode node = NULL;
    CUresult result = CUDA_SUCCESS;
    if (n->disabled)
        return true;
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY)
        result = add_copy(e, n->node, context, &node);
    else if (n->type == CU_GRAPH_NODE_TYPE_MEMSET)
        result = add_fill(e, n->node, context, &node);
    else if (n->type == CU_GRAPH_NODE_TYPE_KERNEL)
        result = add_kernel(e, n->node, &node);
    else
        return true;
    e->node = node;
    return result == CUDA_SUCCESS;
}

bool gp_graph_part_make(const struct gp_graph_node *nodes, const unsigned *which, size_t count,
                        CUcontext context, CUgraphExec *part)
{
    struct end end = {0};
    bool made = true;
    if (gp_cuda.cuGraphCreate(&end.graph, 0) != CUDA_SUCCESS)
        return false;
    for (size_t i = 0; i < count && made; i++)
        made = add(&end, &nodes[which[i]], context);
    made = made && gp_cuda.cuGraphInstantiateWithFlags(part, end.graph, 0) == CUDA_SUCCESS;
    if (!made)
        *part = NULL;
    return gp_cuda.cuGraphDestroy(end.graph) == CUDA_SUCCESS && made;
}
