#include "graph/launch.h"
#include "cuda/green.h"
#include "gate/captures.h"
#include "gate/own_work.h"

#include "gate/waits.h"
#include "graph/graphs.h"
#include "graph/streams.h"
#include "launch/kept_launch.h"
#include "launch/session.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the program's stream -------------------------------------------------------------------- */

/* A stream and which default stream 0 means there. */
struct target {
    CUstream stream;
    bool per_thread;
};

static CUresult wait_at(const struct target *p, CUevent event)
{
    return p->per_thread ? gp_cuda.cuStreamWaitEvent_ptsz(p->stream, event, 0)
                         : gp_cuda.cuStreamWaitEvent(p->stream, event, 0);
}

/* A kernel that failed while it ran has broken the context, and every call fails since. */
static bool is_broken_at(const struct target *p)
{
    CUresult result =
        p->per_thread ? gp_cuda.cuStreamQuery_ptsz(p->stream) : gp_cuda.cuStreamQuery(p->stream);
    return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
}

/* ---- as it is -------------------------------------------------------------------------------- */

struct whole_launch {
    struct gp_launch call;
    CUgraphExec exec;
    PFN_cuGraphLaunch_v10000 real;
    bool unending; /* it is known not to end by itself */
    CUresult result;
};

/* The driver does not let a graph run beside itself. A launch by nodes it knows nothing of. */
static CUresult run_whole(const struct gp_launch *call)
{
    const struct whole_launch *w = (const struct whole_launch *)call;
    const struct target target = {call->stream, call->per_thread_stream};
    CUevent ended = gp_graph_ended(w->exec, false);
    CUresult result = CUDA_SUCCESS;
    if (ended && !gp_stream_is_capturing(target.stream, target.per_thread, true))
        result = wait_at(&target, ended);
    if (result == CUDA_SUCCESS)
        result = w->real(w->exec, call->stream);
    if (result == CUDA_SUCCESS && w->unending && gp_captures() == 0)
        gp_unending_launched(call->stream, call->per_thread_stream);
    return result;
}

/* ---- node by node ---------------------------------------------------------------------------- */

struct split {
    const struct gp_graph_order *order;
    const struct gp_graph_node *nodes;
    struct target target;                   /* the program's */
    const struct gp_graph_streams *streams; /* NULL: one branch, which is the program's stream */
    CUevent all_ended;                      /* the whole launch */
    CUevent fork;                           /* the work that the stream held before */
    CUevent *ended;                         /* by node; NULL where no other branch waits for it */
    CUgraphExec *parts; /* by node: a graph of that node alone, NULL for kernels */
    bool begun;         /* something was submitted */
    bool held_up;       /* a kernel did not end: nothing is measured beside it */
};

static CUresult add_part(CUgraph graph, const struct gp_graph_node *n, CUcontext context)
{
    CUgraphNode node;
    if (n->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        CUDA_MEMCPY3D_v2 copy = {0};
        CUresult result = gp_cuda.cuGraphMemcpyNodeGetParams(n->node, &copy);
        return result == CUDA_SUCCESS
                   ? gp_cuda.cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context)
                   : result;
    }
    CUDA_MEMSET_NODE_PARAMS_v1 fill = {0};
    CUresult result = gp_cuda.cuGraphMemsetNodeGetParams(n->node, &fill);
    return result == CUDA_SUCCESS
               ? gp_cuda.cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context)
               : result;
}

/* A copy or fill is launched as a graph of its own: it then does the same as in the whole, with any
 * memory, and never holds the host up, as a copy from or to pageable memory can. */
static bool make_part(const struct gp_graph_node *n, CUcontext context, CUgraphExec *part)
{
    CUgraph graph;
    if (gp_cuda.cuGraphCreate(&graph, 0) != CUDA_SUCCESS)
        return false;
    bool made = add_part(graph, n, context) == CUDA_SUCCESS &&
                gp_cuda.cuGraphInstantiateWithFlags(part, graph, 0) == CUDA_SUCCESS;
    if (!made)
        *part = NULL;
    return gp_cuda.cuGraphDestroy(graph) == CUDA_SUCCESS && made;
}

static bool has_part(const struct gp_graph_node *n)
{
    return !n->disabled &&
           (n->type == CU_GRAPH_NODE_TYPE_MEMCPY || n->type == CU_GRAPH_NODE_TYPE_MEMSET);
}

static bool prepare_branches(struct split *s, CUcontext context)
{
    s->streams = gp_graph_streams_enter(context);
    if (!s->streams || !gp_event_make(&s->fork, CU_EVENT_DISABLE_TIMING))
        return false;
    for (unsigned n = 0; n < s->order->count; n++)
        if (s->order->awaited[n] && !gp_event_make(&s->ended[n], CU_EVENT_DISABLE_TIMING))
            return false;
    return true;
}

/* Makes all that can fail before anything is launched. To be cleaned up in any case. */
static bool prepare(struct split *s, CUgraphExec exec, CUcontext context)
{
    s->all_ended = gp_graph_ended(exec, true);
    s->ended = calloc(s->order->count + 1, sizeof(CUevent));
    s->parts = calloc(s->order->count + 1, sizeof(CUgraphExec));
    if (!s->all_ended || !s->ended || !s->parts ||
        (s->order->branches > 1 && !prepare_branches(s, context)))
        return false;
    for (unsigned n = 0; n < s->order->count; n++)
        if (has_part(&s->nodes[n]) && !make_part(&s->nodes[n], context, &s->parts[n]))
            return false;
    return true;
}

/* Nodes that still run keep the objects of theirs that they need. */
static void clean_up(struct split *s)
{
    for (unsigned n = 0; n < s->order->count; n++) {
        if (s->ended && s->ended[n])
            gp_cuda.cuEventDestroy_v2(s->ended[n]);
        if (s->parts && s->parts[n])
            gp_cuda.cuGraphExecDestroy(s->parts[n]);
    }
    if (s->fork)
        gp_cuda.cuEventDestroy_v2(s->fork);
    free(s->ended);
    free(s->parts);
}

/* ---- one kernel ---- */

struct node_launch {
    struct gp_launch call;
    PFN_cuLaunchKernelEx_v11060 real;
    CUlaunchConfig config;
    CUlaunchAttribute attributes[8];
};

static CUresult run_node(const struct gp_launch *call)
{
    const struct node_launch *k = (const struct node_launch *)call;
    return k->real(&k->config, call->function, call->parameters, call->extra);
}

/* True when the value is set; a value that a node does not set is left to the launch's defaults. */
static bool is_set(CUlaunchAttributeID id, const CUlaunchAttributeValue *value)
{
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
        return value->accessPolicyWindow.num_bytes != 0;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        return value->cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        return value->clusterDim.x != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return value->clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
#if CUDA_VERSION >= 12080
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
        return value->preferredClusterDim.x != 0;
#endif
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        return value->memSyncDomain != CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    default:
        return false;
    }
}

/* The attributes of nodes that launches have too, but for the priority: the kernel runs alone. */
static void take_attributes(struct node_launch *k, CUgraphNode node)
{
    static const CUlaunchAttributeID ids[] = {
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
#if CUDA_VERSION >= 12080
        CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
#endif
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    };
    _Static_assert(sizeof(ids) / sizeof(ids[0]) <= 8, "room for the attributes");
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        CUlaunchAttributeValue value = {0};
        /* Older drivers do not know the newer attributes. */
        if (gp_cuda.cuGraphKernelNodeGetAttribute(node, ids[i], &value) != CUDA_SUCCESS ||
            !is_set(ids[i], &value))
            continue;
        k->attributes[k->config.numAttrs++] = (CUlaunchAttribute){.id = ids[i], .value = value};
        if (ids[i] == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            k->call.cooperative = true;
    }
}

static CUresult launch_kernel(struct split *s, const struct gp_graph_node *n, CUstream stream)
{
    CUDA_KERNEL_NODE_PARAMS_v2 p = {0};
    CUresult result = gp_cuda.cuGraphKernelNodeGetParams_v2(n->node, &p);
    if (result != CUDA_SUCCESS)
        return result;
    bool per_thread = s->target.per_thread && !s->streams;
    struct node_launch k = {
        .call = {.function = n->function,
                 .stream = stream,
                 .per_thread_stream = per_thread,
                 .of_graph = true,
                 .configuration = n->configuration,
                 .parameters = p.kernelParams,
                 .extra = p.extra,
                 .run = run_node},
        .real = per_thread ? gp_cuda.cuLaunchKernelEx_ptsz : gp_cuda.cuLaunchKernelEx,
    };
    k.config = gp_launch_config(&k.call, k.attributes);
    take_attributes(&k, n->node);
    k.call.attributes = k.attributes;
    k.call.attribute_count = k.config.numAttrs;
    bool held_up;
    result = gp_launch_in_series(&k.call, n->taken && !s->held_up, n->turn, &held_up);
    s->held_up = s->held_up || held_up;
    return result;
}

/* ---- all nodes ---- */

static CUresult launch_part(struct split *s, CUgraphExec part, CUstream stream)
{
    return s->target.per_thread && !s->streams ? gp_cuda.cuGraphLaunch_ptsz(part, stream)
                                               : gp_cuda.cuGraphLaunch(part, stream);
}

static CUresult launch_node(struct split *s, unsigned index, CUstream stream)
{
    const struct gp_graph_node *n = &s->nodes[index];
    bool is_kernel = n->type == CU_GRAPH_NODE_TYPE_KERNEL;
    if (n->disabled || (!is_kernel && !s->parts[index]))
        return CUDA_SUCCESS; /* only there to order others */
    CUresult result =
        is_kernel ? launch_kernel(s, n, stream) : launch_part(s, s->parts[index], stream);
    s->begun = s->begun || result == CUDA_SUCCESS;
    return result;
}

static CUresult launch_in_order(struct split *s)
{
    const struct gp_graph_order *o = s->order;
    for (unsigned i = 0; i < o->count; i++) {
        unsigned n = o->sequence[i];
        CUstream stream = s->streams ? s->streams->streams[o->branch[n]] : s->target.stream;
        CUresult result = CUDA_SUCCESS;
        for (unsigned d = o->first[n]; d < o->first[n + 1] && result == CUDA_SUCCESS; d++)
            if (o->branch[o->dependencies[d]] != o->branch[n])
                result = gp_cuda.cuStreamWaitEvent(stream, s->ended[o->dependencies[d]], 0);
        if (result == CUDA_SUCCESS)
            result = launch_node(s, n, stream);
        if (result == CUDA_SUCCESS && s->ended[n])
            result = gp_cuda.cuEventRecord(s->ended[n], stream);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

/* Branches begin behind the work in the program's stream. */
static CUresult fork_branches(struct split *s)
{
    if (!s->streams)
        return CUDA_SUCCESS;
    CUresult result = gp_event_record(s->fork, s->target.stream, s->target.per_thread);
    for (unsigned b = 0; b < s->order->branches && result == CUDA_SUCCESS; b++)
        result = gp_cuda.cuStreamWaitEvent(s->streams->streams[b], s->fork, 0);
    return result;
}

/* Later work in the program's stream waits for all branches, as far as they came. */
static CUresult join_branches(struct split *s)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned b = 0; s->streams && b < s->order->branches && result == CUDA_SUCCESS; b++) {
        result = gp_cuda.cuEventRecord(s->fork, s->streams->streams[b]);
        if (result == CUDA_SUCCESS)
            result = wait_at(&s->target, s->fork);
    }
    return result == CUDA_SUCCESS
               ? gp_event_record(s->all_ended, s->target.stream, s->target.per_thread)
               : result;
}

static CUresult launch_nodes(struct split *s, CUgraphExec exec)
{
    CUresult result = fork_branches(s);
    if (result == CUDA_SUCCESS)
        result = launch_in_order(s);
    CUresult joined = join_branches(s);
    result = result != CUDA_SUCCESS ? result : joined;
    if (s->held_up)
        gp_graph_give_up(exec, GP_GRAPH_WAITS);
    /* A kernel that fails does so after the graph's launch has succeeded; the program learns of it
     * at its next call. */
    if (result != CUDA_SUCCESS && s->begun && is_broken_at(&s->target))
        return CUDA_SUCCESS;
    if (result != CUDA_SUCCESS && s->begun)
        gp_graph_give_up(exec, GP_GRAPH_BROKE_OFF);
    return result;
}

/* The gate is closed, and nothing runs. False where nothing was launched, and the graph is to be
 * launched as it is. */
static bool launch_split(const struct whole_launch *w, CUresult *result)
{
    CUcontext context;
    const struct gp_graph_clone *graph = gp_graph_find(w->exec);
    if (!graph || gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
        return false;
    if (!gp_graph_is_in_context(graph, context)) {
        gp_graph_give_up(w->exec, GP_GRAPH_SEVERAL_CONTEXTS);
        return false;
    }
    struct split s = {.order = &graph->order,
                      .nodes = graph->nodes,
                      .target = {w->call.stream, w->call.per_thread_stream}};
    if (prepare(&s, w->exec, context))
        *result = launch_nodes(&s, w->exec);
    clean_up(&s);
    return s.begun;
}

/* The gate is open. False where the graph is to be launched as it is. */
static bool launch_by_nodes(const struct whole_launch *w, CUresult *result)
{
    if (!gp_launch_series_begins(w->call.stream, w->call.per_thread_stream))
        return false;
    bool launched = launch_split(w, result);
    gp_launch_series_ends();
    if (launched)
        return true;
    *result = gp_launch_plainly(&w->call);
    /* A reason that keeps the nodes from being launched, but not the whole, would do so every
     * time. */
    if (*result == CUDA_SUCCESS)
        gp_graph_give_up(w->exec, GP_GRAPH_BROKE_OFF);
    return true;
}

static void launch_or_split(void *whole)
{
    struct whole_launch *w = whole;
    enum gp_graph_reason why;
    bool wanted = gp_graph_is_wanted(w->exec, &why, &w->unending);
    if (wanted && gp_stream_is_green(w->call.stream)) {
        wanted = false;
        why = GP_GRAPH_GREEN;
    }
    if (!wanted || !launch_by_nodes(w, &w->result)) {
        w->result = gp_launch_plainly(&w->call);
        if (w->result == CUDA_SUCCESS)
            gp_graph_say(why);
    }
}

CUresult gp_graph_launch(CUgraphExec exec, CUstream stream, bool per_thread_stream,
                         PFN_cuGraphLaunch_v10000 real)
{
    struct whole_launch w = {
        .call = {.stream = stream, .per_thread_stream = per_thread_stream, .run = run_whole},
        .exec = exec,
        .real = real};
    /* While a stream is being captured kernels must not even be asked for their names. */
    if (!gp_session_measures() || gp_captures() > 0)
        return gp_launch_plainly(&w.call);
    gp_at_work(launch_or_split, &w);
    return w.result;
}
