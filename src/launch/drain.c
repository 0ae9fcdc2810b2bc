#include "launch/drain.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "gate/captures.h"
#include "gate/waits.h"
#include "launch/kept_launch.h"
#include "launch/session.h"
#include "launch/settings.h"
#include "memory/buffers.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Milliseconds that a batch takes beside its replays, and that a launch takes which is compared by
 * itself; times that instrumented code is slower, where that is not known. */
#define BATCH_MS 45.0
#define ALONE_MS 0.5
#define ALONE_SLOWDOWN 15.0

#define LED_FURTHER "its memory led to other memory, of which there was no copy"
#define NOT_ENDED "another replay did not end before it was measured"

struct gp_held {
    struct gp_measurement measurement;
    struct gp_launch *call;
    void *parameters;
    struct gp_held_copy *copy;
    struct gp_pending *record;
    struct gp_clock *clock; /* of its own run */
    bool deferred;          /* no pass of it was made yet */
    atomic_bool under_way;  /* its thread is about to launch it: it cannot be released */
    bool given_up;          /* while it was */
    struct gp_held *prev, *next;
};

static atomic_uint held_launches; /* in all contexts */

bool gp_any_held(void)
{
    return atomic_load_explicit(&held_launches, memory_order_relaxed) > 0;
}

bool gp_may_be_held(struct gp_measurement *m)
{
    const struct gp_device *device = &m->context->device;
    return m->snapshot && m->context->collector->sweep && m->run.parameters && !gp_user.at_once &&
           !gp_snapshot_not_to_be_held(m->snapshot) &&
           !gp_kernel_may_use_textures(m->kernel, 10 * device->cc_major + device->cc_minor);
}

static void free_held(struct gp_held *h)
{
    free(h->call);
    free(h->parameters);
    free(h);
}

/* Keeps the launch with its parameters; it is in no list yet. */
static struct gp_held *keep(const struct gp_measurement *m)
{
    struct gp_held *h = calloc(1, sizeof(*h));
    if (!h)
        return NULL;
    h->call = gp_launch_keep(m->call, m->run.parameters, m->run.parameters_size);
    h->parameters = malloc(m->run.parameters_size + 1);
    if (!h->call || !h->parameters) {
        free_held(h);
        return NULL;
    }
    if (m->run.parameters_size)
        memcpy(h->parameters, m->run.parameters, m->run.parameters_size);
    h->measurement = *m;
    h->measurement.call = h->call;
    h->measurement.run.parameters = h->parameters;
    h->measurement.run.empty_caches_data = &h->measurement;
    return h;
}

static void enter(struct gp_held *h, struct gp_held_copy *copy)
{
    h->copy = copy;
    DL_APPEND(h->measurement.context->held, h);
    /* Passes are to come, if there was none: before its module goes. */
    h->measurement.kernel->collected = true;
    atomic_fetch_add(&held_launches, 1);
}

bool gp_hold(struct gp_measurement *m, struct gp_pending *record)
{
    struct gp_held *h = keep(m);
    struct gp_held_copy *copy = h ? gp_snapshot_hold(m->snapshot) : NULL;
    if (!copy) {
        if (h)
            free_held(h);
        return false;
    }
    h->record = record;
    enter(h, copy);
    return true;
}

struct gp_held *gp_hold_unmade(struct gp_measurement *m, struct gp_held_copy *copy, double started)
{
    struct gp_context *c = m->context;
    struct gp_held *h = keep(m);
    if (!h)
        return NULL;
    h->clock = gp_clock_take(&c->clocks);
    if (!h->clock) {
        free_held(h);
        return NULL;
    }
    h->measurement.slot = c->collector->slot(c->collection);
    h->record = gp_measurement_record(&h->measurement, gp_session_next_launch(), started);
    gp_pending_defer(h->record);
    h->deferred = true;
    atomic_store(&h->under_way, true);
    enter(h, copy);
    return h;
}

CUresult gp_launch_held(struct gp_held *h, const struct gp_launch *call)
{
    CUresult copied = gp_held_copy_make_on(h->measurement.snapshot, h->copy, call->stream,
                                           call->per_thread_stream);
    if (gp_snapshot_hold_up_on(h->measurement.snapshot, call->stream, call->per_thread_stream,
                               gp_user.flush_caches))
        gp_clock_start(h->clock, call);
    gp_added_pauses();
    CUresult result = call->run(call);
    gp_added_resumes();
    gp_clock_stop(h->clock, call);
    if (copied != CUDA_SUCCESS || result != CUDA_SUCCESS)
        h->measurement.broken_off = gp_cuda_error(copied != CUDA_SUCCESS ? copied : result);
    atomic_store(&h->under_way, false);
    return result;
}

/* The launch needs its copy no more; but one that is under way still writes it. */
static void release(struct gp_context *c, struct gp_held *h)
{
    h->given_up = true;
    h->record = NULL;
    if (atomic_load(&h->under_way))
        return;
    DL_DELETE(c->held, h);
    gp_snapshot_release(h->measurement.snapshot, h->copy);
    gp_clock_give_back(&c->clocks, h->clock);
    free_held(h);
    atomic_fetch_sub(&held_launches, 1);
}

static const char captured[] = "a stream was being captured before it was measured";
static const char at_work[] = "other work on the GPU did not end before it was measured";

/* Why the context is not at rest. It may be there all the same: then it is current. */
static const char *why_not_at_rest(const struct gp_context *c)
{
    CUcontext current = NULL;
    bool there =
        !c->dead && gp_cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == c->handle;
    if (there && gp_captures_are_in(c->handle))
        return captured;
    if (there &&
        (gp_unending_runs(c->handle) || gp_cuda.cuEventQuery(c->event) == CUDA_ERROR_NOT_READY))
        return at_work;
    return "its context was gone before it was measured";
}

/* Why nothing can be replayed in the context now; NULL where it can. */
static const char *not_to_be_replayed(const struct gp_context *c, bool alive)
{
    if (!alive || c->dead)
        return why_not_at_rest(c);
    if (c->busy)
        return at_work;
    if (gp_captures() > 0)
        return captured;
    const char *barred = gp_memory_replay_barred();
    return barred ? barred : gp_context_disturbed(c);
}

/* The passes of a launch that the collector wants now. */
static void replay(struct gp_held *h, bool made)
{
    struct gp_measurement *m = &h->measurement;
    double start = gp_clock_seconds();
    unsigned runs = m->runs;
    m->broken_off = NULL; /* another way may not break off */
    const char *why;
    if (!gp_snapshot_resume(m->snapshot, h->copy, &why)) {
        m->broken_off = why;
        m->run.held = false;
    } else {
        gp_replay_passes(m, made);
        gp_put_back_final_state(m);
    }
    gp_snapshot_done(m->snapshot);
    if (m->runs != runs || m->broken_off)
        gp_pending_amend(h->record, m->runs, 1e3 * (gp_clock_seconds() - start), m->restored_bytes,
                         m->broken_off);
}

/* Whether the copy has all that the launch reaches, which shows now: the launch was not waited
 * for. */
static bool is_copy_whole(struct gp_held *h)
{
    struct gp_measurement *m = &h->measurement;
    bool whole = false;
    const char *why;
    if (!gp_held_copy_is_whole(m->snapshot, h->copy, &whole, &why)) {
        m->broken_off = why;
    } else if (!whole) {
        m->broken_off = LED_FURTHER;
        gp_kernel_reached(m->kernel, true);
    }
    return whole;
}

/* The time of the own run, where it is not the first that is known of such launches: beside other
 * work it would be too long, and nothing would tell. */
static void take_time(struct gp_held *h)
{
    struct gp_measurement *m = &h->measurement;
    float ms = gp_clock_read(h->clock) - m->context->empty_ms;
    if (ms <= 0 || gp_times_least(&m->kernel->times, m->run.shape) == 0)
        return;
    m->run.native_ms = ms;
    m->seconds = ms / 1e3;
}

static void replay_from_start(struct gp_held *h)
{
    struct gp_measurement *m = &h->measurement;
    const char *why;
    if (!gp_snapshot_resume(m->snapshot, h->copy, &why)) {
        m->broken_off = why;
        return;
    }
    take_time(h);
    if (m->run.native_ms > 0 || gp_time_replay(m))
        gp_replay_passes(m, true);
    if (!m->broken_off)
        gp_check_time(m);
    gp_put_back_final_state(m);
}

/* The first passes of a launch that was not waited for; others make them at the launch. */
static void measure_deferred(struct gp_held *h)
{
    struct gp_measurement *m = &h->measurement;
    double start = gp_clock_seconds();
    if (!m->broken_off && is_copy_whole(h))
        replay_from_start(h);
    gp_snapshot_done(m->snapshot);
    h->deferred = false;
    gp_pending_time(h->record, rint(1e6 * m->run.native_ms));
    gp_pending_amend(h->record, m->runs, 1e3 * (gp_clock_seconds() - start), m->restored_bytes,
                     m->broken_off);
}

static bool can_go_on(const struct gp_context *c)
{
    return !c->dead && !c->busy;
}

/* More is to be had of it. One that was given up has no slot any more. */
static bool is_open(const struct gp_context *c, const struct gp_held *h)
{
    return !h->given_up &&
           (h->deferred || c->collector->state(c->collection, h->measurement.slot).open);
}

/* Nothing more is to be had of the launches that are held. */
static void give_up(struct gp_context *c, const char *why)
{
    struct gp_held *h, *next;
    c->deferred_seconds = 0;
    DL_FOREACH_SAFE(c->held, h, next)
    {
        if (why && is_open(c, h))
            gp_pending_amend(h->record, h->measurement.runs, 0, h->measurement.restored_bytes, why);
        release(c, h);
    }
}

void gp_drain(struct gp_context *c, bool alive)
{
    struct gp_held *h;
    if (alive)
        c->busy = false; /* abandoned kernels there have ended: the context is idle */
    const char *why = c->held ? not_to_be_replayed(c, alive) : NULL;
    DL_FOREACH(c->held, h)
    {
        if (!why && can_go_on(c) && h->deferred && !h->given_up)
            measure_deferred(h);
    }
    for (unsigned sweep = 1;
         c->held && !why && can_go_on(c) && c->collector->sweep(c->collection, sweep); sweep++) {
        DL_FOREACH(c->held, h)
        {
            if (can_go_on(c) && is_open(c, h))
                replay(h, false);
        }
    }
    if (!why && !can_go_on(c))
        why = NOT_ENDED;
    give_up(c, why);
    if (!c->busy)
        gp_pending_settle(&c->pending, c->collector, c->collection, alive && !c->dead);
}

static bool concerns(const struct gp_change *change, const struct gp_held *h)
{
    if (change->bytes)
        return gp_held_copy_reaches(h->copy, change->address, change->bytes);
    if (change->function)
        return gp_kernel_is(h->measurement.kernel, change->function);
    return !change->stream || change->stream == h->call->stream;
}

/* To be compared with others by itself: a launch in instrumented code. */
static double alone_ms(const struct gp_run *run)
{
    return ALONE_MS + run->native_ms * (run->cost->sass > 0 ? run->cost->sass : ALONE_SLOWDOWN);
}

bool gp_is_batch_quicker(const struct gp_context *c, const struct gp_change *change)
{
    const struct gp_held *h;
    double alone = 0;
    DL_FOREACH(c->held, h)
    {
        if (!concerns(change, h))
            continue;
        alone += alone_ms(&h->measurement.run);
        if (alone > BATCH_MS || !c->collector->state(c->collection, h->measurement.slot).familiar)
            return true;
    }
    return false;
}

bool gp_is_concerned(const struct gp_context *c, const struct gp_change *change)
{
    const struct gp_held *h = c->held;
    while (h && !concerns(change, h))
        h = h->next;
    return h != NULL;
}

void gp_drain_before_change(struct gp_context *c, const struct gp_change *change, bool alive)
{
    struct gp_held *h, *next;
    if (alive)
        c->busy = false;
    const char *why = not_to_be_replayed(c, alive);
    DL_FOREACH_SAFE(c->held, h, next)
    {
        if (!concerns(change, h))
            continue;
        if (!why && can_go_on(c) && !h->given_up) {
            h->measurement.run.held = false;
            if (h->deferred)
                measure_deferred(h);
            else
                replay(h, true);
        } else {
            gp_pending_amend(h->record, h->measurement.runs, 0, h->measurement.restored_bytes,
                             why ? why : NOT_ENDED);
        }
        release(c, h);
    }
}
