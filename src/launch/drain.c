/* Launches that are held: each was made, and its passes are made later, for many of them at once,
 * as it takes tens of milliseconds to make the session go from one pass to another. One that was
 * deferred was not even waited for (launch/deferred.c). A held launch keeps its parameters and a
 * copy of the memory it reached. When a batch is full, or something is about to happen that would
 * keep one of them from being repeated, it is drained: each is replayed from its copy, and memory
 * becomes again as it was before. Used with the gate locked. */
#include "launch/inside.h"

#include "base/clock.h"
#include "base/log.h"
#include "counters/states.h"
#include "gate/captures.h"
#include "gate/waits.h"
#include "launch/session.h"
#include "memory/buffers.h"
#include "memory/retired.h"

#include <math.h>
#include <utlist.h>

/* Milliseconds that a batch takes beside its replays, and that a launch takes which is compared by
 * itself; times that instrumented code is slower, where that is not known. */
#define BATCH_MS 45.0
#define ALONE_MS 1.7
#define ALONE_SLOWDOWN 15.0

#define CAPTURED \
    GP_REASON_TEXT(IN_CAPTURE, "a stream was being captured before the launch was measured")
#define AT_WORK                                                                            \
    GP_REASON_TEXT(BESIDE_WORK, "other work on the GPU did not end before the launch was " \
                                "measured")
#define NOT_ENDED \
    GP_REASON_TEXT(BESIDE_WORK, "another replay did not end before the launch was measured")

/* Times that lost counters are reported. */
#define MOST_LOST 3

bool launch_may_be_held(struct gp_measurement *m)
{
    const struct gp_device *device = &m->context->device;
    return m->snapshot && m->context->collection->most > 1 &&
           m->context->collection->facts.session && m->member.run.parameters &&
           !user_settings.at_once && !gp_snapshot_not_to_be_held(m->snapshot).cause &&
           !kernel_may_use_textures(m->kernel, 10 * device->cc_major + device->cc_minor);
}

bool hold_launch(struct gp_measurement *m)
{
    if (!held_keep(m))
        return false;
    struct gp_held_copy *copy = m->parts ? m->parts : gp_snapshot_hold(m->snapshot);
    m->parts = NULL;
    if (copy)
        held_enter(m, copy);
    return copy != NULL;
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
    if (context_is_away(c))
        return gp_reason_or(c->not_come, GP_COUNTERS_AWAY);
    struct gp_reason barred = gp_memory_replay_barred();
    return barred.cause ? barred : context_disturbed(c);
}

/* Work that is done for a launch in a drain: its record says how long it took. */
static void amend(struct gp_measurement *m, double began)
{
    if (!m->broken_off.cause && check_time_again(m))
        record_time(m);
    record_amend(m, 1e3 * (gp_clock_seconds() - began), m->broken_off);
}

/* Memory becomes as the program's own launches have left it. A kernel that did not end may
 * still be writing some of it. */
static void put_back(struct gp_context *c)
{
    struct gp_reason why;
    if (!c->snapshot || c->dead)
        return;
    if (!gp_snapshot_put_back(c->snapshot, !c->busy, &why) && gp_session_measures())
        not_put_back("a replay", why);
    gp_snapshot_done(c->snapshot);
}

static struct gp_reason why_not_gone_on(const struct gp_context *c)
{
    return c->dead ? GP_REASON(CONTEXT_GONE) : NOT_ENDED;
}

/* More is to be had of it. */
static bool is_open(const struct gp_measurement *m)
{
    return m->member.state == GP_LAUNCH_LAUNCHED ||
           gp_collection_is_open(m->context->collection, &m->member);
}

/* Nothing more is to be had of it, for that reason if there is one. */
static void drop(struct gp_measurement *m, struct gp_reason why)
{
    struct gp_context *c = m->context;
    const bool only_timed =
        why.cause == GP_CAUSE_COUNTERS_AWAY || why.cause == GP_CAUSE_ADDED_LIMIT;
    if (only_timed)
        time_deferred(m);
    if (why.cause) {
        record_amend(m, 0, why);
        gp_launch_move(&m->member.state, GP_LAUNCH_ABANDON);
    }
    /* The report counts those that were only timed. */
    if (why.cause && !only_timed) {
        c->lost++;
        c->why_lost = why;
    }
    held_release(m);
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
    c->deferred_seconds = 0;
    for (struct gp_measurement *m = held_first(c), *next; m; m = next) {
        next = held_next(m);
        drop(m, is_open(m) ? why : GP_NO_REASON);
    }
}

#define SPOILT                                                                                     \
    GP_REASON_TEXT(NOT_COPIED, "it, or a launch beside it, wrote to other parts of an allocation " \
                               "than launches before")

/* Why launches that reach memory of several GPUs cannot be replayed now, where there are some: that
 * is put back only while all GPUs rest. Launches of other memory do not wait for them. */
static struct gp_reason why_gpus_disturb(const struct gp_context *c)
{
    const struct gp_measurement *m = held_first(c);
    while (m && !gp_held_copy_is_of_gpus(m->copy))
        m = held_next(m);
    return m ? others_disturb(c) : GP_NO_REASON;
}

static void drop_disturbed(struct gp_context *c)
{
    const struct gp_reason disturbed = why_gpus_disturb(c);
    for (struct gp_measurement *m = held_first(c), *next; m && disturbed.cause; m = next) {
        next = held_next(m);
        if (gp_held_copy_is_of_gpus(m->copy))
            drop(m, is_open(m) ? disturbed : GP_NO_REASON);
    }
}

static bool any_under_way(const struct gp_context *c)
{
    const struct gp_measurement *m = held_first(c);
    while (m && !atomic_load(&m->under_way))
        m = held_next(m);
    return m != NULL;
}

/* Launches that have saved parts of memory are given up where one of them wrote elsewhere, or is
 * not made yet. */
static void verify_parts(struct gp_context *c)
{
    struct gp_reason why = SPOILT;
    if (!c->snapshot)
        return;
    const bool verified =
        !gp_snapshot_holds_parts(c->snapshot) || gp_snapshot_verify_held(c->snapshot, &why);
    const bool under_way = any_under_way(c);
    for (struct gp_measurement *m = held_first(c), *next; m; m = next) {
        next = held_next(m);
        if (under_way && gp_held_copy_has_parts(m->copy))
            drop(m, AT_WORK);
        else if (gp_held_copy_is_spoilt(c->snapshot, m->copy))
            drop(m, verified ? SPOILT : why);
    }
}

/* Where the gate could not be locked, a launch may be under way still. */
static void measure_deferred(struct gp_context *c)
{
    for (struct gp_measurement *m = held_first(c), *next; m; m = next) {
        next = held_next(m);
        if (!context_goes_on(c) || m->member.state != GP_LAUNCH_LAUNCHED)
            continue;
        if (atomic_load(&m->under_way))
            drop(m, AT_WORK);
        else
            measure_in_drain(m);
    }
}

/* No launch reaches it any more. A capture would end by it. */
static void free_retired(const struct gp_context *c, bool alive)
{
    if (alive && context_goes_on(c) && !held_first(c) && gp_captures() == 0)
        gp_retired_free(c->handle);
}

static bool make_step(struct gp_measurement *m, const struct gp_step *step)
{
    m->broken_off = GP_NO_REASON; /* another way may not break off */
    return step->kind == GP_STEP_BLANK || step->kind == GP_STEP_TOGETHER ? count_together(m, step)
                                                                         : replay_step(m, step);
}

/* In the first step of a kind the session goes there: that part is the batch's. */
static void note_shared(struct gp_measurement *m, const struct gp_step *step, unsigned *kinds,
                        double seconds)
{
    const unsigned kind = 1u << step->kind;
    const double shared = fmax(0, seconds - limit_usual(GP_LIMIT_LAUNCH));
    if (!(*kinds & kind)) {
        m->not_ours += shared;
        m->context->amended -= shared;
    }
    *kinds |= kind;
}

/* Makes the steps of all launches that wait, as far as the limit permits. */
static void make_steps(struct gp_context *c)
{
    struct gp_step step;
    unsigned kinds = 0;
    while (context_goes_on(c) && gp_collection_next(c->collection, NULL, &step)) {
        struct gp_measurement *m = measurement_of(step.member);
        const double began = gp_clock_seconds();
        const bool permitted = step_is_permitted(m, &step);
        gp_collection_stepped(c->collection, &step, permitted && make_step(m, &step));
        amend(m, began);
        if (permitted)
            note_shared(m, &step, &kinds, gp_clock_seconds() - began);
    }
}

static double seconds; /* of all drains */

double drain_seconds(void)
{
    return seconds;
}

/* Abandoned kernels have ended: the context is idle. */
static void note_idle(struct gp_context *c)
{
    c->busy = false;
    context_end_pass(c);
}

void drain_context(struct gp_context *c, bool alive)
{
    if (alive)
        note_idle(c);
    /* While a stream is captured nobody has waited for the context. */
    held_release_written(c, alive && gp_captures() == 0);
    const double began = gp_clock_seconds();
    unsigned launches = 0;
    for (const struct gp_measurement *m = held_first(c); m; m = held_next(m))
        launches++;
    c->amended = 0;
    struct gp_reason why = launches > 0 ? not_to_be_replayed(c, alive) : GP_NO_REASON;
    const double drain =
        limit_takes_all() ? limit_usual(GP_LIMIT_DRAIN) : limit_predicts(GP_LIMIT_DRAIN);
    if (launches > 0 && !why.cause && !limit_permits_in_drain(drain))
        why = GP_LEFT_IN_DRAIN;
    const bool drained = !why.cause;
    c->gpu->stays.read = c->gpu->stays.read || (c == c->gpu->holder && records_wait(c));
    if (!why.cause) {
        drop_disturbed(c);
        verify_parts(c);
        context_awaits_others(c);
        measure_deferred(c);
        make_steps(c);
        diagnose_batch(c);
    }
    put_back(c);
    if (!why.cause && !context_goes_on(c))
        why = why_not_gone_on(c);
    drop_all(c, why);
    /* A launch whose copy leads to other memory was given up above: its room is free at once. */
    held_release_written(c, false);
    say_lost(c);
    if (!c->busy)
        records_settle(c, alive && !c->dead);
    free_retired(c, alive);
    const double took = gp_clock_seconds() - began;
    seconds += took;
    if (drained)
        limit_drained(launches, took - c->amended);
}

static bool is_reached(const void *copy, CUdeviceptr address, uint64_t bytes)
{
    return gp_held_copy_reaches(copy, address, bytes);
}

static bool concerns(const struct gp_program_change *change, const struct gp_measurement *m)
{
    if (change->bytes)
        return gp_held_copy_reaches(m->copy, change->address, change->bytes);
    if (change->function)
        return kernel_is(m->kernel, change->function);
    if (change->module)
        return !m->kernel->module || m->kernel->module == change->module;
    if (change->context)
        return kernel_goes_with(m->kernel, change->context) ||
               gp_buffers_go_with(change->context, is_reached, m->copy);
    return !change->stream || change->stream == m->call->stream;
}

static bool is_to_be_searched(const struct gp_measurement *m)
{
    return m->member.state == GP_LAUNCH_LAUNCHED && !m->searched;
}

unsigned held_unsearched(const struct gp_context *c, const struct gp_kernel *kernel)
{
    unsigned count = 0;
    for (const struct gp_measurement *m = held_first(c); m; m = held_next(m))
        count += m->kernel == kernel && is_to_be_searched(m);
    return count;
}

bool search_held(struct gp_context *c)
{
    for (struct gp_measurement *m = held_first(c); m; m = held_next(m)) {
        if (!is_to_be_searched(m) || m->broken_off.cause)
            continue;
        if (atomic_load(&m->under_way))
            return false;
        search_deferred(m); /* where it leads further it is not replayed */
    }
    return true;
}

void held_note_freed(const struct gp_context *c, const struct gp_program_change *change)
{
    const struct gp_measurement *m = held_first(c);
    while (m && !is_to_be_searched(m))
        m = held_next(m);
    if (!c->snapshot || !change->bytes)
        return;
    if (m)
        gp_snapshot_note_freed(c->snapshot, change->address, change->bytes);
    else
        gp_snapshot_forget_freed(c->snapshot);
}

/* To be compared with others by itself: a launch in instrumented code. */
static double alone_ms(const struct gp_run *run)
{
    return ALONE_MS + run->native_ms * (run->cost->sass > 0 ? run->cost->sass : ALONE_SLOWDOWN);
}

bool is_batch_quicker(const struct gp_context *c, const struct gp_program_change *change)
{
    double alone = 0;
    for (struct gp_measurement *m = held_first(c); m; m = held_next(m)) {
        if (!concerns(change, m))
            continue;
        alone += alone_ms(&m->member.run);
        if (alone > BATCH_MS || !gp_collection_is_familiar(c->collection, &m->member))
            return true;
    }
    return false;
}

bool context_is_concerned(const struct gp_context *c, const struct gp_program_change *change)
{
    const struct gp_measurement *m = held_first(c);
    while (m && !concerns(change, m))
        m = held_next(m);
    /* Where everything changes the room of launches that were given up is wanted back, too, and
     * memory that they kept. */
    bool all = !change->bytes && !change->function && !change->module && !change->context &&
               !change->stream;
    return m || (all && (held_any_unwritten(c) || gp_retired_any()));
}

/* The further passes of a launch, all at once; those that it makes at all, where it was deferred.
 */
static void replay_alone(struct gp_measurement *m)
{
    const double began = gp_clock_seconds();
    m->member.run.when = GP_RUN_NOW;
    if (m->member.state == GP_LAUNCH_LAUNCHED) {
        measure_in_drain(m);
        return;
    }
    m->broken_off = GP_NO_REASON;
    replay_at_once(m);
    amend(m, began);
}

static bool any_deferred(const struct gp_context *c)
{
    const struct gp_measurement *m = held_first(c);
    while (m && m->member.state != GP_LAUNCH_LAUNCHED)
        m = held_next(m);
    return m != NULL;
}

void drain_before_change(struct gp_context *c, const struct gp_program_change *change, bool alive)
{
    if (alive)
        note_idle(c);
    held_release_written(c, alive);
    struct gp_reason why = not_to_be_replayed(c, alive);
    struct gp_reason disturbed = GP_NO_REASON;
    if (!why.cause) {
        disturbed = why_gpus_disturb(c);
        verify_parts(c);
        context_awaits_others(c);
    }
    for (struct gp_measurement *m = held_first(c), *next; m; m = next) {
        next = held_next(m);
        if (!concerns(change, m))
            continue;
        struct gp_reason not_now = why.cause                          ? why
                                   : !context_goes_on(c)              ? why_not_gone_on(c)
                                   : atomic_load(&m->under_way)       ? AT_WORK
                                   : gp_held_copy_is_of_gpus(m->copy) ? disturbed
                                                                      : GP_NO_REASON;
        if (not_now.cause) {
            drop(m, not_now);
        } else {
            replay_alone(m);
            put_back(c);
            held_release(m);
        }
    }
    say_lost(c);
    if (!any_deferred(c))
        c->deferred_seconds = 0;
    free_retired(c, alive);
}
