/* Nodes of a graph as graphs of their own. */
#include "graph/inside.h"

#include <stdlib.h>

/* A graph that is being made, and the nodes of it that the next one is behind. */
struct making {
    CUgraph graph;
    CUcontext context;
    const struct gp_stand_ins *stand_ins;
    const CUgraphNode *behind; /* NULL where there are none */
    size_t count;
};

CUresult graph_read_copy(const struct gp_graph_node *n, const struct gp_stand_ins *stand_ins,
                         CUDA_MEMCPY3D_v2 *copy)
{
    CUresult result = CUDA_SUCCESS;
    if (n->work)
        *copy = n->work->copy;
    else
        result = gp_cuda.cuGraphMemcpyNodeGetParams(n->node, copy);
    copy->srcDevice = stand_in_for(stand_ins, copy->srcDevice);
    copy->dstDevice = stand_in_for(stand_ins, copy->dstDevice);
    if (n->source)
        *copy = copy_from_row(copy, n->source);
    return result;
}

static CUresult read_fill(const struct gp_graph_node *n, const struct gp_stand_ins *stand_ins,
                          CUDA_MEMSET_NODE_PARAMS_v1 *fill)
{
    CUresult result = CUDA_SUCCESS;
    if (n->work)
        *fill = n->work->fill;
    else
        result = gp_cuda.cuGraphMemsetNodeGetParams(n->node, fill);
    fill->dst = stand_in_for(stand_ins, fill->dst);
    return result;
}

bool graph_read_written(const struct gp_graph_node *n, const struct gp_stand_ins *stand_ins,
                        struct gp_graph_written *w)
{
    CUDA_MEMCPY3D_v2 copy = {0};
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {0};
    CUresult result = CUDA_SUCCESS;
    *w = (struct gp_graph_written){.side = GP_ON_DEVICE};
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        result = graph_read_copy(n, stand_ins, &copy);
        *w = (struct gp_graph_written){copy_end_of_target(&copy, stand_ins), copy.dstDevice,
                                       span_of_target(&copy)};
    } else if (n->type == CU_GRAPH_NODE_TYPE_MEMSET) {
        result = read_fill(n, stand_ins, &fill);
        *w = (struct gp_graph_written){copy_end_of_fill(&fill, stand_ins), fill.dst,
                                       span_of_fill(&fill)};
    }
    return result == CUDA_SUCCESS;
}

static CUresult add_copy(const struct making *m, const struct gp_graph_node *from,
                         CUgraphNode *node)
{
    CUDA_MEMCPY3D_v2 copy = {0};
    CUresult result = graph_read_copy(from, m->stand_ins, &copy);
    return result == CUDA_SUCCESS ? gp_cuda.cuGraphAddMemcpyNode(node, m->graph, m->behind,
                                                                 m->count, &copy, m->context)
                                  : result;
}

static CUresult add_fill(const struct making *m, const struct gp_graph_node *from,
                         CUgraphNode *node)
{
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {0};
    CUresult result = read_fill(from, m->stand_ins, &fill);
    return result == CUDA_SUCCESS ? gp_cuda.cuGraphAddMemsetNode(node, m->graph, m->behind,
                                                                 m->count, &fill, m->context)
                                  : result;
}

static CUresult add_host_function(const struct making *m, CUgraphNode from, CUgraphNode *node)
{
    CUDA_HOST_NODE_PARAMS_v1 function = {0};
    CUresult result = gp_cuda.cuGraphHostNodeGetParams(from, &function);
    return result == CUDA_SUCCESS
               ? gp_cuda.cuGraphAddHostNode(node, m->graph, m->behind, m->count, &function)
               : result;
}

static CUresult add_kernel_with(const struct making *m, CUDA_KERNEL_NODE_PARAMS_v2 *kernel,
                                CUgraphNode *node)
{
    struct gp_launch call = {
        .function = kernel->func ? kernel->func : (CUfunction)kernel->kern,
        .parameters = kernel->kernelParams,
        .extra = kernel->extra,
    };
    struct gp_replaced_parameters *replaced = stand_ins_replace(m->stand_ins, &call);
    if (!replaced)
        return CUDA_ERROR_NOT_SUPPORTED;
    kernel->kernelParams = call.parameters;
    kernel->extra = call.extra;
    CUresult result = gp_cuda.cuGraphAddKernelNode_v2(node, m->graph, m->behind, m->count, kernel);
    free(replaced);
    return result;
}

static CUresult add_kernel(const struct making *m, CUgraphNode from, CUgraphNode *node)
{
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = {0};
    if (!gp_cuda.cuGraphAddKernelNode_v2 || !gp_cuda.cuGraphKernelNodeCopyAttributes)
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = gp_cuda.cuGraphKernelNodeGetParams_v2(from, &kernel);
    if (result == CUDA_SUCCESS)
        result = m->stand_ins ? add_kernel_with(m, &kernel, node)
                              : gp_cuda.cuGraphAddKernelNode_v2(node, m->graph, m->behind, m->count,
                                                                &kernel);
    return result == CUDA_SUCCESS ? gp_cuda.cuGraphKernelNodeCopyAttributes(*node, from) : result;
}

/* A node that does nothing becomes an empty one. */
static bool add(const struct making *m, const struct gp_graph_node *n, CUgraphNode *node)
{
    CUgraphNodeType type = n->disabled || n->left_out ? CU_GRAPH_NODE_TYPE_EMPTY : n->type;
    CUresult result = type == CU_GRAPH_NODE_TYPE_MEMCPY   ? add_copy(m, n, node)
                      : type == CU_GRAPH_NODE_TYPE_MEMSET ? add_fill(m, n, node)
                      : type == CU_GRAPH_NODE_TYPE_HOST   ? add_host_function(m, n->node, node)
                      : type == CU_GRAPH_NODE_TYPE_KERNEL
                          ? add_kernel(m, n->node, node)
                          : gp_cuda.cuGraphAddEmptyNode(node, m->graph, m->behind, m->count);
    return result == CUDA_SUCCESS;
}

bool graph_kernel_copy(CUgraph graph, CUgraphNode kernel, CUcontext context, CUgraphNode *copy)
{
    const struct making m = {.graph = graph, .context = context};
    return add_kernel(&m, kernel, copy) == CUDA_SUCCESS;
}

static bool begin(struct making *m, const struct gp_graph_source *from)
{
    *m = (struct making){.context = from->context, .stand_ins = from->stand_ins};
    return gp_cuda.cuGraphCreate(&m->graph, 0) == CUDA_SUCCESS;
}

/* `made`: all nodes were added. */
static bool end(struct making *m, bool made, CUgraphExec *part)
{
    made = made && gp_cuda.cuGraphInstantiateWithFlags(part, m->graph, 0) == CUDA_SUCCESS;
    if (!made)
        *part = NULL;
    return gp_cuda.cuGraphDestroy(m->graph) == CUDA_SUCCESS && made;
}

bool graph_part_make(const struct gp_graph_source *from, const unsigned *which, size_t count,
                     CUgraphExec *part)
{
    struct making m;
    CUgraphNode last, node;
    bool made = true;
    if (!begin(&m, from))
        return false;
    for (size_t i = 0; i < count && made; i++) {
        made = add(&m, &from->nodes[which[i]], &node);
        last = node;
        m.behind = &last;
        m.count = 1;
    }
    return end(&m, made, part);
}

bool graph_rest_make(const struct gp_graph_source *source, const struct gp_graph_order *order,
                     unsigned from, CUgraphExec *rest)
{
    struct making m;
    CUgraphNode *all =
        calloc(order->count + 1, sizeof(*all)); /* by number; NULL: not of the rest */
    CUgraphNode *behind = calloc(order->count + 1, sizeof(*behind));
    bool begun = all && behind && begin(&m, source), made = begun;
    for (unsigned i = from; i < order->count && made; i++) {
        unsigned n = order->sequence[i];
        m.count = 0;
        for (unsigned d = order->first[n]; d < order->first[n + 1]; d++)
            if (all[order->dependencies[d]])
                behind[m.count++] = all[order->dependencies[d]];
        m.behind = m.count ? behind : NULL;
        made = add(&m, &source->nodes[n], &all[n]);
    }
    made = begun && end(&m, made, rest);
    free(all);
    free(behind);
    return made;
}
