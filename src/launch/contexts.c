#include "launch/contexts.h"

#include "base/clock.h"
#include "base/log.h"
#include "gate/captures.h"
#include "gate/waits.h"
#include "launch/inside.h"
#include "memory/divided.h"
#include "memory/retired.h"
#include "memory/sharing.h"

#include <stdlib.h>
#include <utlist.h>

static struct gp_context *contexts;
static struct gp_gpu *gpus; /* never freed */

struct gp_context *contexts_first(void)
{
    return contexts;
}

const struct gp_gpu *gpus_first(void)
{
    return gpus;
}

static struct gp_context *find(CUcontext handle)
{
    struct gp_context *c;
    DL_SEARCH_SCALAR(contexts, c, handle, handle);
    return c;
}

bool context_push(const struct gp_context *c)
{
    return !c->dead && gp_cuda.cuCtxPushCurrent_v2(c->handle) == CUDA_SUCCESS;
}

/* Ends the pass of a kernel that was abandoned in it and has ended now. Its counts, of a kernel
 * that waited for the host, are dropped. */
void context_end_pass(struct gp_context *c)
{
    struct gp_reason why;
    if (c->in_pass)
        c->collection->collector->end(c->collection, &c->open_pass, true, &why);
    c->in_pass = false;
}

void say_without_hardware(bool instrumented, struct gp_reason why)
{
    static struct gp_say_limit once;
    gp_say_limited(&once, 1, "only times, shapes and %s are measured: %s",
                   instrumented ? "counters of instrumented code"
                                : "theoretical occupancy of launches",
                   why.text);
}

void context_read_all(struct gp_context *c, bool alive)
{
    if (alive) {
        c->busy = false; /* it is at rest now */
        context_end_pass(c);
    }
    c->in_pass = false;
    if (c->launches)
        drain_context(c, alive);
    /* A replay did not end, so that nothing can be read: the known part is recorded all the
     * same. */
    if (c->launches)
        records_settle(c, false);
    c->in_pass = false;
}

void context_close_collection(struct gp_context *c, bool alive)
{
    if (!c->collection)
        return;
    if (alive && c->launches)
        context_fetches_session(c, true);
    context_read_all(c, alive);
    if (c->on_trial.cause)
        say_without_hardware(c->collection->collector->passes(c->collection).instrumented,
                             c->on_trial);
    c->on_trial = GP_NO_REASON;
    c->collection->collector->close(c->collection, alive && !c->busy);
    c->collection = NULL;
    c->not_come = GP_NO_REASON;
    context_loses_session(c);
    if (gp_collectors_left_code())
        kernels_hold();
}

/* CUDA_ERROR_NOT_READY where the context does not come to rest, for which CUPTI would wait. At the
 * end its collection is closed all the same. */
static CUresult close_in_time(struct gp_context *c, bool at_end)
{
    if (!context_push(c)) {
        context_close_collection(c, false);
        return CUDA_SUCCESS;
    }
    CUresult rest = context_comes_to_rest(c, false, at_end);
    if (at_end || rest != CUDA_ERROR_NOT_READY)
        context_close_collection(c, rest == CUDA_SUCCESS);
    gp_context_pop();
    return rest;
}

/* Where the session is away CUPTI has nothing of the module in the context; but launches of its
 * kernels may wait there. */
static bool close_away(struct gp_context *c, const void *module)
{
    const struct gp_program_change change = {.module = module};
    if (!context_is_concerned(c, &change))
        return true;
    if (context_may_have_session(c, true))
        return close_in_time(c, false) != CUDA_ERROR_NOT_READY;
    const bool pushed = context_push(c);
    drain_before_change(c, &change,
                        pushed && gp_captures() == 0 && context_rests(c, true) == CUDA_SUCCESS);
    if (pushed)
        gp_context_pop();
    return true;
}

bool gp_contexts_close_collections(CUcontext context, const void *module)
{
    bool closed = true;
    struct gp_context *c;
    DL_FOREACH(contexts, c)
    {
        if (!c->collection || (context && c->handle != context))
            continue;
        closed = (module && context_is_away(c) ? close_away(c, module)
                                               : close_in_time(c, false) != CUDA_ERROR_NOT_READY) &&
                 closed;
    }
    return closed;
}

/* Whether it came to rest. */
static bool close_for_good(struct gp_context *c)
{
    const CUresult result = close_in_time(c, true);
    if (result == CUDA_ERROR_NOT_READY)
        kernels_hold();
    return result == CUDA_SUCCESS;
}

/* Contexts with a session come first: then it is free for the launches of the others. */
static bool close_at_end(bool away, const struct gp_context *last)
{
    bool rest = true;
    struct gp_context *c;
    DL_FOREACH(contexts, c)
    {
        if (c->collection && c != last && context_is_away(c) == away)
            rest = close_for_good(c) && rest;
    }
    return rest;
}

/* The context whose launches are read last; NULL where none waits. */
static struct gp_context *last_to_be_read(void)
{
    struct gp_context *c, *last = NULL;
    DL_FOREACH(contexts, c)
    {
        if (c->collection && c->launches && (!last || context_is_away(c) || !context_is_away(last)))
            last = c;
    }
    return last;
}

bool gp_contexts_are_concerned(const struct gp_program_change *change)
{
    const struct gp_context *c = contexts;
    while (c && !context_is_concerned(c, change))
        c = c->next;
    return c != NULL;
}

void gp_contexts_note_going(const struct gp_program_change *change)
{
    const struct gp_context *c;
    if (change->bytes)
        gp_divided_is_freed(change->address, change->bytes);
    DL_FOREACH(contexts, c)
    {
        held_note_freed(c, change);
    }
}

void gp_contexts_before_change(const struct gp_program_change *change, bool may_replay,
                               bool in_launch)
{
    struct gp_context *c;
    DL_FOREACH(contexts, c)
    {
        if (!context_is_concerned(c, change))
            continue;
        /* Beside a capture nothing is replayed, and to wait might end it. */
        bool pushed = context_push(c);
        bool at_rest =
            may_replay && pushed && gp_captures() == 0 && context_rests(c, true) == CUDA_SUCCESS;
        /* A new launch makes the session go to instrumented code: then all held launches are
         * counted there. In a batch one may be assumed to be like others, alone it is compared. */
        const bool counted = at_rest && !in_launch && context_fetches_session(c, true);
        if (counted &&
            (is_batch_quicker(c, change) || (c->snapshot && gp_snapshot_holds_parts(c->snapshot))))
            drain_context(c, true);
        else
            drain_before_change(c, change, at_rest);
        if (pushed)
            gp_context_pop();
    }
}

/* The context that holds launches which reach it, where only one does, and it is the current one.
 */
static struct gp_context *only_concerned(const struct gp_program_change *change)
{
    CUcontext current = NULL;
    struct gp_context *c, *found = NULL;
    if (gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS)
        return NULL;
    DL_FOREACH(contexts, c)
    {
        if (!context_is_concerned(c, change))
            continue;
        if (found || c->handle != current || c->dead)
            return NULL;
        found = c;
    }
    return found;
}

bool contexts_retire(const struct gp_program_change *change, bool *may_replay)
{
    struct gp_context *c = only_concerned(change);
    /* The driver would wait for peers as well. */
    if (!c || gp_captures() > 0 || gp_peers_of(c->handle, NULL, 0) > 0 ||
        gp_divided_is_written(change->address, 0))
        return false;
    *may_replay = context_rests(c, true) == CUDA_SUCCESS;
    if (!*may_replay || !search_held(c))
        return false;
    return gp_retire(change->address, c->device.total_memory);
}

bool contexts_keep(const struct gp_program_change *change)
{
    struct gp_context *c = contexts;
    while (c && !held_to_be_written(c, change->address, change->bytes))
        c = c->next;
    if (!c || !context_push(c))
        return false;
    bool kept = gp_retire_unwritten(change->address);
    gp_context_pop();
    return kept;
}

bool gp_contexts_collect(void)
{
    const struct gp_context *c = contexts;
    while (c && !c->collection)
        c = c->next;
    return c;
}

bool gp_context_is_known(CUcontext handle)
{
    return find(handle) != NULL;
}

void contexts_end(bool read)
{
    struct gp_context *c;
    if (read) {
        /* CUPTI may wait for a kernel that the program leaves behind. */
        struct gp_context *last = last_to_be_read();
        bool rest = close_at_end(false, last);
        rest = close_at_end(true, last) && rest;
        diagnosis_last_context(last);
        if ((!last || close_for_good(last)) && rest)
            gp_collectors_end();
        return;
    }
    DL_FOREACH(contexts, c)
    {
        context_close_collection(c, false);
    }
}

void contexts_drain_at_rest(void)
{
    struct gp_context *c;
    DL_FOREACH(contexts, c)
    {
        if (!c->collection || !records_wait(c) || context_is_held_up(c) ||
            !gp_cuda.cuCtxRecordEvent || !context_push(c))
            continue;
        if (context_rests(c, true) == CUDA_SUCCESS &&
            (held_first(c) ? context_fetches_session(c, true) : !context_is_away(c)))
            drain_context(c, true);
        gp_context_pop();
    }
}

static void destroy_events(struct gp_context *c)
{
    if (c->event)
        gp_cuda.cuEventDestroy_v2(c->event);
    if (c->asked)
        gp_cuda.cuEventDestroy_v2(c->asked);
    if (c->end)
        gp_cuda.cuEventDestroy_v2(c->end);
    for (size_t i = 0; i < GP_STARTS; i++)
        if (c->starts[i])
            gp_cuda.cuEventDestroy_v2(c->starts[i]);
}

static bool make_events(struct gp_context *c)
{
    bool made = gp_event_make(&c->event, CU_EVENT_DISABLE_TIMING) &&
                gp_event_make(&c->asked, CU_EVENT_DISABLE_TIMING) &&
                gp_event_make(&c->end, CU_EVENT_DEFAULT);
    for (size_t i = 0; made && i < GP_STARTS; i++)
        made = gp_event_make(&c->starts[i], CU_EVENT_DEFAULT);
    if (!made)
        destroy_events(c);
    return made;
}

/* NULL when out of memory. */
static struct gp_gpu *gpu_of(int ordinal)
{
    struct gp_gpu *g = gpus;
    while (g && g->ordinal != ordinal)
        g = g->next;
    if (g)
        return g;
    g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    g->ordinal = ordinal;
    stays_begin(&g->stays, gp_clock_seconds());
    g->next = gpus;
    gpus = g;
    return g;
}

struct gp_context *context_enter(CUcontext handle, struct gp_reason *why)
{
    struct gp_context *c = find(handle);
    if (c) {
        *why = GP_NO_REASON;
        return c->dead ? NULL : c;
    }
    CUdevice device;
    *why = GP_REASON_TEXT(CONTEXT_GONE, "no device is current");
    if (gp_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return NULL;
    *why = GP_REASON(NO_MEMORY);
    struct gp_gpu *gpu = gpu_of(device);
    c = gpu ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return NULL;
    c->handle = handle;
    c->gpu = gpu;
    *why = GP_REASON_TEXT(DRIVER_FAILED, "no event can be made to wait for");
    if (!make_events(c)) {
        free(c);
        return NULL;
    }
    device_describe(device, &c->device);
    c->time_limited = gp_device_attribute(device, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) != 0;
    gpu->contexts++;
    if (gpu->contexts > gpu->most_contexts)
        gpu->most_contexts = gpu->contexts;
    DL_APPEND(contexts, c);
    return c;
}

static struct gp_snapshot *open_once(struct gp_context *c, struct gp_snapshot **snapshot,
                                     bool for_many, struct gp_reason *why)
{
    if (!*snapshot && !c->no_snapshot.cause) {
        *snapshot = gp_snapshot_open(c->handle, for_many, why);
        if (!*snapshot)
            c->no_snapshot = *why;
    }
    *why = c->no_snapshot;
    return *snapshot;
}

struct gp_snapshot *context_snapshot(struct gp_context *c, struct gp_reason *why)
{
    return open_once(c, &c->snapshot, true, why);
}

struct gp_snapshot *context_graph_snapshot(struct gp_context *c, struct gp_reason *why)
{
    return open_once(c, &c->graph_snapshot, false, why);
}

void gp_context_leave(CUcontext handle)
{
    struct gp_context *c = find(handle);
    if (!c)
        return;
    DL_DELETE(contexts, c);
    ended_forget_context(handle);
    /* A wait would invalidate its captures, and the context may stay. */
    bool alive = context_push(c), captured = gp_captures_are_in(handle);
    bool at_rest = alive && !captured && context_rests(c, false) == CUDA_SUCCESS;
    context_close_collection(c, at_rest);
    if (c->gpu->last == c)
        c->gpu->last = NULL;
    c->gpu->contexts--;
    held_release_written(c, at_rest);
    gp_unending_forget(handle, at_rest);
    if (at_rest && gp_captures() == 0)
        gp_retired_free(handle);
    gp_retired_forget(handle);
    /* A thread is about to launch into it, wrongly: it may still need these. */
    bool needed = c->unwritten != NULL;
    if (needed)
        gp_snapshot_leave(c->snapshot);
    else
        gp_snapshot_close(c->snapshot, at_rest);
    gp_snapshot_close(c->graph_snapshot, at_rest);
    gp_collectors_leave(handle, at_rest || c->dead);
    clocks_free(&c->clocks, at_rest);
    if (at_rest)
        destroy_events(c);
    if (alive)
        gp_context_pop();
    free(c);
}

CUcontext gp_context_primary(CUdevice device)
{
    unsigned flags;
    int active = 0;
    if (gp_cuda.cuDevicePrimaryCtxGetState(device, &flags, &active) != CUDA_SUCCESS || !active)
        return NULL;
    CUcontext primary;
    if (gp_cuda.cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
        return NULL;
    if (gp_cuda.cuDevicePrimaryCtxRelease_v2)
        gp_cuda.cuDevicePrimaryCtxRelease_v2(device);
    else
        gp_cuda.cuDevicePrimaryCtxRelease(device);
    return primary;
}
