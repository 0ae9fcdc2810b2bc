/* The nodes of a graph, launched one by one. */
#include "graph/inside.h"

#include "cuda/wait.h"
#include "gate/waits.h"
#include "launch/kernels.h"
#include "launch/session.h"

#include <stdlib.h>
#include <string.h>

/* A stream takes some thousand pieces of work, then it holds up the host. A kernel among them may
 * wait for the host: beyond so many since the last one that was waited for, nodes that are not
 * measured are launched in rows, each as one graph. A row ends where another branch waits for it:
 * where even rows and events are so many, all that is left is launched as one graph. Where a node
 * of that is to be measured, this is done only if those before it do not end in time. */
#define MOST_QUEUED 256
#define MOST_TIMED 64
#define MOST_IN_BRANCH 768
#define LONGEST_ROW 1024

/* Nodes of a branch that are still to be launched. */
struct row {
    unsigned count, nodes[LONGEST_ROW];
};

struct split {
    const struct gp_graph_order *order;
    struct gp_graph_node *nodes;
    struct gp_graph_source source;
    struct gp_graph_target target;          /* the program's */
    const struct gp_graph_streams *streams; /* NULL: one branch, which is the program's stream */
    CUevent all_ended;                      /* the whole launch */
    CUevent fork;                           /* the work that the stream held before */
    CUevent *ended;                         /* by node; NULL where no other branch waits for it */
    CUgraphExec *parts;                /* by node: a graph of that node alone, NULL for kernels */
    struct row *rows;                  /* by branch */
    unsigned queued[GP_MOST_BRANCHES]; /* since the last launch that was waited for */
    unsigned last_taken; /* 1 + where the last node that is to be measured stands in the order */
    bool begun;          /* something was submitted */
    bool held_up;        /* a kernel did not end: nothing is measured beside it */
    bool no_rest;        /* all that is left could not be launched as one graph */
};

/* A copy, a fill or a host function is launched as a graph of its own: it then does the same as in
 * the whole, with any memory, and never holds the host up, as a copy from or to pageable memory
 * can.
 */
static bool has_part(const struct gp_graph_node *n)
{
    return !n->disabled && !n->left_out &&
           (n->type == CU_GRAPH_NODE_TYPE_MEMCPY || n->type == CU_GRAPH_NODE_TYPE_MEMSET ||
            n->type == CU_GRAPH_NODE_TYPE_HOST);
}

static bool prepare_branches(struct split *s, CUcontext context)
{
    s->streams = graph_streams_enter(context);
    if (!s->streams || !gp_event_make(&s->fork, CU_EVENT_DISABLE_TIMING))
        return false;
    for (unsigned n = 0; n < s->order->count; n++)
        if (s->order->awaited[n] && !gp_event_make(&s->ended[n], CU_EVENT_DISABLE_TIMING))
            return false;
    return true;
}

/* Makes all that can fail before anything is launched. To be cleaned up in any case. */
static bool prepare(struct split *s, CUgraphExec exec)
{
    s->all_ended = graph_ended(exec, true);
    s->ended = calloc(s->order->count + 1, sizeof(CUevent));
    s->parts = calloc(s->order->count + 1, sizeof(CUgraphExec));
    s->rows = calloc(s->order->branches + 1, sizeof(*s->rows));
    for (unsigned i = 0; i < s->order->count; i++)
        if (s->nodes[s->order->sequence[i]].taken)
            s->last_taken = i + 1;
    if (!s->all_ended || !s->ended || !s->parts || !s->rows ||
        (s->order->branches > 1 && !prepare_branches(s, s->source.context)))
        return false;
    for (unsigned n = 0; n < s->order->count; n++)
        if (has_part(&s->nodes[n]) && !graph_part_make(&s->source, &n, 1, &s->parts[n]))
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
    free(s->rows);
}

static bool is_to_be_measured(const struct split *s, const struct gp_graph_node *n)
{
    return n->taken && !s->held_up;
}

static CUresult launch_kernel(struct split *s, struct gp_graph_node *n, CUstream stream)
{
    struct gp_node_launch k;
    CUresult result =
        node_launch_make(&k, n, s->source.stand_ins, stream, s->target.per_thread && !s->streams);
    if (result != CUDA_SUCCESS)
        return result;
    bool held_up = false, measured = is_to_be_measured(s, n);
    if (n->taken && !measured)
        graph_node_passed_over(n, GP_BESIDE_WORK);
    n->taken = false; /* it will have a record, or a reason */
    if (measured && n->only_timed) {
        measured = false;
        result = gp_launch_in_series_timed(&k.call);
    } else {
        result = gp_launch_in_series(&k.call, &measured, n->turn, &held_up);
    }
    node_launch_free(&k);
    s->held_up = s->held_up || held_up;
    if (measured)
        memset(s->queued, 0, sizeof(s->queued));
    return result;
}

/* ---- nodes in a row ---- */

static CUstream stream_of(const struct split *s, unsigned branch)
{
    return s->streams ? s->streams->streams[branch] : s->target.stream;
}

static CUresult launch_part(const struct split *s, CUgraphExec part, CUstream stream)
{
    return s->target.per_thread && !s->streams ? gp_cuda.cuGraphLaunch_ptsz(part, stream)
                                               : gp_cuda.cuGraphLaunch(part, stream);
}

/* A copy, a fill, or a function of the host, which writes the host's memory alone. */
static CUresult launch_other(const struct split *s, unsigned index, CUstream stream)
{
    struct gp_graph_written w;
    if (!graph_read_written(&s->nodes[index], s->source.stand_ins, &w))
        gp_launch_series_writes(stream, 0, 0);
    else if (w.base && w.bytes.end > w.bytes.start)
        gp_launch_series_writes(stream, w.bytes.start, w.bytes.end - w.bytes.start);
    const CUresult result = launch_part(s, s->parts[index], stream);
    gp_launch_series_written();
    return result;
}

static CUresult launch_node(struct split *s, unsigned index)
{
    struct gp_graph_node *n = &s->nodes[index];
    CUstream stream = stream_of(s, s->order->branch[index]);
    bool is_kernel = n->type == CU_GRAPH_NODE_TYPE_KERNEL;
    if (n->disabled || (!is_kernel && !s->parts[index]))
        return CUDA_SUCCESS; /* only there to order others */
    s->queued[s->order->branch[index]]++;
    CUresult result = is_kernel ? launch_kernel(s, n, stream) : launch_other(s, index, stream);
    s->begun = s->begun || result == CUDA_SUCCESS;
    return result;
}

static CUresult launch_several(const struct split *s, CUgraphExec part, CUstream stream)
{
    gp_launch_series_writes(stream, 0, 0);
    return launch_part(s, part, stream);
}

/* Counts the kernels among nodes that were launched as one graph. */
static void note_launched(struct split *s, const unsigned *which, size_t count, CUstream stream)
{
    bool unending = false;
    for (size_t i = 0; i < count; i++) {
        struct gp_graph_node *n = &s->nodes[which[i]];
        if (n->type != CU_GRAPH_NODE_TYPE_KERNEL || n->disabled)
            continue;
        gp_session_count_launch();
        if (n->taken)
            graph_node_passed_over(n, GP_BESIDE_WORK);
        unending = unending || gp_kernel_interest(n->function, &n->configuration) == GP_UNENDING;
    }
    if (unending)
        gp_unending_launched(stream, s->target.per_thread && !s->streams, true);
    s->held_up = s->held_up || unending;
}

static bool launch_row_at_once(struct split *s, const struct row *row, CUstream stream)
{
    CUgraphExec exec;
    if (row->count < 2 || !graph_part_make(&s->source, row->nodes, row->count, &exec))
        return false;
    bool launched = launch_several(s, exec, stream) == CUDA_SUCCESS;
    gp_cuda.cuGraphExecDestroy(exec);
    if (launched)
        note_launched(s, row->nodes, row->count, stream);
    return launched;
}

/* Launches the nodes of the branch that are still to be. */
static CUresult launch_row(struct split *s, unsigned branch)
{
    struct row *row = &s->rows[branch];
    CUresult result = CUDA_SUCCESS;
    if (launch_row_at_once(s, row, stream_of(s, branch))) {
        s->begun = true;
        s->queued[branch]++;
    } else
        for (unsigned i = 0; i < row->count && result == CUDA_SUCCESS; i++)
            result = launch_node(s, row->nodes[i]);
    row->count = 0;
    return result;
}

static CUresult launch_rows(struct split *s)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned b = 0; b < s->order->branches && result == CUDA_SUCCESS; b++)
        result = launch_row(s, b);
    return result;
}

/* ---- all nodes ---- */

static void wait_for_rest(struct split *s)
{
    s->held_up = !gp_launch_series_rests(s->target.stream);
    if (!s->held_up)
        memset(s->queued, 0, sizeof(s->queued));
}

/* A launch that is timed takes three entries of its stream, and is not waited for. */
static void make_room_for_events(struct split *s, unsigned index)
{
    unsigned *queued = &s->queued[s->order->branch[index]];
    if (!s->nodes[index].only_timed || !is_to_be_measured(s, &s->nodes[index]) ||
        *queued < MOST_TIMED)
        return;
    wait_for_rest(s);
}

/* Launches the node, or puts it into the row of its branch. */
static CUresult launch_or_keep(struct split *s, unsigned index)
{
    struct row *row = &s->rows[s->order->branch[index]];
    CUresult result;
    make_room_for_events(s, index);
    if (is_to_be_measured(s, &s->nodes[index]) ||
        s->queued[s->order->branch[index]] < MOST_QUEUED) {
        result = launch_rows(s);
        return result == CUDA_SUCCESS ? launch_node(s, index) : result;
    }
    result = row->count == LONGEST_ROW ? launch_row(s, s->order->branch[index]) : CUDA_SUCCESS;
    row->nodes[row->count++] = index;
    return result;
}

/* Behind nodes of other branches that it depends on. */
static CUresult wait_for_others(struct split *s, unsigned index)
{
    const struct gp_graph_order *o = s->order;
    CUresult result = CUDA_SUCCESS;
    for (unsigned d = o->first[index]; d < o->first[index + 1] && result == CUDA_SUCCESS; d++) {
        if (o->branch[o->dependencies[d]] == o->branch[index])
            continue;
        result = launch_row(s, o->branch[index]);
        s->queued[o->branch[index]]++;
        if (result == CUDA_SUCCESS)
            result = gp_cuda.cuStreamWaitEvent(stream_of(s, o->branch[index]),
                                               s->ended[o->dependencies[d]], 0);
    }
    return result;
}

/* For nodes of other branches that depend on it. */
static CUresult note_end(struct split *s, unsigned index)
{
    if (!s->ended[index])
        return CUDA_SUCCESS;
    CUresult result = launch_row(s, s->order->branch[index]);
    s->queued[s->order->branch[index]]++;
    return result == CUDA_SUCCESS
               ? gp_cuda.cuEventRecord(s->ended[index], stream_of(s, s->order->branch[index]))
               : result;
}

static bool is_full(const struct split *s)
{
    bool full = false;
    for (unsigned b = 0; b < s->order->branches; b++)
        full = full || s->queued[b] >= MOST_IN_BRANCH;
    return full;
}

/* A kernel may still wait for one beside it that is left: so only where a branch is nearly full. */
static bool is_rest_due(struct split *s, unsigned at)
{
    if (s->no_rest || !is_full(s))
        return false;
    if (s->held_up || at >= s->last_taken)
        return true;
    wait_for_rest(s);
    return s->held_up;
}

/* The stream waits for all that was launched into the other branches. */
static CUresult wait_for_branches(struct split *s, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (unsigned b = 0; b < s->order->branches && result == CUDA_SUCCESS; b++) {
        if (stream_of(s, b) == stream)
            continue;
        result = gp_cuda.cuEventRecord(s->fork, stream_of(s, b));
        if (result == CUDA_SUCCESS)
            result = gp_cuda.cuStreamWaitEvent(stream, s->fork, 0);
    }
    return result;
}

/* Launches all nodes from there on as one graph. False where nothing of them was launched. */
static bool launch_rest(struct split *s, unsigned at)
{
    CUgraphExec rest;
    CUstream stream = stream_of(s, 0);
    s->no_rest = true; /* it is tried once: it takes as long as there are nodes */
    if (!graph_rest_make(&s->source, s->order, at, &rest))
        return false;
    bool launched = launch_rows(s) == CUDA_SUCCESS &&
                    wait_for_branches(s, stream) == CUDA_SUCCESS &&
                    launch_several(s, rest, stream) == CUDA_SUCCESS;
    gp_cuda.cuGraphExecDestroy(rest);
    if (launched)
        note_launched(s, s->order->sequence + at, s->order->count - at, stream);
    return launched;
}

static CUresult launch_in_order(struct split *s)
{
    for (unsigned i = 0; i < s->order->count; i++) {
        unsigned n = s->order->sequence[i];
        if (is_rest_due(s, i) && launch_rest(s, i))
            return CUDA_SUCCESS;
        CUresult result = wait_for_others(s, n);
        if (result == CUDA_SUCCESS)
            result = launch_or_keep(s, n);
        if (result == CUDA_SUCCESS)
            result = note_end(s, n);
        if (result != CUDA_SUCCESS)
            return result;
    }
    return launch_rows(s);
}

/* A kernel that failed while it ran has broken the context, and every call fails since. */
static bool is_broken_at(const struct gp_graph_target *p)
{
    CUresult result = gp_stream_query(p->stream, p->per_thread);
    return result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY;
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
            result = graph_wait_at(&s->target, s->fork);
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
        graph_give_up(exec, GP_GRAPH_WAITS);
    /* A kernel that fails does so after the graph's launch has succeeded; the program learns of it
     * at its next call. */
    if (result != CUDA_SUCCESS && s->begun && is_broken_at(&s->target))
        return CUDA_SUCCESS;
    if (result != CUDA_SUCCESS && s->begun)
        graph_give_up(exec, GP_GRAPH_BROKE_OFF);
    return result;
}

bool graph_launch_split(CUgraphExec exec, const struct gp_graph_target *target, CUresult *result)
{
    CUcontext context;
    struct gp_graph_clone *graph = graph_find(exec);
    if (!graph || gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
        return false;
    struct split s = {.order = &graph->order,
                      .nodes = graph->nodes,
                      .source = {graph->nodes, graph->stand_ins, context},
                      .target = *target};
    if (prepare(&s, exec))
        *result = launch_nodes(&s, exec);
    clean_up(&s);
    return s.begun;
}
