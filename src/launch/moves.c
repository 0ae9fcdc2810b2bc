/* The session of a GPU goes from context to context, as it counts in one at a time. To move it
 * takes a third of a second. So a context's launches wait for it, each with its copy of memory, in
 * a batch of their own, and it stays with a context until launches were read there, or for a
 * second; then it goes to the context whose launches have waited longest. Each context gets it once
 * in any case; then all moves together may take a tenth of the time. A launch that cannot wait is
 * only timed.
 *
 * Used with the gate locked. */
#include "launch/inside.h"
#include "launch/kernels.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "cuda/cupti.h"
#include "cuda/wait.h"
#include "gate/captures.h"
#include "gate/waits.h"
#include "memory/modules.h"

#include <math.h>
#include <utlist.h>

#define OTHERS_TIMEOUT 0.001 /* seconds for an event in an idle context: asked at every launch */
/* A launch waits so many seconds for the session, of the program's own time and in all, before it
 * is to go round. */
#define OWN_SECONDS 1.0
#define MOST_SECONDS 10.0
#define OTHERS_WORK 0.1 /* seconds that work of another context is waited for */
#define LEAST_WAIT 0.01 /* seconds until a context that is at work is asked again */

static bool counter_names(const struct gp_device *device, const char ***list, size_t *count)
{
    return gp_metrics_counters(results_metrics(), device, list, count);
}

bool context_is_away(const struct gp_context *c)
{
    return c->collection && c->collection->away;
}

bool context_is_full(const struct gp_context *c)
{
    return gp_collection_is_full(c->collection) || c->deferred_seconds > GP_MOST_DEFERRED ||
           (c->no_room && held_first(c));
}

/* While the session is with others most of the time may be theirs: that does not count. */
static bool has_waited(const struct gp_measurement *m)
{
    const double seconds = gp_clock_seconds() - m->since;
    return seconds - (gp_added_seconds() - m->added_before) > OWN_SECONDS || seconds > MOST_SECONDS;
}

bool context_is_due(const struct gp_context *c)
{
    const struct gp_measurement *first = records_first(c);
    if (!context_is_away(c))
        return records_are_due(c);
    return context_is_full(c) || (first && has_waited(first));
}

/* True for one of the first round: so many contexts as there were at one time get the session once,
 * older ones before those that come when others have gone. */
static bool is_of_first_round(const struct gp_context *c)
{
    const struct gp_context *o;
    unsigned before = c->gpu->first_stays;
    for (o = contexts_first(); o && o != c; o = o->next)
        before += o->gpu == c->gpu && !o->had_session;
    return !c->had_session && before < c->gpu->most_contexts;
}

/* ---- one move -------------------------------------------------------------------------------- */

/* Where collections have their counters side by side no session stays with one of them. */
static void note_session(struct gp_context *c)
{
    struct gp_gpu *g = c->gpu;
    g->facts = gp_collection_facts(c->collection);
    c->stay = c->had_session ? GP_LATER_STAY : is_of_first_round(c) ? GP_OF_ROUND : GP_FIRST_STAY;
    g->first_stays += c->stay == GP_OF_ROUND;
    c->had_session = true;
    c->unheld_since = 0;
    if (!g->facts.collector->leave)
        return;
    g->holder = g->last = c;
    stays_came(&g->stays, gp_clock_seconds());
}

void context_loses_session(struct gp_context *c)
{
    if (c->gpu->holder == c)
        c->gpu->holder = NULL;
}

/* The first stay of a context that another one in need has cut short does not count. */
static void note_cut_short(struct gp_context *c)
{
    struct gp_gpu *g = c->gpu;
    if (c->stay == GP_LATER_STAY || gp_clock_seconds() >= stays_end(&g->stays, 0))
        return;
    g->first_stays -= c->stay == GP_OF_ROUND;
    c->had_session = false;
}

/* The context is current and idle. One whose last replay did not end cannot be left in order. */
static void end_stay(struct gp_context *c, double *took)
{
    note_cut_short(c);
    context_read_all(c, true);
    const double began = gp_clock_seconds();
    if (context_goes_on(c)) {
        gp_collection_leave(c->collection);
        context_loses_session(c);
        if (gp_collectors_left_code())
            kernels_hold();
    } else {
        context_close_collection(c, false);
    }
    *took += gp_clock_seconds() - began;
}

/* Has the session leave the context, and adds the seconds to *took, but for those in which launches
 * were read. False where something is at work there, for which CUPTI would wait. */
static bool leave(struct gp_context *c, double *took)
{
    /* Nothing can be read while a stream is being captured. */
    if (gp_captures_are_in(c->handle))
        return false;
    if (!context_push(c)) {
        context_close_collection(c, false);
        return true;
    }
    CUresult rest = context_comes_to_rest(c, true, false);
    const bool left = rest != CUDA_ERROR_NOT_READY;
    c->busy = !left; /* the next launch asks again, and does not wait */
    if (rest == CUDA_SUCCESS)
        end_stay(c, took);
    else if (left)
        context_close_collection(c, false);
    gp_context_pop();
    return left;
}

/* Older drivers can only be waited for without a limit. */
static bool rests_already(struct gp_context *c)
{
    return gp_cuda.cuCtxRecordEvent && !gp_captures_are_in(c->handle) &&
           gp_wait_for_rest(c->handle, c->event, fmin(OTHERS_TIMEOUT, gp_wait_limit()), NULL) ==
               CUDA_SUCCESS;
}

/* Whether the session can leave now: without a wait that is worth a word, and no launch waits. */
static bool leaves_quickly(struct gp_context *c)
{
    if (!context_push(c))
        return true;
    const bool quickly = !records_wait(c) && rests_already(c);
    gp_context_pop();
    return quickly;
}

static CUresult await_work(struct gp_context *c, double most)
{
    const double began = gp_clock_seconds();
    CUresult rest = gp_wait_for_context(
        c->handle, c->asked, backoff_limit(fmin(most, gp_wait_limit()), c->others_backoff));
    backoff_note(&c->others_backoff, rest, gp_clock_seconds() - began);
    return rest;
}

/* CUPTI leaves the driver where nothing runs, also in contexts in which it counts nothing. */
static bool rests_without_session(struct gp_context *c, bool may_wait)
{
    if (c->dead)
        return true;
    if (context_is_held_up(c) || gp_captures_are_in(c->handle))
        return false;
    if (!context_push(c))
        return true;
    const bool rests =
        await_work(c, may_wait ? OTHERS_WORK : OTHERS_TIMEOUT) != CUDA_ERROR_NOT_READY;
    gp_context_pop();
    return rests;
}

static bool leaves_session(struct gp_context *c, bool may_wait)
{
    double took = 0;
    return c->collection->collector->leave && context_goes_on(c) && !context_is_held_up(c) &&
           (may_wait || leaves_quickly(c)) && leave(c, &took);
}

static bool has_session(const struct gp_context *c)
{
    return c->collection && !context_is_away(c);
}

bool contexts_leave_sessions(bool may_wait)
{
    struct gp_context *c;
    /* Older drivers can only be waited for without a limit. */
    if (!gp_cuda.cuCtxRecordEvent)
        return false;
    DL_FOREACH(contexts_first(), c)
    {
        if (!has_session(c) && !rests_without_session(c, may_wait))
            return false;
    }
    DL_FOREACH(contexts_first(), c)
    {
        if (has_session(c) && !leaves_session(c, may_wait))
            return false;
    }
    return true;
}

/* False with the reason in *why, which is none where the context that has the session is at work.
 * The context is current and idle. */
static bool move_to(struct gp_context *c, struct gp_reason *why)
{
    struct gp_gpu *g = c->gpu;
    static bool started;
    const bool is_switch = g->facts.collector && g->last != c;
    double took = 0;
    *why = GP_NO_REASON;
    if (g->holder && g->holder != c && !leave(g->holder, &took))
        return false;
    const double began = gp_clock_seconds();
    bool came;
    if (c->collection) {
        came = gp_collection_come(c->collection, why);
    } else {
        c->collection = gp_collection_open(c->handle, &c->device, counter_names, why);
        came = c->collection != NULL;
        if (came)
            results_device(&c->device);
    }
    if (came) {
        note_session(c);
        detach_session_came(gp_clock_seconds() - began);
    }
    if (!started) {
        /* The variables of modules that are there already, once. */
        gp_modules_resolve(c->handle);
        gp_added_start_up(gp_clock_seconds() - began);
    } else {
        limit_took(GP_LIMIT_SWITCH, took + gp_clock_seconds() - began);
    }
    started = true;
    if (is_switch && g->facts.collector->leave)
        stays_switched(&g->stays, took + gp_clock_seconds() - began);
    return came;
}

/* ---- whether, and where to ------------------------------------------------------------------- */

static bool has_new_kernel(const struct gp_context *c)
{
    const struct gp_measurement *m = c->launches;
    while (m && (!m->kernel_name || tally_kernel_is(m->kernel_name, GP_KERNEL_COUNTED)))
        m = m->next;
    return m != NULL;
}

/* A context that is alone takes the session from nobody. Else each gets it once in a first round;
 * one that comes later only for a kernel that was not counted yet. */
static bool has_it_in_any_case(const struct gp_context *c)
{
    return c->gpu->contexts == 1 || is_of_first_round(c) || (!c->had_session && has_new_kernel(c));
}

/* 0 where no launch waits. */
static double waits_since(const struct gp_context *c)
{
    const struct gp_measurement *first = records_first(c);
    return first ? first->since : 0;
}

bool context_may_have_session(const struct gp_context *c, bool in_need)
{
    const struct gp_gpu *g = c->gpu;
    const double now = gp_clock_seconds();
    if (!context_is_away(c))
        return c->collection != NULL;
    return !c->not_come.cause && limit_permits_switch() &&
           now >= stays_permit(&g->stays, has_it_in_any_case(c)) &&
           (in_need || !g->holder || now >= stays_end(&g->stays, waits_since(c)));
}

double context_awaits_session(const struct gp_context *c)
{
    const struct gp_gpu *g = c->gpu;
    const double permitted =
        fmax(stays_permit(&g->stays, has_it_in_any_case(c)), gp_clock_seconds() + LEAST_WAIT);
    return g->holder ? fmax(permitted, stays_end(&g->stays, waits_since(c))) : permitted;
}

bool context_fetches_session(struct gp_context *c, bool in_need)
{
    struct gp_reason why;
    if (!context_is_away(c) || !context_may_have_session(c, in_need))
        return c->collection && !context_is_away(c);
    bool came = move_to(c, &why);
    if (!came)
        c->not_come = why;
    return came;
}

/* Since when the context wants the session, which is away; INFINITY: it does not. */
static double wants_since(const struct gp_context *c)
{
    if (!context_is_away(c))
        return INFINITY;
    if (context_is_due(c))
        return waits_since(c);
    /* Launches that wait show more kernels if they wait until they are due. */
    return c->unheld_since > 0 && !records_wait(c) ? c->unheld_since : INFINITY;
}

/* The context on the GPU that wants it longest, and may have it; NULL: there is none. */
static struct gp_context *next_on(const struct gp_gpu *g)
{
    struct gp_context *c, *next = NULL;
    double since = INFINITY;
    DL_FOREACH(contexts_first(), c)
    {
        if (c->gpu != g || c->dead || wants_since(c) >= since ||
            !context_may_have_session(c, false) || context_is_held_up(c))
            continue;
        since = wants_since(c);
        next = c;
    }
    return next;
}

/* CUPTI waits for the context: where something runs, or a kernel was abandoned, not now. */
static void read_if_at_rest(struct gp_context *c)
{
    if (context_is_held_up(c) || !context_push(c))
        return;
    if (rests_already(c) && context_fetches_session(c, false))
        drain_context(c, true);
    gp_context_pop();
}

/* The session goes to the context that has waited longest, where that is at rest; then to this one,
 * which is current and idle, where it may have it at once. */
static void go_round(struct gp_context *c)
{
    struct gp_context *next = next_on(c->gpu);
    if (next && next != c)
        read_if_at_rest(next);
    context_fetches_session(c, false);
}

/* ---- before a launch, and behind it ---------------------------------------------------------- */

static bool describe(struct gp_context *c, struct gp_reason *why)
{
    /* Not when it was entered: CUPTI of CUDA 12 waits here for all that runs in the context. */
    if (!gp_cupti_find(why))
        return false;
    gp_cupti_say_file();
    if (c->described)
        return true;
    const double began = gp_clock_seconds();
    gp_collector_describe(&c->device);
    gp_added_start_up(gp_clock_seconds() - began); /* the first one has CUPTI come */
    c->described = true;
    return true;
}

/* True for the first context of all, and where a collection was only closed for a while; and where
 * the context that had the session has gone. */
static bool begins_with_session(const struct gp_context *c)
{
    const struct gp_gpu *g = c->gpu;
    return !g->facts.collector || !g->facts.collector->leave || g->last == c ||
           (!g->last && has_it_in_any_case(c));
}

static bool open_collection(struct gp_context *c, struct gp_reason *why)
{
    const struct gp_gpu *g = c->gpu;
    *why = GP_NO_REASON;
    if (begins_with_session(c))
        return move_to(c, why);
    c->collection = gp_collection_open_away(c->handle, &c->device, counter_names, &g->facts, why);
    if (c->collection)
        results_device(&c->device);
    return c->collection != NULL;
}

/* It was to come, and could not be had. */
static bool closes_in_vain(struct gp_context *c, struct gp_reason *why)
{
    *why = c->not_come;
    if (why->cause)
        context_close_collection(c, true);
    return why->cause;
}

bool context_collects(struct gp_context *c, struct gp_reason *why)
{
    *why = GP_NO_REASON;
    if (tool_at_work() || closes_in_vain(c, why))
        return false;
    if (!c->collection && !(describe(c, why) && open_collection(c, why)))
        return false;
    if (context_is_away(c) && wants_since(c) < INFINITY)
        go_round(c);
    if (!context_is_away(c))
        context_end_pass(c);
    else if (gp_collection_is_full(c->collection) && !held_first(c))
        drain_context(c, true); /* of launches that were only timed */
    return !closes_in_vain(c, why);
}

void context_notes_launch(struct gp_context *c)
{
    if (c->gpu->holder == c)
        stays_used(&c->gpu->stays, gp_clock_seconds());
}

void context_awaits_others(const struct gp_context *c)
{
    struct gp_context *o;
    DL_FOREACH(contexts_first(), o)
    {
        if (o == c || o->gpu != c->gpu || !gp_cuda.cuCtxRecordEvent || context_is_held_up(o) ||
            gp_captures_are_in(o->handle) || !context_push(o))
            continue;
        await_work(o, OTHERS_WORK);
        gp_context_pop();
    }
}

void contexts_read_others(const struct gp_context *context)
{
    struct gp_context *c;
    for (const struct gp_gpu *g = gpus_first(); g; g = g->next)
        if ((c = next_on(g)) && c != context)
            read_if_at_rest(c);
    DL_FOREACH(contexts_first(), c)
    {
        if (c != context && c->collection && !context_is_away(c) && records_wait(c) &&
            records_are_due(c))
            read_if_at_rest(c);
    }
}

void contexts_drain_other_gpus(const struct gp_context *beside)
{
    struct gp_context *c;
    DL_FOREACH(contexts_first(), c)
    {
        if (c->gpu != beside->gpu && held_first(c) && gp_snapshot_holds_parts(c->snapshot))
            read_if_at_rest(c);
    }
}
