/* Executable graphs: a clone of the graph, which is changed apart from it and runs as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/capture.h"

struct CUgraphExec_st {
    enum gpusim_handle kind;
    CUgraph graph;
};

static bool is_exec(CUgraphExec exec)
{
    return exec && exec->kind == GPUSIM_GRAPH_EXEC;
}

CUresult gpusim_graph_instantiate(CUgraphExec *out, CUgraph graph)
{
    CUresult result = gpusim_enter();
    CUgraphExec exec;

    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !graph || graph->kind != GPUSIM_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    exec = calloc(1, sizeof(*exec));
    if (!exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->graph = gpusim_graph_clone(graph);
    if (!exec->graph) {
        free(exec);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->kind = GPUSIM_GRAPH_EXEC;
    *out = exec;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
                                     unsigned long long flags)
{
    (void)flags;
    return gpusim_graph_instantiate(phGraphExec, hGraph);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode,
                               char *logBuffer, size_t bufferSize)
{
    if (phErrorNode)
        *phErrorNode = NULL;
    if (logBuffer && bufferSize)
        logBuffer[0] = '\0';
    return gpusim_graph_instantiate(phGraphExec, hGraph);
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    if (!is_exec(hGraphExec))
        return CUDA_ERROR_INVALID_VALUE;
    gpusim_graph_free(hGraphExec->graph);
    hGraphExec->kind = GPUSIM_DEAD;
    free(hGraphExec);
    return CUDA_SUCCESS;
}

/* ---- changes ---- */

/* The node that stands for one of the graph's, or of its child graphs'; that one may be gone. */
static CUgraphNode find(CUgraph graph, CUgraphNode original)
{
    for (CUgraphNode n = graph->first; n; n = n->next) {
        CUgraphNode inside = n->child ? find(n->child, original) : NULL;
        if (n->cloned_from == original)
            return n;
        if (inside)
            return inside;
    }
    return NULL;
}

static CUgraphNode node_of(CUgraphExec exec, CUgraphNode original, CUgraphNodeType type)
{
    CUgraphNode node = is_exec(exec) && original ? find(exec->graph, original) : NULL;

    return node && node->type == type ? node : NULL;
}

static CUresult set_work(CUgraphNode node, CUresult result, const struct gpusim_work *work)
{
    if (!node)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        node->work = *work;
    return result;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS *nodeParams)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_launch(nodeParams, &work);

    return set_work(node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL), result, &work);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams)
{
    CUDA_KERNEL_NODE_PARAMS newer = {0};
    struct gpusim_work work;
    CUresult result;

    if (!nodeParams)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&newer, nodeParams, sizeof(*nodeParams));
    result = gpusim_node_launch(&newer, &work);
    return set_work(node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_KERNEL), result, &work);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMCPY3D *copyParams, CUcontext ctx)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_copy(ctx, copyParams, &work);

    return set_work(node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMCPY), result, &work);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_fill(ctx, memsetParams, &work);

    return set_work(node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_MEMSET), result, &work);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_host_call(nodeParams, &work);

    return set_work(node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_HOST), result, &work);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                  CUgraphNodeParams *nodeParams)
{
    struct gpusim_work work;
    CUresult result = gpusim_node_any(nodeParams, &work);

    if (!nodeParams)
        return result;
    return set_work(node_of(hGraphExec, hNode, nodeParams->type), result, &work);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled)
{
    CUgraphNode node = is_exec(hGraphExec) && hNode ? find(hGraphExec->graph, hNode) : NULL;

    if (!node ||
        (node->type != CU_GRAPH_NODE_TYPE_KERNEL && node->type != CU_GRAPH_NODE_TYPE_MEMCPY &&
         node->type != CU_GRAPH_NODE_TYPE_MEMSET))
        return CUDA_ERROR_INVALID_VALUE;
    node->disabled = !isEnabled;
    return CUDA_SUCCESS;
}

/* ---- all of a graph at once ---- */

static bool same_shape(CUgraph one, CUgraph other)
{
    CUgraphNode b = other->first;

    if (one->count != other->count)
        return false;
    for (CUgraphNode a = one->first; a; a = a->next, b = b->next) {
        if (a->type != b->type || a->after_count != b->after_count ||
            (a->child && !same_shape(a->child, b->child)))
            return false;
        for (size_t i = 0; i < a->after_count; i++)
            if (a->after[i]->index != b->after[i]->index)
                return false;
    }
    return true;
}

static void take_work(CUgraph to, CUgraph from)
{
    CUgraphNode b = from->first;

    for (CUgraphNode a = to->first; a; a = a->next, b = b->next) {
        a->work = b->work;
        if (a->child)
            take_work(a->child, b->child);
    }
}

static CUresult update(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResult *why)
{
    CUresult result = gpusim_enter();

    if (result != CUDA_SUCCESS)
        return result;
    if (!is_exec(exec) || !graph || graph->kind != GPUSIM_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    if (!same_shape(exec->graph, graph)) {
        *why = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    take_work(exec->graph, graph);
    *why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                           CUgraphExecUpdateResult *updateResult_out)
{
    if (!updateResult_out)
        return CUDA_ERROR_INVALID_VALUE;
    if (hErrorNode_out)
        *hErrorNode_out = NULL;
    return update(hGraphExec, hGraph, updateResult_out);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph,
                              CUgraphExecUpdateResultInfo *resultInfo)
{
    if (!resultInfo)
        return CUDA_ERROR_INVALID_VALUE;
    memset(resultInfo, 0, sizeof(*resultInfo));
    return update(hGraphExec, hGraph, &resultInfo->result);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            CUgraph childGraph)
{
    CUgraphNode node = node_of(hGraphExec, hNode, CU_GRAPH_NODE_TYPE_GRAPH);

    if (!node || !childGraph || childGraph->kind != GPUSIM_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    if (!same_shape(node->child, childGraph))
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    take_work(node->child, childGraph);
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

static size_t count_steps(CUgraph graph)
{
    size_t count = 0;

    for (CUgraphNode n = graph->first; n; n = n->next)
        count += n->child ? count_steps(n->child) + 2 : 1; /* more than that of a body left out */
    return count;
}

struct steps {
    struct gpusim_step *list;
    size_t count;
};

static bool add_step(struct steps *s, const struct gpusim_work *work, size_t room_after)
{
    struct gpusim_step *step = &s->list[s->count++];

    step->work = *work;
    step->after = calloc(room_after + 1, sizeof(*step->after));
    return step->after != NULL;
}

static void depend(struct steps *s, size_t step, size_t on)
{
    s->list[step].after[s->list[step].after_count++] = on;
}

/* The steps of a graph, in the order its nodes were made: nodes depend on earlier ones only. A
 * child graph is all that is between two marks. last[]: for each node the step that others wait
 * for. */
static bool add_steps(struct steps *s, CUgraph graph, bool in_child)
{
    const struct gpusim_work mark = {.kind = GPUSIM_MARK};
    size_t begin = s->count, *last = calloc(graph->count + 1, sizeof(*last));
    bool well = last && (!in_child || add_step(s, &mark, 0));

    for (CUgraphNode n = graph->first; n && well; n = n->next) {
        const bool runs_child = n->child && !n->is_left_out;
        size_t here = s->count;
        well = runs_child ? add_steps(s, n->child, true)
                          : add_step(s, n->disabled ? &mark : &n->work, n->after_count + 1);
        if (!well)
            break;
        if (s->list[here].work.kind == GPUSIM_LAUNCH)
            s->list[here].work.launch.cooperative =
                n->attributes[CU_LAUNCH_ATTRIBUTE_COOPERATIVE].cooperative != 0;
        if (runs_child) {
            size_t *after = realloc(s->list[here].after, (n->after_count + 1) * sizeof(*after));
            well = after != NULL;
            if (after)
                s->list[here].after = after;
        }
        for (size_t i = 0; i < n->after_count && well; i++)
            depend(s, here, last[n->after[i]->index]);
        if (well && in_child && n->after_count == 0)
            depend(s, here, begin);
        last[n->index] = s->count - 1;
    }
    if (well && in_child) {
        well = add_step(s, &mark, graph->count + 1);
        for (unsigned i = 0; i < graph->count && well; i++)
            depend(s, s->count - 1, last[i]);
        if (well)
            depend(s, s->count - 1, begin);
    }
    free(last);
    return well;
}

/* Around all of the graph: its nodes may record and wait earlier and later than that. */
static CUresult meet_events(CUgraph graph, CUgraphNodeType type, CUstream stream, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;

    for (CUgraphNode n = graph->first; n && result == CUDA_SUCCESS; n = n->next)
        if (n->type == type && type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            result =
                per_thread ? cuEventRecord_ptsz(n->event, stream) : cuEventRecord(n->event, stream);
        else if (n->type == type)
            result = per_thread ? cuStreamWaitEvent_ptsz(stream, n->event, 0)
                                : cuStreamWaitEvent(stream, n->event, 0);
    return result;
}

/* For tests that ask whether a graph runs as one. */
static void note_launch(size_t nodes)
{
    const char *path = getenv("GPUSIM_GRAPHS");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (file) {
        (void)fprintf(file, "%zu\n", nodes);
        (void)fclose(file);
    }
}

CUresult gpusim_graph_launch(CUgraphExec exec, CUstream handle, bool per_thread)
{
    struct gpusim_work work = {.kind = GPUSIM_GRAPH_LAUNCH};
    struct steps s = {0};
    CUresult result;

    if (!is_exec(exec))
        return CUDA_ERROR_INVALID_VALUE;
    result = meet_events(exec->graph, CU_GRAPH_NODE_TYPE_WAIT_EVENT, handle, per_thread);
    if (result != CUDA_SUCCESS)
        return result;
    work.graph.source = exec->graph;
    s.list = calloc(count_steps(exec->graph) + 1, sizeof(*s.list));
    result = s.list && add_steps(&s, exec->graph, false) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    work.graph.steps = s.list;
    work.graph.count = s.count;
    if (result == CUDA_SUCCESS)
        result = gpusim_do(handle, per_thread, &work, GPUSIM_RETURN_AT_ONCE);
    if (result != CUDA_SUCCESS) {
        gpusim_work_clear(&work);
        return result;
    }
    note_launch(s.count);
    return meet_events(exec->graph, CU_GRAPH_NODE_TYPE_EVENT_RECORD, handle, per_thread);
}
