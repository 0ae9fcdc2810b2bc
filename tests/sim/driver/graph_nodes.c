/* Graphs as programs make them by hand, ask about them and change them. */
#include <stdlib.h>
#include <string.h>

#include "driver/capture.h"
#include "driver/faults.h"
#include "driver/launch_call.h"
#include "driver/memory.h"

static bool is_graph(CUgraph graph)
{
    return graph && graph->kind == GPUSIM_GRAPH;
}

static bool is_node(CUgraphNode node)
{
    return node && node->kind == GPUSIM_GRAPH_NODE;
}

static bool is_of_type(CUgraphNode node, CUgraphNodeType type)
{
    return is_node(node) && node->type == type;
}

/* ---- graphs ---- */

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!phGraph || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = gpusim_graph_new();
    return *phGraph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphDestroy(CUgraph hGraph)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!is_graph(hGraph))
        return CUDA_ERROR_INVALID_VALUE;
    gpusim_graph_free(hGraph);
    return CUDA_SUCCESS;
}

/* Such a graph cannot be cloned, nor be part of a child graph that is. */
static bool allocates(CUgraph graph)
{
    for (CUgraphNode n = graph->first; n; n = n->next)
        if (n->memory || (n->child && allocates(n->child)))
            return true;
    return false;
}

CUresult cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!phGraphClone || !is_graph(originalGraph))
        return CUDA_ERROR_INVALID_VALUE;
    if (allocates(originalGraph))
        return CUDA_ERROR_NOT_SUPPORTED;
    *phGraphClone = gpusim_graph_clone(originalGraph);
    return *phGraphClone ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode,
                                CUgraph hClonedGraph)
{
    if (!phNode || !hOriginalNode || !is_graph(hClonedGraph))
        return CUDA_ERROR_INVALID_VALUE;
    for (CUgraphNode n = hClonedGraph->first; n; n = n->next)
        if (n->cloned_from == hOriginalNode) {
            *phNode = n;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    size_t i = 0;

    if (!is_graph(hGraph) || !numNodes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!nodes) {
        *numNodes = hGraph->count;
        return CUDA_SUCCESS;
    }
    for (CUgraphNode n = hGraph->first; n && i < *numNodes; n = n->next)
        nodes[i++] = n;
    for (size_t rest = i; rest < *numNodes; rest++)
        nodes[rest] = NULL;
    *numNodes = i;
    return CUDA_SUCCESS;
}

/* The data of an edge, by a fault: in a graph captured from launches that may overlap, or of a
 * driver to come. */
static CUgraphEdgeData edge_data(void)
{
    CUgraphEdgeData data = {0};

    if (gpusim_fault_is("edges", "programmatic")) {
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    } else if (gpusim_fault_is("edges", "unknown")) {
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC + 1;
    }
    return data;
}

static CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data,
                          size_t *count)
{
    size_t i = 0;

    if (!is_graph(graph) || !count || !from != !to)
        return CUDA_ERROR_INVALID_VALUE;
    for (CUgraphNode n = graph->first; n; n = n->next)
        for (size_t a = 0; a < n->after_count; a++, i++)
            if (from && i < *count) {
                from[i] = n->after[a];
                to[i] = n;
                if (data)
                    data[i] = edge_data();
            }
    for (size_t rest = i; from && rest < *count; rest++)
        from[rest] = to[rest] = NULL;
    if (!from || i < *count)
        *count = i;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *edgeData, size_t *numEdges)
{
    return get_edges(hGraph, from, to, edgeData, numEdges);
}

CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    return get_edges(hGraph, from, to, NULL, numEdges);
}

CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    if (!is_node(hNode) || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = hNode->type;
    return CUDA_SUCCESS;
}

/* ---- the work of a node ---- */

static CUresult node_launch(const struct launch_call *call, struct gpusim_work *work)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);

    if (result != CUDA_SUCCESS)
        return result;
    memset(work, 0, sizeof(*work));
    work->kind = GPUSIM_LAUNCH;
    pthread_mutex_lock(&gpusim_lock);
    result = gpusim_launch_from_call(context, call, &work->launch);
    pthread_mutex_unlock(&gpusim_lock);
    return result;
}

CUresult gpusim_node_launch(const CUDA_KERNEL_NODE_PARAMS *p, struct gpusim_work *work)
{
    struct launch_call call;

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    call = (struct launch_call){.function = p->func ? p->func : (CUfunction)(void *)p->kern,
                                .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                .shared = p->sharedMemBytes,
                                .params = p->kernelParams,
                                .extra = p->extra};
    return node_launch(&call, work);
}

CUresult gpusim_node_copy(CUcontext context, const CUDA_MEMCPY3D *p, struct gpusim_work *work)
{
    CUresult result;

    memset(work, 0, sizeof(*work));
    work->kind = GPUSIM_COPY;
    result = gpusim_copy_read(p, &work->copy);
    return result == CUDA_SUCCESS ? gpusim_work_check(context, work) : result;
}

CUresult gpusim_node_fill(CUcontext context, const CUDA_MEMSET_NODE_PARAMS *p,
                          struct gpusim_work *work)
{
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    memset(work, 0, sizeof(*work));
    work->kind = GPUSIM_FILL;
    work->fill = (struct gpusim_fill){.target = p->dst,
                                      .pitch = p->pitch,
                                      .width = p->width,
                                      .height = p->height,
                                      .size = p->elementSize,
                                      .value = p->value};
    return gpusim_work_check(context, work);
}

CUresult gpusim_node_host_call(const CUDA_HOST_NODE_PARAMS *p, struct gpusim_work *work)
{
    *work = (struct gpusim_work){.kind = GPUSIM_HOST_CALL};
    if (!p || !p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    work->host = (struct gpusim_host_call){.function = p->fn, .data = p->userData};
    return CUDA_SUCCESS;
}

CUresult gpusim_node_any(const CUgraphNodeParams *p, struct gpusim_work *work)
{
    CUDA_HOST_NODE_PARAMS call;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_KERNEL_NODE_PARAMS launch;

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        memcpy(&launch, &p->kernel, sizeof(launch)); /* two names of one thing */
        return gpusim_node_launch(&launch, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return gpusim_node_copy(p->memcpy.copyCtx, &p->memcpy.copyParams, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&fill, &p->memset, sizeof(fill)); /* the newer one has a context at its end */
        return gpusim_node_fill(p->memset.ctx, &fill, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        call = (CUDA_HOST_NODE_PARAMS){.fn = p->host.fn, .userData = p->host.userData};
        return gpusim_node_host_call(&call, work);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

/* ---- nodes ---- */

static CUresult add_node(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                         size_t after_count, CUgraphNodeType type, const struct gpusim_work *work)
{
    if (!out || !is_graph(graph) || (after_count && !after))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < after_count; i++)
        if (!is_node(after[i]) || after[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    *out = gpusim_graph_add(graph, type, work, after, after_count);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                             const CUgraphNode *dependencies, size_t numDependencies)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};

    return add_node(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_EMPTY,
                    &work);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                                 const CUgraphNode *dependencies, size_t numDependencies,
                                 const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_launch(nodeParams, &work);

    if (result != CUDA_SUCCESS)
        return result;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_KERNEL,
                    &work);
}

/* The driver takes the address of a graph's own memory in that graph only. */
static bool is_of_other_graph(CUgraph graph, uint64_t address)
{
    struct gpusim_range range;

    if (!gpusim_memory_find(address, &range) || !range.of_graph)
        return false;
    for (CUgraphNode n = graph->first; n; n = n->next)
        if (n->memory == range.start)
            return false;
    return true;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                              const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_copy(ctx, copyParams, &work);

    if (result != CUDA_SUCCESS)
        return result;
    if (is_of_other_graph(hGraph, copyParams->srcDevice) ||
        is_of_other_graph(hGraph, copyParams->dstDevice))
        return CUDA_ERROR_INVALID_VALUE;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_MEMCPY,
                    &work);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                              const CUgraphNode *dependencies, size_t numDependencies,
                              const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_fill(ctx, memsetParams, &work);

    if (result != CUDA_SUCCESS)
        return result;
    if (is_of_other_graph(hGraph, memsetParams->dst))
        return CUDA_ERROR_INVALID_VALUE;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_MEMSET,
                    &work);
}

CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                            const CUgraphNode *dependencies, size_t numDependencies,
                            const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_host_call(nodeParams, &work);

    if (result != CUDA_SUCCESS)
        return result;
    return add_node(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_HOST,
                    &work);
}

/* It has an address for as long as the context. */
static CUresult allocate(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p, struct gpusim_work *work)
{
    CUcontext context;
    CUresult result = gpusim_enter_context(&context);
    uint64_t address;

    if (result == CUDA_SUCCESS)
        result = gpusim_memory_new(context, GPUSIM_DEVICE_MEMORY, p->bytesize, 0, NULL, &address);
    if (result != CUDA_SUCCESS)
        return result;
    gpusim_memory_set_there(address, false);
    p->dptr = address;
    *work = (struct gpusim_work){.kind = GPUSIM_APPEAR, .address = address};
    return CUDA_SUCCESS;
}

/* ---- conditional nodes: those of IF, whose value is the one at the launch of the graph ---- */

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *pHandle_out, CUgraph hGraph,
                                        CUcontext ctx, unsigned int defaultLaunchValue,
                                        unsigned int flags)
{
    if (!pHandle_out || !is_graph(hGraph) || !ctx || flags != CU_GRAPH_COND_ASSIGN_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    *pHandle_out = 2 + (defaultLaunchValue != 0);
    return CUDA_SUCCESS;
}

/* Its body is an empty graph, which the program fills; the node owns it. */
static CUresult add_conditional(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                                size_t count, CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    CUgraph body;
    CUresult result;

    if (p->type != CU_GRAPH_COND_TYPE_IF || p->size != 1)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (p->handle != 2 && p->handle != 3)
        return CUDA_ERROR_INVALID_VALUE;
    body = gpusim_graph_new();
    if (!body)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = add_node(out, graph, after, count, CU_GRAPH_NODE_TYPE_CONDITIONAL, &work);
    if (result != CUDA_SUCCESS) {
        gpusim_graph_free(body);
        return result;
    }
    (*out)->child = body;
    (*out)->is_left_out = p->handle == 2;
    p->phGraph_out = &(*out)->child;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
                           const CUgraphNode *dependencies, const CUgraphEdgeData *dependencyData,
                           size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    struct gpusim_work work = {.kind = GPUSIM_DISAPPEAR};
    CUresult result = CUDA_SUCCESS;

    if (!nodeParams || dependencyData)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return add_conditional(phGraphNode, hGraph, dependencies, numDependencies,
                               &nodeParams->conditional);
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        result = allocate(&nodeParams->alloc, &work);
    else if (nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        work.address = nodeParams->free.dptr;
    else
        result = gpusim_node_any(nodeParams, &work);
    if (result == CUDA_SUCCESS)
        result =
            add_node(phGraphNode, hGraph, dependencies, numDependencies, nodeParams->type, &work);
    if (result == CUDA_SUCCESS && nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
        (*phGraphNode)->memory = nodeParams->alloc.dptr;
        (*phGraphNode)->bytes = nodeParams->alloc.bytesize;
        (*phGraphNode)->pool = nodeParams->alloc.poolProps;
    }
    if (result == CUDA_SUCCESS && nodeParams->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        (*phGraphNode)->memory = nodeParams->free.dptr;
    return result;
}

static CUresult add_event(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
                          CUgraphNodeType type, CUevent event)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    CUresult result = add_node(out, graph, after, count, type, &work);

    if (result == CUDA_SUCCESS)
        (*out)->event = event;
    return result;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                   const CUgraphNode *dependencies, size_t numDependencies,
                                   CUevent event)
{
    return add_event(phGraphNode, hGraph, dependencies, numDependencies,
                     CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                 const CUgraphNode *dependencies, size_t numDependencies,
                                 CUevent event)
{
    return add_event(phGraphNode, hGraph, dependencies, numDependencies,
                     CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS_v1 *params_out)
{
    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_MEM_ALLOC) || !params_out)
        return CUDA_ERROR_INVALID_VALUE;
    *params_out = (CUDA_MEM_ALLOC_NODE_PARAMS_v1){
        .poolProps = hNode->pool, .dptr = hNode->memory, .bytesize = hNode->bytes};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr *dptr_out)
{
    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_MEM_FREE) || !dptr_out)
        return CUDA_ERROR_INVALID_VALUE;
    *dptr_out = hNode->memory;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                        size_t numDependencies, CUgraphNodeParams *nodeParams)
{
    return cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, NULL, numDependencies, nodeParams);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph,
                                  const CUgraphNode *dependencies, size_t numDependencies,
                                  CUgraph childGraph)
{
    struct gpusim_work work = {.kind = GPUSIM_MARK};
    CUresult result;
    CUgraph child;

    if (!is_graph(childGraph))
        return CUDA_ERROR_INVALID_VALUE;
    child = gpusim_graph_clone(childGraph);
    if (!child)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = add_node(phGraphNode, hGraph, dependencies, numDependencies, CU_GRAPH_NODE_TYPE_GRAPH,
                      &work);
    if (result == CUDA_SUCCESS)
        (*phGraphNode)->child = child;
    else
        gpusim_graph_free(child);
    return result;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_GRAPH) || !phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    *phGraph = hNode->child;
    return CUDA_SUCCESS;
}

/* ---- kernels ---- */

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    const struct gpusim_launch *launch;

    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_KERNEL) || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    launch = &hNode->work.launch;
    memset(nodeParams, 0, sizeof(*nodeParams));
    nodeParams->func = launch->function;
    nodeParams->gridDimX = launch->grid.x;
    nodeParams->gridDimY = launch->grid.y;
    nodeParams->gridDimZ = launch->grid.z;
    nodeParams->blockDimX = launch->block.x;
    nodeParams->blockDimY = launch->block.y;
    nodeParams->blockDimZ = launch->block.z;
    nodeParams->sharedMemBytes = launch->dynamic_shared;
    for (unsigned i = 0; i < launch->function->code->params; i++)
        hNode->pointers[i] =
            hNode->work.launch.params + gpusim_param_offset(launch->function->code, i);
    nodeParams->kernelParams = hNode->pointers;
    return CUDA_SUCCESS;
}

static CUresult set_launch(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct gpusim_work work;
    CUresult result;

    if (!is_of_type(node, CU_GRAPH_NODE_TYPE_KERNEL))
        return CUDA_ERROR_INVALID_VALUE;
    result = gpusim_node_launch(params, &work);
    if (result == CUDA_SUCCESS)
        node->work = work;
    return result;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    return set_launch(hNode, nodeParams);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS newer = {0};

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&newer, nodeParams, sizeof(*nodeParams)); /* the newer one goes on where this ends */
    return set_launch(hNode, &newer);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue *value_out)
{
    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_KERNEL) || !value_out ||
        (unsigned)attr >= GPUSIM_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    *value_out = hNode->attributes[attr];
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue *value)
{
    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_KERNEL) || !value ||
        (unsigned)attr >= GPUSIM_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    hNode->attributes[attr] = *value;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    if (!is_of_type(dst, CU_GRAPH_NODE_TYPE_KERNEL) || !is_of_type(src, CU_GRAPH_NODE_TYPE_KERNEL))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(dst->attributes, src->attributes, sizeof(dst->attributes));
    return CUDA_SUCCESS;
}

/* ---- copies and fills ---- */

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D *nodeParams)
{
    const struct gpusim_copy *c;

    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMCPY) || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    c = &hNode->work.copy;
    memset(nodeParams, 0, sizeof(*nodeParams));
    nodeParams->srcMemoryType = c->source_type;
    if (c->source_type == CU_MEMORYTYPE_HOST)
        nodeParams->srcHost = (void *)(uintptr_t)c->source;
    else
        nodeParams->srcDevice = c->source;
    nodeParams->srcPitch = c->source_pitch;
    nodeParams->srcHeight = c->source_pitch ? c->source_slice / c->source_pitch : 0;
    nodeParams->dstMemoryType = c->target_type;
    if (c->target_type == CU_MEMORYTYPE_HOST)
        nodeParams->dstHost = (void *)(uintptr_t)c->target;
    else
        nodeParams->dstDevice = c->target;
    nodeParams->dstPitch = c->target_pitch;
    nodeParams->dstHeight = c->target_pitch ? c->target_slice / c->target_pitch : 0;
    nodeParams->WidthInBytes = c->width;
    nodeParams->Height = c->height;
    nodeParams->Depth = c->depth;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D *nodeParams)
{
    struct gpusim_work work;
    CUresult result;

    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMCPY))
        return CUDA_ERROR_INVALID_VALUE;
    result = gpusim_node_copy(NULL, nodeParams, &work);
    if (result == CUDA_SUCCESS)
        hNode->work = work;
    return result;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    const struct gpusim_fill *f;

    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMSET) || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    f = &hNode->work.fill;
    *nodeParams = (CUDA_MEMSET_NODE_PARAMS){.dst = f->target,
                                            .pitch = f->pitch,
                                            .value = f->value,
                                            .elementSize = f->size,
                                            .width = f->width,
                                            .height = f->height};
    return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS *nodeParams)
{
    struct gpusim_work work;
    CUresult result;

    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_MEMSET))
        return CUDA_ERROR_INVALID_VALUE;
    result = gpusim_node_fill(NULL, nodeParams, &work);
    if (result == CUDA_SUCCESS)
        hNode->work = work;
    return result;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS *nodeParams)
{
    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_HOST) || !nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    *nodeParams =
        (CUDA_HOST_NODE_PARAMS){.fn = hNode->work.host.function, .userData = hNode->work.host.data};
    return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct gpusim_work work;
    CUresult result;

    if (!is_of_type(hNode, CU_GRAPH_NODE_TYPE_HOST))
        return CUDA_ERROR_INVALID_VALUE;
    result = gpusim_node_host_call(nodeParams, &work);
    if (result == CUDA_SUCCESS)
        hNode->work = work;
    return result;
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    struct gpusim_work work;
    CUresult result;

    if (!nodeParams || !is_of_type(hNode, nodeParams->type))
        return CUDA_ERROR_INVALID_VALUE;
    result = gpusim_node_any(nodeParams, &work);
    if (result == CUDA_SUCCESS)
        hNode->work = work;
    return result;
}
