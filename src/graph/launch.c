/* Launching a graph: as it is, or, where its kernels are to be measured, node by node. Owns the
 * streams that the branches of a graph are launched into.
 *
 * Launched node by node a graph keeps its meaning: every node runs behind those it depends on, and
 * waits for no other kernel; earlier work of the stream is done before, later work waits for all of
 * it. Kernels go through gp_launch, one after the other; one that does not end by itself is
 * abandoned, and the others follow beside it. */
#include "graph/inside.h"

#include "base/added_time.h"
#include "base/log.h"
#include "gate/blocking.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "graph/graphs.h"
#include "launch/kernels.h"
#include "launch/launch.h"
#include "launch/selection.h"
#include "launch/session.h"
#include "launch/timed.h"
#include "launch/window.h"

#include <stdlib.h>

/* Reasons that are said. */
#define MOST_SAID 3

struct whole_launch {
    struct gp_launch call;
    CUgraphExec exec;
    PFN_cuGraphLaunch_v10000 real;
    bool unending; /* it is known not to end by itself */
    unsigned kernels;
    bool goes_by_nodes;
    CUresult result;
};

/* The driver does not let a graph run beside itself. A launch by nodes it knows nothing of. */
static CUresult run_whole(const struct gp_launch *call)
{
    const struct whole_launch *w = (const struct whole_launch *)call;
    const struct gp_graph_target target = {call->stream, call->per_thread_stream};
    CUevent ended = graph_ended(w->exec, false);
    CUresult result = CUDA_SUCCESS;
    if (ended && !gp_stream_is_capturing(target.stream, target.per_thread, true))
        result = graph_wait_at(&target, ended);
    if (result == CUDA_SUCCESS)
        result = w->real(w->exec, call->stream);
    if (result == CUDA_SUCCESS && w->unending && gp_captures_hold_off()) {
        gp_unending_launched(call->stream, call->per_thread_stream, true);
        gp_captures_let_begin();
    }
    return result;
}

static bool launch_split(const struct whole_launch *w, CUresult *result)
{
    const struct gp_graph_target target = {w->call.stream, w->call.per_thread_stream};
    bool launched = graph_launch_split(w->exec, &target, result);
    graph_passed_over(w->exec, launched ? GP_FAILED : GP_AS_A_WHOLE);
    return launched;
}

/* Where its nodes can be launched instead nothing is lost. */
static void say_not_again(const struct gp_graph_clone *graph, struct gp_reason why)
{
    static struct gp_say_limit once;
    if (graph->whole != GP_GRAPH_SPLITS && graph->runs.in_vain == 1)
        gp_say_limited(&once, MOST_SAID, "the kernels of a graph are not measured: %s", why.text);
}

/* True where it was launched. Our memory may have been in its way. */
static bool run_for_program(const struct whole_launch *w, CUresult *result)
{
    gp_added_pauses();
    *result = run_whole(&w->call);
    gp_added_resumes();
    return *result != CUDA_ERROR_OUT_OF_MEMORY;
}

/* Launches the graph as it is, and its nodes once more behind it, to be measured. False where
 * nothing was launched. */
static bool launch_and_again(const struct whole_launch *w, struct gp_graph_clone *graph,
                             CUresult *result)
{
    struct gp_again again;
    struct gp_reason why;
    CUresult of_nodes;
    bool saved = graph_save(graph, w->call.stream, &again, &why);
    bool launched = saved && run_for_program(w, result);
    if (launched && *result == CUDA_SUCCESS && gp_again_rewind(&again, &graph->runs.schedule, &why))
        launch_split(w, &of_nodes);
    else if (!saved || (launched && *result == CUDA_SUCCESS))
        say_not_again(graph, why);
    if (launched)
        graph_passed_over(w->exec, again.failed ? GP_FAILED : GP_AS_A_WHOLE);
    graph_again_ends(graph, &again);
    return launched;
}

/* Why its nodes cannot be launched by themselves, as far as only a launch shows it. */
static enum gp_graph_reason why_not_here(struct gp_graph_clone *graph)
{
    CUcontext current;
    if (gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS)
        return GP_GRAPH_BROKE_OFF;
    if (!graph_is_in_context(graph, current))
        return GP_GRAPH_SEVERAL_CONTEXTS;
    return graph->spread || graph_spread_by_code(graph) ? GP_GRAPH_SPLITS : GP_GRAPH_TOO_WIDE;
}

/* Else some of its kernels are only timed. */
static bool is_to_be_measured(const struct gp_graph_clone *graph)
{
    for (unsigned i = 0; i < graph->order.count; i++)
        if (graph->nodes[i].taken && !graph->nodes[i].only_timed)
            return true;
    return false;
}

/* False where nothing was launched. Then *give_up has the reason not to try again, or
 * GP_GRAPH_SPLITS. */
static bool launch_measured(const struct whole_launch *w, enum gp_graph_reason *give_up,
                            CUresult *result)
{
    struct gp_graph_clone *graph = graph_find(w->exec);
    *give_up = graph ? why_not_here(graph) : GP_GRAPH_BROKE_OFF;
    if (*give_up != GP_GRAPH_SPLITS)
        return false;
    *give_up = GP_GRAPH_BROKE_OFF;
    if (graph_may_run_again(graph) && is_to_be_measured(graph) &&
        launch_and_again(w, graph, result))
        return true;
    if (graph->whole != GP_GRAPH_SPLITS) {
        *give_up = graph_may_run_again(graph) ? GP_GRAPH_SPLITS : GP_GRAPH_NOT_AGAIN;
        return false;
    }
    gp_launch_series_is_own_run();
    return launch_split(w, result);
}

static struct gp_launch launch_of(const struct gp_launch *graph, const struct gp_graph_node *kernel)
{
    return (struct gp_launch){.function = kernel->function,
                              .stream = graph->stream,
                              .per_thread_stream = graph->per_thread_stream,
                              .of_graph = true,
                              .configuration = kernel->configuration};
}

/* Whether the code of all kernels is read for those that are measured: for the branches, or for the
 * second run of a graph that is launched as it is. */
static bool needs_all_code(const struct gp_graph_clone *graph)
{
    return !graph->spread || (graph->whole != GP_GRAPH_SPLITS && is_to_be_measured(graph));
}

static bool has_code(const struct gp_graph_node *n)
{
    return n->type == CU_GRAPH_NODE_TYPE_KERNEL && !n->disabled;
}

/* Facts of kernels are not asked for while the gate is locked. False where the code of all is
 * needed, and that of one is not to be read now. */
static bool prepare_kernels(const struct whole_launch *w)
{
    const struct gp_graph_clone *graph = graph_find(w->exec);
    const bool all = graph && gp_sampling_is_limited() && needs_all_code(graph);
    for (unsigned i = 0; graph && i < graph->order.count; i++) {
        const struct gp_graph_node *n = &graph->nodes[i];
        const struct gp_launch call = launch_of(&w->call, n);
        if ((all && has_code(n)) || (n->taken && n->only_timed)) {
            const bool is_read = gp_timing_prepare(&call, all);
            if (all && !is_read)
                return false;
        }
    }
    return true;
}

static void leave_out_all(const struct whole_launch *w)
{
    struct gp_graph_clone *graph = graph_find(w->exec);
    for (unsigned i = 0; graph && i < graph->order.count; i++) {
        struct gp_graph_node *n = &graph->nodes[i];
        const struct gp_launch call = launch_of(&w->call, n);
        if (n->taken)
            gp_sampling_left_out(&call, n->only_timed ? GP_ONLY_TIMED : GP_MEASURED);
        n->taken = false;
    }
    graph_left_out(w->exec);
}

/* The gate is unlocked. False where the graph is to be launched as it is. */
static bool launch_by_nodes(const struct whole_launch *w, CUresult *result)
{
    enum gp_passed_over why;
    if (!gp_launch_series_begins(w->call.stream, w->call.per_thread_stream, &why)) {
        graph_passed_over(w->exec, why);
        return false;
    }
    enum gp_graph_reason give_up;
    bool launched = launch_measured(w, &give_up, result);
    graph_passed_over(w->exec, GP_AS_A_WHOLE);
    gp_launch_series_ends();
    if (launched)
        return true;
    *result = gp_launch_plainly(&w->call);
    /* A reason that keeps the nodes from being launched, but not the whole, would do so every
     * time. */
    if (*result == CUDA_SUCCESS && give_up != GP_GRAPH_SPLITS) {
        graph_give_up(w->exec, give_up);
        graph_say(give_up);
    }
    return true;
}

/* ---- as it is, and timed --------------------------------------------------------------------- */

struct timed_whole {
    struct gp_launch call; /* of the graph's one kernel; else only its stream counts */
    struct whole_launch *whole;
    struct gp_timing timing;
    bool begun;
};

static CUresult run_timed(const struct gp_launch *call)
{
    struct timed_whole *t = (struct timed_whole *)call;
    gp_gate_enter();
    gp_blocking_noted(GP_MAY_WAIT);
    if (t->begun)
        gp_timing_starts(&t->timing);
    gp_added_pauses();
    CUresult result = run_whole(&t->whole->call);
    gp_added_resumes();
    if (t->begun)
        gp_timing_stops(&t->timing, result);
    gp_blocking_noted(GP_MAY_WAIT);
    gp_gate_leave();
    return result;
}

static void begin_timed_whole(struct timed_whole *t, const struct gp_graph_listing *l)
{
    struct gp_text name = {0};
    t->call = t->whole->call;
    t->begun = gp_timing_begins_whole(&t->timing, &t->call);
    if (!t->begun)
        return;
    if (l->all > 0)
        gp_kernel_add_name(l->first, &name);
    gp_timing_is_of(&t->timing, gp_whole_times_of(l->key, gp_text_string(&name), l->all,
                                                  gp_timing_device(&t->timing)));
    gp_text_free(&name);
}

static void begin_timed(struct timed_whole *t, const struct gp_graph_listing *l,
                        enum gp_passed_over *why)
{
    t->call = t->whole->call;
    if (l->is_one_kernel && l->count == 1) {
        t->call = launch_of(&t->whole->call, &l->kernels[0]);
        t->begun = gp_timing_begins(&t->timing, &t->call, why);
    } else if (l->key) {
        begin_timed_whole(t, l);
    }
}

/* Its kernels have no times of their own, unless it is but one: the program's work is not changed.
 */
static void launch_timed(struct whole_launch *w)
{
    struct gp_graph_listing l;
    struct timed_whole t = {.whole = w};
    enum gp_passed_over why = GP_FAILED;
    bool seen = graph_list_kernels(w->exec, &l);
    begin_timed(&t, &l, &why);
    w->result = run_timed(&t.call);
    if (t.begun)
        gp_timing_ends(&t.timing, w->result);
    bool recorded = l.is_one_kernel && t.begun && w->result == CUDA_SUCCESS;
    for (unsigned i = 0; i < l.count && !recorded; i++) {
        struct gp_launch call = launch_of(&w->call, &l.kernels[i]);
        if (w->result != CUDA_SUCCESS || l.is_one_kernel || !gp_timed_describe(&call, &why))
            graph_node_passed_over(&l.kernels[i], w->result == CUDA_SUCCESS ? why : GP_FAILED);
    }
    free(l.kernels);
    if (w->result == CUDA_SUCCESS && !seen)
        graph_say(GP_GRAPH_UNSEEN);
    if (w->result == CUDA_SUCCESS)
        gp_end_at_exit();
}

static CUresult run_between_events(const struct gp_launch *call)
{
    struct timed_whole *t = (struct timed_whole *)call;
    gp_blocking_noted(GP_MAY_WAIT);
    gp_timing_starts(&t->timing);
    CUresult result = run_whole(&t->whole->call);
    gp_timing_stops(&t->timing, result);
    gp_blocking_noted(GP_MAY_WAIT);
    return result;
}

/* A graph whose kernels cannot be measured has at least its own time. */
static void launch_as_it_is(struct whole_launch *w, const struct gp_graph_listing *l)
{
    struct timed_whole t = {.whole = w};
    if (l->key)
        begin_timed_whole(&t, l);
    t.call.run = run_between_events;
    w->result = gp_launch_plainly(t.begun ? &t.call : &w->call);
    if (t.begun)
        gp_timing_ends(&t.timing, w->result);
    if (t.begun && w->result == CUDA_SUCCESS)
        gp_end_at_exit();
}

/* ---- node by node ---------------------------------------------------------------------------- */

static void launch_or_split(void *whole)
{
    struct whole_launch *w = whole;
    enum gp_graph_reason why;
    if (gp_is_only_timed(w->call.stream)) {
        launch_timed(w);
        return;
    }
    gp_sampling_graph_begins(w->call.stream, w->call.per_thread_stream, w->kernels,
                             w->goes_by_nodes);
    struct gp_graph_listing listing;
    bool taken = graph_is_wanted(w->exec, &why, &w->unending, &listing);
    const bool by_nodes = taken && prepare_kernels(w) && gp_sampling_graph_may_begin();
    if (taken && !by_nodes)
        leave_out_all(w);
    gp_sampling_graph_launches();
    if (!by_nodes || !launch_by_nodes(w, &w->result)) {
        launch_as_it_is(w, &listing);
        if (w->result == CUDA_SUCCESS)
            graph_say(why);
    }
    if (taken)
        graph_launched(w->exec);
    gp_sampling_graph_ends();
}

/* While a stream is being captured nothing is measured. A launch into that stream does not run: it
 * is not counted. */
static void launch_beside_capture(void *whole)
{
    struct whole_launch *w = whole;
    enum gp_graph_reason why;
    struct gp_graph_listing listing = {0};
    bool runs = !gp_stream_is_capturing(w->call.stream, w->call.per_thread_stream, true);
    if (runs && graph_is_wanted(w->exec, &why, &w->unending, &listing)) {
        graph_passed_over(w->exec, GP_BESIDE_CAPTURE);
        graph_launched(w->exec);
    }
    launch_as_it_is(w, &listing);
    if (w->result == CUDA_SUCCESS && runs)
        graph_say(GP_GRAPH_BESIDE_CAPTURE);
}

/* Outside the window the launch is counted, and no more. */
static bool is_in_window(const struct whole_launch *w)
{
    if (!gp_window_is_limited())
        return true;
    if (gp_window_takes_graph(w->call.stream, w->call.per_thread_stream, w->kernels))
        return true;
    gp_session_count_launches(w->kernels);
    return false;
}

/* Launches beside it may be timed. */
static CUresult launch_outside(const struct whole_launch *w)
{
    gp_blocking_noted(GP_MAY_WAIT);
    CUresult result = gp_launch_plainly(&w->call);
    gp_blocking_noted(GP_MAY_WAIT);
    return result;
}

CUresult gp_graph_launch(CUgraphExec exec, CUstream stream, bool per_thread_stream,
                         PFN_cuGraphLaunch_v10000 real)
{
    struct whole_launch w = {
        .call = {.stream = stream, .per_thread_stream = per_thread_stream, .run = run_whole},
        .exec = exec,
        .real = real};
    if (!gp_session_measures())
        return gp_launch_plainly(&w.call);
    w.kernels = graph_kernel_count(exec, &w.goes_by_nodes);
    gp_detach_counts_graph(w.kernels);
    if (!is_in_window(&w))
        return launch_outside(&w);
    gp_run_internal_work(gp_captures() > 0 ? launch_beside_capture : launch_or_split, &w);
    return w.result;
}
