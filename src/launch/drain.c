#include "launch/drain.h"

#include "base/clock.h"
#include "base/log.h"
#include "gate/captures.h"
#include "gate/waits.h"
#include "launch/deferred.h"
#include "launch/held.h"
#include "launch/session.h"
#include "launch/settings.h"
#include "memory/buffers.h"
#include "memory/retired.h"

#include <math.h>
#include <utlist.h>

/* Milliseconds that a batch takes beside its replays, and that a launch takes which is compared by
 * itself; times that instrumented code is slower, where that is not known. */
#define BATCH_MS 45.0
#define ALONE_MS 1.7
#define ALONE_SLOWDOWN 15.0

/* Of sweeps over the launches: in the second one those are counted by themselves that had a wrong
 * sum together. */
#define ROUNDS 2

#define CAPTURED \
    GP_REASON_TEXT(IN_CAPTURE, "a stream was being captured before the launch was measured")
#define AT_WORK                                                                            \
    GP_REASON_TEXT(BESIDE_WORK, "other work on the GPU did not end before the launch was " \
                                "measured")
#define NOT_ENDED \
    GP_REASON_TEXT(BESIDE_WORK, "another replay did not end before the launch was measured")

/* Times that lost counters are reported. */
#define MOST_LOST 3

bool gp_may_be_held(struct gp_measurement *m)
{
    const struct gp_device *device = &m->context->device;
    return m->snapshot && m->context->collector->sweep && m->run.parameters && !gp_user.at_once &&
           !gp_snapshot_not_to_be_held(m->snapshot).cause &&
           !gp_kernel_may_use_textures(m->kernel, 10 * device->cc_major + device->cc_minor);
}

bool gp_hold(struct gp_measurement *m, struct gp_pending *record)
{
    struct gp_held *h = gp_held_keep(m);
    struct gp_held_copy *copy = h ? gp_snapshot_hold(m->snapshot) : NULL;
    if (!copy) {
        if (h)
            gp_held_free(h);
        return false;
    }
    h->record = record;
    gp_held_enter(h, copy);
    return true;
}

/* Why the context is not at rest. It may be there all the same: then it is current. */
static struct gp_reason why_not_at_rest(const struct gp_context *c)
{
    CUcontext current = NULL;
    bool there =
        !c->dead && gp_cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == c->handle;
    if (there && gp_captures() > 0)
        return CAPTURED;
    if (there &&
        (gp_unending_runs(c->handle) || gp_cuda.cuEventQuery(c->event) == CUDA_ERROR_NOT_READY))
        return AT_WORK;
    return GP_REASON(CONTEXT_GONE);
}

/* Why nothing can be replayed in the context now; none where it can. */
static struct gp_reason not_to_be_replayed(const struct gp_context *c, bool alive)
{
    if (!alive || c->dead)
        return why_not_at_rest(c);
    if (c->busy)
        return AT_WORK;
    if (gp_captures() > 0)
        return CAPTURED;
    struct gp_reason barred = gp_memory_replay_barred();
    return barred.cause ? barred : gp_context_disturbed(c);
}

/* The passes of a launch that the collector wants now. */
static void replay(struct gp_held *h, bool made)
{
    struct gp_measurement *m = &h->measurement;
    double start = gp_clock_seconds();
    unsigned runs = m->runs;
    m->broken_off = GP_NO_REASON; /* another way may not break off */
    gp_replay_passes(m, made);
    if (!m->broken_off.cause && gp_check_time_again(m))
        gp_pending_time(h->record, rint(1e6 * m->run.native_ms));
    if (m->runs != runs || m->broken_off.cause)
        gp_pending_amend(h->record, m->runs, 1e3 * (gp_clock_seconds() - start), m->restored_bytes,
                         m->broken_off);
}

/* Memory becomes as the program's own launches have left it. A kernel that did not end may
 * still be writing some of it. */
static void put_back(struct gp_context *c)
{
    struct gp_reason why;
    if (!c->snapshot || c->dead)
        return;
    if (!gp_snapshot_put_back(c->snapshot, !c->busy, &why) && gp_session_measures())
        gp_not_put_back("a replay", why);
    gp_snapshot_done(c->snapshot);
}

static struct gp_reason why_not_gone_on(const struct gp_context *c)
{
    return c->dead ? GP_REASON(CONTEXT_GONE) : NOT_ENDED;
}

/* More is to be had of it. */
static bool is_open(const struct gp_context *c, const struct gp_held *h)
{
    return h->deferred || c->collector->state(c->collection, h->measurement.slot).open;
}

/* Nothing more is to be had of it, for that reason if there is one. */
static void drop(struct gp_context *c, struct gp_held *h, struct gp_reason why)
{
    if (why.cause) {
        gp_pending_amend(h->record, h->measurement.runs, 0, h->measurement.restored_bytes, why);
        c->lost++;
        c->why_lost = why;
    }
    gp_held_release(c, h);
}

static void say_lost(struct gp_context *c)
{
    static struct gp_say_limit once;
    if (c->lost)
        gp_say_limited(&once, MOST_LOST, "counters of %u launch%s are lost: %s", c->lost,
                       c->lost == 1 ? "" : "es", c->why_lost.text);
    c->lost = 0;
}

static void drop_all(struct gp_context *c, struct gp_reason why)
{
    struct gp_held *h, *next;
    c->deferred_seconds = 0;
    DL_FOREACH_SAFE(c->held, h, next)
    drop(c, h, is_open(c, h) ? why : GP_NO_REASON);
}

/* Where the gate could not be locked, a launch may be under way still. */
static void measure_deferred(struct gp_context *c)
{
    struct gp_held *h, *next;
    DL_FOREACH_SAFE(c->held, h, next)
    {
        if (!gp_context_goes_on(c) || !h->deferred)
            continue;
        if (atomic_load(&h->under_way))
            drop(c, h, AT_WORK);
        else
            gp_measure_deferred(h);
    }
}

/* No launch reaches it any more. A capture would end by it. */
static void free_retired(const struct gp_context *c, bool alive)
{
    if (alive && gp_context_goes_on(c) && !c->held && gp_captures() == 0)
        gp_retired_free(c->handle);
}

static bool can_be_replayed(const struct gp_context *c, const struct gp_held *h)
{
    return gp_context_goes_on(c) && c->collector->state(c->collection, h->measurement.slot).open;
}

/* Those of which it is to be seen first whether they end come first: then a row of launches follows
 * in which nothing else runs. */
static void replay_all(struct gp_context *c)
{
    struct gp_held *h;
    for (int in_row = 0; in_row < 2; in_row++) {
        DL_FOREACH(c->held, h)
        {
            struct gp_measurement *m = &h->measurement;
            if (!can_be_replayed(c, h) || gp_is_to_be_rehearsed(m) == (in_row != 0))
                continue;
            m->run.in_row = in_row;
            replay(h, false);
        }
    }
}

static void sweep_over(struct gp_context *c)
{
    for (unsigned sweep = 1;
         c->held && gp_context_goes_on(c) && c->collector->sweep(c->collection, sweep); sweep++)
        replay_all(c);
}

void gp_drain(struct gp_context *c, bool alive)
{
    if (alive)
        c->busy = false; /* abandoned kernels there have ended: the context is idle */
    /* While a stream is captured nobody has waited for the context. */
    gp_held_release_written(c, alive && gp_captures() == 0);
    struct gp_reason why = c->held ? not_to_be_replayed(c, alive) : GP_NO_REASON;
    if (!why.cause)
        measure_deferred(c);
    for (unsigned round = 0; !why.cause && round < ROUNDS; round++)
        sweep_over(c);
    put_back(c);
    if (!why.cause && !gp_context_goes_on(c))
        why = why_not_gone_on(c);
    drop_all(c, why);
    say_lost(c);
    if (!c->busy)
        gp_pending_settle(&c->pending, c->collector, c->collection, alive && !c->dead);
    free_retired(c, alive);
}

static bool concerns(const struct gp_program_change *change, const struct gp_held *h)
{
    if (change->bytes)
        return gp_held_copy_reaches(h->copy, change->address, change->bytes);
    if (change->function)
        return gp_kernel_is(h->measurement.kernel, change->function);
    return !change->stream || change->stream == h->call->stream;
}

bool gp_search_held(struct gp_context *c)
{
    struct gp_held *h;
    DL_FOREACH(c->held, h)
    {
        if (!h->deferred || h->whole || h->measurement.broken_off.cause)
            continue;
        if (atomic_load(&h->under_way))
            return false;
        gp_search_deferred(h); /* where it leads further it is not replayed */
    }
    return true;
}

void gp_note_freed(const struct gp_context *c, const struct gp_program_change *change)
{
    const struct gp_held *h = c->held;
    while (h && (!h->deferred || h->whole))
        h = h->next;
    if (!c->snapshot || !change->bytes)
        return;
    if (h)
        gp_snapshot_note_freed(c->snapshot, change->address, change->bytes);
    else
        gp_snapshot_forget_freed(c->snapshot);
}

/* To be compared with others by itself: a launch in instrumented code. */
static double alone_ms(const struct gp_run *run)
{
    return ALONE_MS + run->native_ms * (run->cost->sass > 0 ? run->cost->sass : ALONE_SLOWDOWN);
}

bool gp_is_batch_quicker(const struct gp_context *c, const struct gp_program_change *change)
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

bool gp_is_concerned(const struct gp_context *c, const struct gp_program_change *change)
{
    const struct gp_held *h = c->held;
    while (h && !concerns(change, h))
        h = h->next;
    /* Where everything changes the room of those that were given up is wanted back, too, and memory
     * that they kept. */
    bool all = !change->bytes && !change->function && !change->stream;
    return h || (all && (c->unwritten || gp_retired_any()));
}

/* The further passes of a launch, all at once; those that it makes at all, where it was deferred.
 */
static void replay_alone(struct gp_held *h)
{
    h->measurement.run.held = false;
    if (h->deferred)
        gp_measure_deferred(h);
    else
        replay(h, true);
}

static bool any_deferred(const struct gp_context *c)
{
    const struct gp_held *h = c->held;
    while (h && !h->deferred)
        h = h->next;
    return h != NULL;
}

void gp_drain_before_change(struct gp_context *c, const struct gp_program_change *change,
                            bool alive)
{
    struct gp_held *h, *next;
    if (alive)
        c->busy = false;
    gp_held_release_written(c, alive);
    struct gp_reason why = not_to_be_replayed(c, alive);
    DL_FOREACH_SAFE(c->held, h, next)
    {
        if (!concerns(change, h))
            continue;
        struct gp_reason not_now = why.cause                    ? why
                                   : !gp_context_goes_on(c)     ? why_not_gone_on(c)
                                   : atomic_load(&h->under_way) ? AT_WORK
                                                                : GP_NO_REASON;
        if (not_now.cause) {
            drop(c, h, not_now);
        } else {
            replay_alone(h);
            put_back(c);
            gp_held_release(c, h);
        }
    }
    say_lost(c);
    if (!any_deferred(c))
        c->deferred_seconds = 0;
    free_retired(c, alive);
}
