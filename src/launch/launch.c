#include "launch/launch.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "gate/blocking.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/inside.h"
#include "launch/kernels.h"
#include "launch/selection.h"
#include "launch/session.h"
#include "launch/timed.h"
#include "memory/divided.h"
#include "memory/retired.h"

/* The launch is the program's: a full stream holds it up. */
static CUresult run_programs(const struct gp_launch *call)
{
    gp_added_pauses();
    CUresult result = call->run(call);
    gp_added_resumes();
    return result;
}

/* The program can have our memory. The gate is locked. */
static CUresult run_or_make_room(const struct gp_launch *call)
{
    CUresult result = run_programs(call);
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return result;
    gp_contexts_before_change(&(struct gp_program_change){0}, true, true);
    return gp_snapshot_release_memory(gp_captures() > 0) ? run_programs(call) : result;
}

static CUresult run_beside_replays(const struct gp_launch *call)
{
    gp_gate_enter();
    CUresult result = run_programs(call);
    gp_gate_leave();
    return result;
}

/* Makes the launch, and again where our memory was in its way. The gate is neither entered nor
 * locked: it is locked to drain. */
static CUresult run_and_make_room(const struct gp_launch *call,
                                  CUresult (*run)(const struct gp_launch *call))
{
    CUresult result = run(call);
    return result == CUDA_ERROR_OUT_OF_MEMORY && gp_launch_release_memory() ? run(call) : result;
}

/* Held launches that saved parts of memory which the work may write make their passes. */
static void before_other_work(const struct gp_launch *call)
{
    if (launch_writes_held(call) && gp_captures() == 0)
        gp_launch_before_change();
}

CUresult gp_launch_plainly(const struct gp_launch *call)
{
    before_other_work(call);
    return run_and_make_room(call, run_beside_replays);
}

void gp_launch_not_measured(enum gp_unmeasured kind)
{
    static const char *const what[GP_UNMEASURED_KINDS] = {
        [GP_MULTI_DEVICE_LAUNCH] = "cooperative launches over several devices are not measured",
        [GP_OLD_LAUNCH] = "launches by cuLaunch and cuLaunchGrid are not measured",
    };
    static struct gp_say_limit once[GP_UNMEASURED_KINDS];
    if (gp_session_measures())
        gp_say_limited(&once[kind], 1, "%s", what[kind]);
}

/* Queues, and leaves no launch held that the change concerns; or retires the memory, where that
 * is asked for, and says so there. True where the gate is locked. */
static bool queue_and_drain(const struct gp_program_change *change, bool *retired)
{
    gp_gate_queue();
    gp_contexts_note_going(change);
    /* Most memory that is freed no held launch has reached: then nobody is held up. */
    bool concerned = gp_contexts_are_concerned(change);
    bool locked = concerned && gp_gate_lock_queued_in_time(), may_replay = locked;
    if (retired)
        *retired = locked && contexts_retire(change, &may_replay);
    if (concerned && !(retired && *retired))
        gp_contexts_before_change(change, may_replay, false);
    return locked;
}

static void before_change(void *change)
{
    gp_gate_unlock_queued(queue_and_drain(change, NULL));
}

static void before_change_and_enter(void *change)
{
    gp_gate_unlock_and_enter(queue_and_drain(change, NULL));
}

struct freeing {
    struct gp_program_change change;
    bool may_retire, waits, retired;
};

static void before_free(void *freeing)
{
    struct freeing *f = freeing;
    bool locked = queue_and_drain(&f->change, f->may_retire ? &f->retired : NULL);
    f->retired = f->retired || (!f->waits && contexts_keep(&f->change));
    if (f->retired)
        gp_gate_unlock_queued(locked);
    else
        gp_gate_unlock_and_enter(locked);
}

static void drain_before(struct gp_program_change change)
{
    if ((gp_any_held() || gp_retired_any()) && session_is_here())
        gp_run_internal_work(before_change, &change);
}

void gp_launch_before_change(void)
{
    drain_before((struct gp_program_change){0});
}

bool gp_launch_retires_or_enters(CUdeviceptr address, uint64_t bytes, bool may_retire, bool waits)
{
    struct freeing f = {
        .change = {.address = address, .bytes = bytes ? bytes : 1},
        .may_retire = may_retire,
        .waits = waits,
    };
    gp_run_internal_work(before_free, &f);
    return f.retired;
}

void gp_launch_enter_before_free(CUdeviceptr address, uint64_t bytes)
{
    gp_launch_retires_or_enters(address, bytes, false, true);
}

void gp_launch_before_function_changes(CUfunction function)
{
    drain_before((struct gp_program_change){.function = function});
}

void gp_launch_before_stream_goes(CUstream stream)
{
    drain_before((struct gp_program_change){.stream = stream});
}

/* The gate is not locked. */
static bool release_memory(void)
{
    bool held_off = gp_captures_hold_off();
    bool released = gp_snapshot_release_memory(!held_off);
    if (held_off)
        gp_captures_let_begin();
    return released;
}

static bool await_held(void)
{
    bool held_off = gp_captures_hold_off();
    bool rests = held_off && gp_snapshot_await_held();
    if (held_off)
        gp_captures_let_begin();
    return rests;
}

bool gp_launch_release_memory(void)
{
    gp_launch_before_change();
    if (await_held())
        gp_launch_before_change();
    return release_memory();
}

void gp_launch_enter_before_change(void)
{
    struct gp_program_change change = {0};
    gp_run_internal_work(before_change_and_enter, &change);
}

bool gp_launch_leave_memory(void)
{
    gp_launch_enter_before_change();
    return release_memory();
}

/* ---- which launches -------------------------------------------------------------------------- */

/* Asked of every launch, so the quick questions come first. A launch that is captured into a graph
 * does not run: it is not counted. */
static enum gp_choice choose(const struct gp_launch *call, enum gp_interest interest, bool captures,
                             uint64_t *turn)
{
    if (interest == GP_NOT_SELECTED)
        return GP_ONLY_COUNTED;
    if (captures && gp_stream_is_capturing(call->stream, call->per_thread_stream, false))
        return GP_ONLY_COUNTED;
    return gp_selection_takes(call) ? gp_sampling_chooses(call, interest == GP_WANTED, turn)
                                    : GP_ONLY_COUNTED;
}

/* While anything is captured nothing is measured. */
static bool may_be_measured(const struct gp_launch *call, enum gp_interest interest, bool captures,
                            enum gp_passed_over *why)
{
    *why = interest == GP_WANTED ? GP_BESIDE_CAPTURE : gp_kernel_why_not(interest);
    return interest == GP_WANTED && !captures &&
           !gp_stream_is_capturing(call->stream, call->per_thread_stream, false);
}

/* Makes the launch, and measures it; false where that cannot be done now, and nothing was launched.
 * The gate is locked. True in *held_up where a wait ran out. */
static bool launch_alone(const struct gp_launch *call, uint64_t turn, bool *held_up,
                         enum gp_passed_over *why, CUresult *result)
{
    struct gp_kernel *kernel = gp_kernel_find(call->function);
    *held_up = false;
    *why = GP_AFTER_END;
    struct gp_context *context = kernel ? ready_for(call, kernel, held_up, why) : NULL;
    if (!context)
        return false;
    *result = measure_launch(call, kernel, context, session_next_launch(), turn);
    gp_end_at_exit();
    *held_up = context->busy;
    return true;
}

/* Locks the gate. False where nothing is measured now: some call does not leave the gate, or
 * another thread has given up, or begun a capture, while we waited. */
static bool lock_gate(enum gp_passed_over *why)
{
    static struct gp_say_limit once;
    *why = GP_CALL_UNDER_WAY;
    if (!gp_gate_lock_in_time()) {
        gp_say_limited(
            &once, 1,
            "launches are not measured while a driver call of another thread does not return");
        return false;
    }
    if (gp_session_measures() && gp_captures() == 0)
        return true;
    *why = gp_session_measures() ? GP_BESIDE_CAPTURE : GP_AFTER_END;
    gp_gate_unlock();
    return false;
}

/* Has the launch measured later, and makes it. The gate is locked before and unlocked afterwards,
 * as the driver may hold the launch up. */
static bool launch_deferred(const struct gp_launch *call, CUresult *result)
{
    struct gp_kernel *kernel = gp_kernel_find(call->function);
    struct gp_measurement *held = kernel ? launch_defer(call, kernel) : NULL;
    if (!held)
        return false;
    gp_end_at_exit();
    gp_gate_unlock_and_enter(true);
    *result = launch_with_copies(held, call);
    gp_gate_leave();
    /* The program can have our memory. */
    if (*result == CUDA_ERROR_OUT_OF_MEMORY && gp_launch_release_memory())
        *result = run_beside_replays(call);
    return true;
}

static void note_unending(const struct gp_launch *call)
{
    gp_unending_launched(call->stream, call->per_thread_stream, kernel_polls(call->function));
}

static CUresult run_unending(const struct gp_launch *call)
{
    gp_gate_enter();
    CUresult result = run_programs(call);
    if (result == CUDA_SUCCESS && gp_captures_hold_off()) {
        note_unending(call);
        gp_captures_let_begin();
    }
    gp_gate_leave();
    return result;
}

/* Lets a kernel through that is known not to end by itself: nobody waits for it, nor behind it. */
static CUresult pass_unending(const struct gp_launch *call)
{
    before_other_work(call);
    gp_session_count_launch();
    return run_and_make_room(call, run_unending);
}

static CUresult run_passing(const struct gp_launch *call)
{
    const bool for_detach = detach_times_launch(), timed = for_detach || passing_is_timed();
    gp_gate_enter_cancellable();
    const uint64_t began = timed ? gp_clock_ns() : 0;
    CUresult result = run_programs(call);
    const uint64_t took = timed ? gp_clock_ns() - began : 0;
    if (for_detach)
        detach_launch_took(took);
    if (timed)
        passing_driver_took(took);
    gp_gate_leave_cancellable();
    return result;
}

/* Lets a kernel through that is not measured. Where few are selected that is most launches: no more
 * is done than has to be. */
static CUresult pass(const struct gp_launch *call)
{
    before_other_work(call);
    gp_session_count_launch();
    if (!timed_any())
        return run_and_make_room(call, run_passing);
    /* Its code was not read. */
    gp_blocking_noted(GP_MAY_WAIT);
    CUresult result = run_and_make_room(call, run_passing);
    gp_blocking_noted(GP_MAY_WAIT);
    return result;
}

/* The gate is passed, or locked by the thread itself. */
static CUresult run_between_events(const struct gp_launch *call, bool locked)
{
    struct gp_timing timing;
    enum gp_passed_over why;
    bool begun = gp_timing_begins(&timing, call, &why);
    if (!locked)
        gp_gate_enter();
    if (begun)
        gp_timing_starts(&timing);
    CUresult result = locked ? run_or_make_room(call) : run_programs(call);
    if (begun)
        gp_timing_stops(&timing, result);
    if (!locked)
        gp_gate_leave();
    if (begun)
        gp_timing_ends(&timing, result);
    else if (result == CUDA_SUCCESS)
        gp_sampling_passed_over(call, why);
    return result;
}

static CUresult run_timed(const struct gp_launch *call)
{
    return run_between_events(call, false);
}

static CUresult note_timed(const struct gp_launch *call, CUresult result)
{
    if (result == CUDA_SUCCESS)
        gp_end_at_exit();
    else
        gp_sampling_passed_over(call, GP_FAILED);
    return result;
}

/* Makes the launch with events around it, which are asked later. */
static CUresult launch_timed(const struct gp_launch *call)
{
    before_other_work(call);
    return note_timed(call, run_and_make_room(call, run_timed));
}

static CUresult launch(const struct gp_launch *call)
{
    CUresult result = CUDA_SUCCESS;
    bool launched = false, held_up, captures = gp_captures() > 0;
    uint64_t turn;
    enum gp_passed_over why;
    enum gp_interest interest = gp_kernel_interest(call->function, &call->configuration);
    const enum gp_choice choice = choose(call, interest, captures, &turn);
    const bool taken = choice == GP_MEASURED;
    if ((taken && gp_is_only_timed(call->stream)) ||
        (choice == GP_ONLY_TIMED && interest == GP_WANTED && !captures))
        return launch_timed(call);
    if (taken && may_be_measured(call, interest, captures, &why) && lock_gate(&why)) {
        if (launch_deferred(call, &result))
            return result;
        launched = launch_alone(call, turn, &held_up, &why, &result);
        if (launched)
            detach_launch_measured(); /* from here on, as that may have taken long */
        gp_gate_unlock();
        if (!launched && gp_is_only_timed(call->stream)) /* as was just found */
            return launch_timed(call);
        if (!launched)
            interest = gp_kernel_interest(call->function, &call->configuration);
    }
    if (taken && !launched)
        gp_sampling_passed_over(call, why);
    if (choice == GP_ONLY_TIMED)
        gp_sampling_passed_over(call, GP_LEFT_OUT);
    /* Never with the gate locked: where much is launched already it waits until some of that has
     * ended, and that may wait for a call that enters the gate. */
    if (!launched)
        result = interest == GP_UNENDING ? pass_unending(call) : pass(call);
    return result;
}

struct launching {
    const struct gp_launch *call;
    CUresult result;
};

static void launch_at_work(void *launching)
{
    struct launching *l = launching;
    l->result = launch(l->call);
}

CUresult gp_launch(const struct gp_launch *call)
{
    struct launching l = {.call = call};
    passing_begins();
    detach_counts_launch();
    if (!gp_session_measures() || !window_takes(call)) {
        l.result = pass(call);
        passing_ends();
        return l.result;
    }
    const bool left_out = kernel_is_left_out(call->function) || sampling_leaves_out(call);
    if (left_out)
        l.result = pass(call);
    else
        gp_run_internal_work(launch_at_work, &l);
    if (l.result == CUDA_SUCCESS)
        host_calls_note_launch(call);
    if (left_out)
        passing_ends();
    return l.result;
}

/* ---- launches that stand for one of the program's -------------------------------------------- */

/* Written under the gate. */
static _Atomic enum { NO_SERIES, SECOND_RUN, OWN_RUN } series;

bool launch_is_in_series(void)
{
    return series != NO_SERIES;
}

bool launch_writes_come_unseen(void)
{
    return series == SECOND_RUN;
}

void gp_launch_series_is_own_run(void)
{
    series = OWN_RUN;
}

/* Held launches need the memory as it is. Nodes that nobody has waited for may run still: memory is
 * not put back beside them. */
static void drain_in_series(CUstream stream)
{
    const struct gp_program_change any = {0};
    enum gp_passed_over why;
    struct gp_context *c = stream_context(stream, &why);
    if (c && context_rests(c, true) == CUDA_SUCCESS)
        drain_before_write(c);
    else if (c)
        drain_before_change(c, &any, false);
}

/* A kernel that is not measured is about to write. */
static void drain_before_node(const struct gp_launch *call)
{
    if (series == OWN_RUN && launch_writes_held(call))
        drain_in_series(call->stream);
}

void gp_launch_series_writes(CUstream stream, CUdeviceptr to, uint64_t bytes)
{
    if (series != OWN_RUN || launch_follows_write(to, bytes, stream))
        return;
    if (bytes ? gp_divided_is_written(to, bytes) : launch_writes_held(NULL))
        drain_in_series(stream);
}

void gp_launch_series_written(void)
{
    launch_followed_write();
}

bool gp_launch_series_begins(CUstream stream, bool per_thread_stream, enum gp_passed_over *why)
{
    *why = gp_session_measures() ? GP_BESIDE_CAPTURE : GP_AFTER_END;
    if (!gp_session_measures() || gp_captures() > 0 ||
        gp_stream_is_capturing(stream, per_thread_stream, false))
        return false;
    before_other_work(NULL);
    gp_internal_work_begins();
    if (lock_gate(why)) {
        if (ready_in(stream, why)) {
            series = SECOND_RUN;
            return true;
        }
        gp_gate_unlock();
    }
    gp_internal_work_ends();
    return false;
}

/* By the time that kernels of the graph before it took, as all were chosen before the first one was
 * launched. */
static bool is_permitted_still(const struct gp_launch *call)
{
    return limit_permits_chosen() && within_limit_permits_code(call->function);
}

CUresult gp_launch_in_series(const struct gp_launch *call, bool *measured, uint64_t turn,
                             bool *held_up)
{
    CUresult result;
    enum gp_passed_over why = GP_AFTER_END;
    *held_up = false;
    const bool permitted = *measured && is_permitted_still(call);
    if (permitted && gp_session_measures() && launch_alone(call, turn, held_up, &why, &result))
        return result;
    if (permitted)
        gp_sampling_passed_over(call, why);
    else if (*measured)
        gp_sampling_left_out(call, GP_MEASURED);
    *measured = false;
    drain_before_node(call);
    gp_session_count_launch();
    result = run_or_make_room(call);
    /* Nodes behind it would wait in vain. */
    if (result == CUDA_SUCCESS &&
        gp_kernel_interest(call->function, &call->configuration) == GP_UNENDING) {
        note_unending(call);
        *held_up = true;
    }
    return result;
}

CUresult gp_launch_in_series_timed(const struct gp_launch *call)
{
    drain_before_node(call);
    return note_timed(call, run_between_events(call, true));
}

bool gp_launch_series_rests(CUstream stream)
{
    return rests_in(stream);
}

void gp_launch_series_ends(void)
{
    series = NO_SERIES;
    gp_gate_unlock();
    gp_internal_work_ends();
}
