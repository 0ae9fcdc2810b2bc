/* One measurement: the program's own run of a kernel, then a run for each pass, each from the same
 * memory. The gate is locked, the context current and idle. */
#include "launch/inside.h"
#include "launch/kernels.h"
#include "launch/selection.h"

#include "base/clock.h"
#include "code/unpacked.h"
#include "counters/states.h"
#include "cuda/cupti.h"
#include "gate/captures.h"
#include "launch/session.h"
#include "launch/timed.h"
#include "memory/buffers.h"
#include "memory/modules.h"

/* Launches of one kernel and configuration that take turns by themselves; afterwards, launches one
 * after the other that take the same. */
#define TURNS_BY_ITSELF 12
#define SAME_TURNS 32

/* Where the session is away, and must not come, the launches that wait are only timed. */
static void drain_here(struct gp_context *c)
{
    context_fetches_session(c, false);
    drain_context(c, true);
}

void drain_before_write(struct gp_context *c)
{
    drain_here(c);
    contexts_drain_other_gpus(c);
}

static void release_parts(struct gp_measurement *m, struct gp_snapshot *snapshot)
{
    if (m->parts)
        gp_snapshot_release(snapshot, m->parts);
    m->parts = NULL;
}

/* Memory of other GPUs, and memory that they can write, is put back where they rest. The gate is
 * locked, so they do until the launch is over. */
static bool take_while_others_rest(struct gp_measurement *m, struct gp_snapshot *snapshot,
                                   struct gp_reach *reach)
{
    gp_snapshot_done(snapshot);
    const struct gp_reason disturbed = others_disturb(m->context);
    m->not_replayed = gp_reason_or(disturbed, m->not_replayed);
    reach->others_rest = !disturbed.cause;
    const bool taken = reach->others_rest && gp_snapshot_take(snapshot, reach, &m->not_replayed);
    if (taken && gp_snapshot_writes_to_others(snapshot))
        contexts_drain_other_gpus(m->context); /* memory is as before when they are read */
    return taken;
}

static bool take(struct gp_measurement *m, struct gp_snapshot *snapshot)
{
    struct gp_reach reach = measurement_reach(m);
    /* It may write memory of which launches that are held need the contents. */
    if ((!reach.kernel || reach.everything) &&
        launch_writes_held(reach.everything ? NULL : m->call))
        drain_before_write(m->context);
    return gp_snapshot_take(snapshot, &reach, &m->not_replayed) ||
           (m->not_replayed.cause == GP_CAUSE_SHARED_MEMORY && gp_captures() == 0 &&
            gp_snapshot_reaches_other_gpus(snapshot) &&
            take_while_others_rest(m, snapshot, &reach));
}

/* Held launches that reach the same divided memory need its copy, so that is held before the launch
 * is made. Where it cannot be, none of them may be held. */
static bool hold_parts(struct gp_measurement *m, struct gp_snapshot *snapshot)
{
    if (!gp_snapshot_is_divided(snapshot))
        return true;
    m->parts = gp_snapshot_hold(snapshot);
    if (m->parts || !gp_snapshot_holds_parts(snapshot))
        return true;
    gp_snapshot_done(snapshot);
    drain_here(m->context);
    if (!take(m, snapshot))
        return false;
    m->parts = gp_snapshot_hold(snapshot);
    return true;
}

/* A launch that guards memory is replayed with its batch alone. Where it cannot be held it is taken
 * once more, and guards none. */
static bool hold_guarded(struct gp_measurement *m, struct gp_snapshot *snapshot)
{
    if (!gp_snapshot_guards(snapshot))
        return true;
    m->snapshot = snapshot;
    m->not_to_be_held = !m->parts || !launch_may_be_held(m);
    m->snapshot = NULL;
    if (!m->not_to_be_held)
        return true;
    release_parts(m, snapshot);
    gp_snapshot_is_not_held(snapshot);
    gp_snapshot_done(snapshot);
    return take(m, snapshot) && hold_parts(m, snapshot);
}

/* The launches that wait make room for one more. False where they wait for the session. */
static bool make_room_for(struct gp_context *c)
{
    c->no_room = !context_fetches_session(c, false);
    if (!c->no_room)
        drain_context(c, true);
    return !c->no_room;
}

/* Saves memory that the kernel may write, so that it can run more than once. */
static void save(struct gp_measurement *m)
{
    gp_modules_resolve(m->context->handle);
    m->not_replayed = m->kernel->runs_once;
    if (!m->not_replayed.cause && gp_kernels_launch_graphs() &&
        gp_kernel_may_launch_graphs(m->call->function))
        m->not_replayed =
            GP_REASON_TEXT(RUNS_ONCE, "the kernel's module launches graphs from the device");
    if (!m->not_replayed.cause)
        m->not_replayed = gp_memory_replay_barred();
    if (!m->not_replayed.cause)
        m->not_replayed = context_disturbed(m->context);
    if (m->not_replayed.cause)
        return;
    struct gp_snapshot *snapshot = context_snapshot(m->context, &m->not_replayed);
    if (!snapshot)
        return;
    search_held(m->context);
    bool taken = take(m, snapshot);
    if (!taken && held_first(m->context) && m->not_replayed.cause == GP_CAUSE_ROOM_HELD) {
        gp_snapshot_done(snapshot);
        taken = make_room_for(m->context) && take(m, snapshot);
    }
    if (!taken && m->context->graph_snapshot && gp_snapshot_is_short(snapshot) &&
        gp_snapshot_give_up_copies(m->context->graph_snapshot))
        taken = take(m, snapshot);
    taken = taken && hold_parts(m, snapshot) && hold_guarded(m, snapshot);
    if (taken && gp_snapshot_reaches_managed(snapshot)) {
        m->not_replayed = others_disturb(m->context);
        taken = !m->not_replayed.cause;
    }
    if (taken) {
        m->snapshot = snapshot;
        m->not_replayed = GP_NO_REASON;
        kernel_reached(m->kernel, gp_snapshot_led_further(snapshot));
    } else {
        release_parts(m, snapshot);
        gp_snapshot_done(snapshot);
    }
}

/* True when the program's own run has changed only memory that was saved. Else its result
 * stands. */
static bool wrote_only_saved_memory(struct gp_measurement *m)
{
    struct gp_verify_schedule *schedule = &m->kernel->schedule;
    bool elsewhere, outside, later = m->member.run.when == GP_RUN_LATER && m->parts;
    if (!gp_snapshot_wrote_outside(m->snapshot, later, &outside, &m->broken_off))
        return false;
    const bool guards = gp_snapshot_guards(m->snapshot);
    if (guards && !later) {
        m->broken_off = GP_REASON_TEXT(NOT_COPIED, "the launch could not wait for its batch");
        return false;
    }
    m->unverified = later && (guards || !gp_snapshot_is_verified(m->snapshot));
    if (!gp_snapshot_verify(m->snapshot, &elsewhere, &m->broken_off))
        return false;
    if (m->member.run.parameters) /* else all memory was copied: where they lead does not show */
        verify_count(schedule, m->call->grid);
    if (!elsewhere && outside)
        m->broken_off = GP_REASON_TEXT(
            NOT_COPIED, "the launch wrote to other parts of an allocation than launches before it");
    if (!elsewhere)
        return !outside;
    schedule->broken = true;
    m->broken_off =
        GP_REASON_TEXT(NOT_COPIED, "the kernel wrote memory that its parameters do not lead to");
    return false;
}

/* The program's launch is over, and its passes may take long: the process may be killed in them. */
static void note_own_run(struct gp_measurement *m)
{
    record_make(m, true);
    record_note_own_run(m, m->member.run.when != GP_RUN_LATER);
}

/* It has no passes: they could only be made now, and the session is away. */
static void leave_timed(struct gp_measurement *m)
{
    m->broken_off = gp_reason_or(m->broken_off, GP_COUNTERS_AWAY);
    if (m->context->unheld_since == 0)
        m->context->unheld_since = gp_clock_seconds();
}

static void replay_now(struct gp_measurement *m)
{
    if (context_is_away(m->context)) {
        leave_timed(m);
        return;
    }
    context_awaits_others(m->context);
    replay_at_once(m);
}

/* The program's own run, and behind it the replays of a launch that cannot wait. */
static CUresult measure_by_replay(struct gp_measurement *m)
{
    bool ended;
    struct gp_run *run = &m->member.run;
    CUresult result = own_run(m, &ended);
    run->when = launch_may_be_held(m) ? GP_RUN_LATER : GP_RUN_NOW;
    run->layout = run->when == GP_RUN_LATER ? gp_snapshot_layout(m->snapshot) : 0;
    run->in_parts = run->when == GP_RUN_LATER && gp_snapshot_is_divided(m->snapshot);
    measurement_note_unsure(m);
    if (ended)
        note_own_run(m);
    ended = ended && wrote_only_saved_memory(m);
    gp_launch_move(&m->member.state, ended ? GP_LAUNCH_END : GP_LAUNCH_FAIL);
    if (ended && run->when == GP_RUN_NOW)
        replay_now(m);
    if (ended && !m->unverified && (!m->broken_off.cause || context_is_away(m->context)))
        check_time(m);
    put_back_final_state(m);
    return result;
}

/* Which turn it is. To go from the hardware's pass to instrumented code and back takes tens of
 * milliseconds. So once launches of one kernel and configuration have taken each turn some times,
 * all such launches take the same turn for a while. */
static uint64_t turn_of(struct gp_context *c, uint64_t launch)
{
    return launch < TURNS_BY_ITSELF ? launch : c->common_turns++ / SAME_TURNS;
}

static CUresult measure_time(struct gp_measurement *m)
{
    bool ended;
    CUresult result = own_run(m, &ended);
    gp_launch_move(&m->member.state, ended ? GP_LAUNCH_END : GP_LAUNCH_FAIL);
    if (context_is_away(m->context))
        leave_timed(m);
    return result;
}

/* Where nothing is replayed, or the launch cannot be, successive launches of a kernel take turns:
 * one is timed, the next ones run once in each pass. There is no turn in which nothing would be
 * collected. */
static CUresult measure_in_turn(struct gp_measurement *m, uint64_t turn)
{
    struct gp_context *c = m->context;
    m->member.run.when = GP_RUN_ONCE;
    bool timed = wants_time(m);
    struct gp_passes passes = c->collection->collector->passes(c->collection);
    unsigned hardware = passes.hardware_wanted ? passes.hardware : 0;
    unsigned turns = timed + hardware + passes.instrumented;
    unsigned which = turns ? (unsigned)(turn_of(c, turn) % turns) : 0;
    if (turns == 0 || (timed && which == 0) || !m->kernel->ended)
        return measure_time(m);
    unsigned pass = which - timed < hardware ? which - timed : passes.hardware;
    const struct gp_step step = gp_collection_step_of(c->collection, &m->member, pass);
    m->broken_off = pass_is_too_slow(m, step.kind);
    if (m->broken_off.cause) {
        struct gp_reason too_slow = m->broken_off;
        m->broken_off = GP_NO_REASON;
        CUresult result = measure_time(m);
        m->broken_off = gp_reason_or(m->broken_off, too_slow);
        return result;
    }
    gp_launch_move(&m->member.state, step.kind == GP_STEP_COUNT      ? GP_LAUNCH_END
                                     : step.kind == GP_STEP_IDENTIFY ? GP_LAUNCH_IDENTIFY
                                                                     : GP_LAUNCH_SKIP);
    context_awaits_others(c);
    return own_run_in_pass(m, &step);
}

/* Holds the launch where it has passes to come; else these are made now. */
static void hold(struct gp_measurement *m)
{
    const struct gp_context *c = m->context;
    struct gp_run *run = &m->member.run;
    if (run->when != GP_RUN_LATER || !gp_collection_is_open(c->collection, &m->member) || c->busy ||
        hold_launch(m)) {
        release_parts(m, m->snapshot);
        return;
    }
    run->when = GP_RUN_NOW;
    if (m->unverified)
        m->broken_off = GP_REASON(NO_MEMORY);
    else
        replay_now(m);
    put_back_final_state(m);
    record_amend(m, 0, m->broken_off);
    release_parts(m, m->snapshot);
}

/* The hardware's counters cannot be had. Where nothing else can be counted either launches are only
 * timed from here on. */
static void note_without_hardware(struct gp_context *c)
{
    struct gp_passes passes = c->collection->collector->passes(c->collection);
    c->on_trial = passes.on_trial ? passes.no_hardware : GP_NO_REASON;
    if (!passes.no_hardware.cause)
        return;
    /* Then nothing keeps the session there. */
    c->gpu->stays.read = c->gpu->stays.read || (c == c->gpu->holder && !passes.instrumented);
    if (!passes.instrumented)
        timed_only_in(c->handle, &c->device, passes.no_hardware,
                      passes.no_hardware.cause == GP_CAUSE_COUNTERS_IN_USE);
    else if (!passes.on_trial)
        say_without_hardware(true, passes.no_hardware);
}

/* The part of our own work that goes on when the program does. A kernel that was abandoned has the
 * event. */
static void mark_tail(struct gp_context *c)
{
    c->tail = context_goes_on(c) && gp_cuda.cuCtxRecordEvent &&
              gp_cuda.cuCtxRecordEvent(c->handle, c->event) == CUDA_SUCCESS;
}

/* Launches that were not waited for have filled the batch, or an abandoned kernel has kept the last
 * ones from being read. */
static void make_room(struct gp_context *c)
{
    if (context_is_full(c) && !context_is_away(c))
        drain_context(c, true);
}

/* The launch is over: its record is made, and waits; and it waits for its batch, where it can. */
static void settle(struct gp_measurement *m, CUresult result)
{
    struct gp_context *c = m->context;
    const struct gp_launch *call = m->call;
    bool measured = result == CUDA_SUCCESS && !c->dead && gp_session_measures();
    /* One with a record has ended well by itself, even if a replay failed. */
    const bool recorded = measured || m->kernel_name;
    if (recorded)
        record_make(m, m->member.run.when == GP_RUN_LATER);
    else
        gp_sampling_passed_over(call,
                                result == CUDA_SUCCESS && !c->dead ? GP_AFTER_END : GP_FAILED);
    if (measured)
        hold(m);
    else
        release_parts(m, m->snapshot);
    if (c->snapshot)
        gp_snapshot_done(c->snapshot);
    m->call = m->kept;
    if (!m->kept)
        m->member.run.parameters = NULL;
    /* Reading waits for all there is in the context, and so for a kernel that was abandoned. */
    if (!c->busy && context_is_due(c) && (c->dead || context_fetches_session(c, false)))
        drain_context(c, !c->dead);
    else if (recorded)
        records_note(c);
}

CUresult measure_launch(const struct gp_launch *call, struct gp_kernel *kernel,
                        struct gp_context *c, uint64_t index, uint64_t turn)
{
    double started = gp_clock_seconds(), drained = drain_seconds();
    const double unpacked = gp_unpacked_seconds();
    make_room(c);
    bool full = gp_collection_is_full(c->collection);
    struct gp_measurement *m = full ? NULL : measurement_new(call, kernel, c);
    if (!m) {
        gp_sampling_passed_over(call, full ? GP_BESIDE_WORK : GP_FAILED);
        return call->run(call);
    }
    m->index = index;
    m->started = started;
    m->drained = drained;
    struct gp_passes passes = c->collection->collector->passes(c->collection);
    c->counts_hardware = passes.hardware > 0;
    c->wait_failed = false;
    bool counts = passes.hardware > 0 || passes.instrumented;
    if (counts && !user_settings.recorded.replay_off)
        save(m);
    if (!m->snapshot && launch_writes_held(call))
        drain_before_write(c);
    measurement_enter(m);
    succession_note(m);
    CUresult result = m->snapshot                     ? measure_by_replay(m)
                      : !counts || context_is_away(c) ? measure_time(m)
                                                      : measure_in_turn(m, turn);
    m->not_ours += gp_unpacked_seconds() - unpacked; /* the limit has a price for it by itself */
    note_without_hardware(c);
    settle(m, result);
    contexts_read_others(c);
    mark_tail(c);
    return result;
}
