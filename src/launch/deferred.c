/* Launches that are not waited for. Of a kernel that is known to end, and to reach only the memory
 * to which its parameters and its module's variables lead, the host knows the memory to copy
 * beforehand: the copy is made in the launch's own stream, in front of it, and the call returns
 * when the driver does. All passes of the launch are made when the batch is drained
 * (launch/drain.c). */
#include "launch/inside.h"
#include "launch/kernels.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "counters/states.h"
#include "cuda/wait.h"
#include "gate/waits.h"
#include "memory/buffers.h"
#include "memory/modules.h"
#include "memory/sharing.h"

#include <math.h>
#include <sched.h>
#include <time.h>
#include <utlist.h>

/* Seconds for the work before a launch to end, beside twice the time that deferred launches are
 * known to take. */
#define LEAST_WAIT 0.002

/* Deferred launches whose streams have not come to their end. */
#define MOST_QUEUED 12

/* A wait for these goes on while one of them runs: nanoseconds between two checks, and seconds from
 * the end of one to the start of the next, which do not count while others have the CPU. */
#define NAP_NS 50000
#define MOST_REST 0.005

/* Launches of a kernel that may load addresses whose copies were not searched for these: so many,
 * and no more than a part of those that are known to lead nowhere. Where one leads to other memory
 * after all they are lost. */
#define MOST_UNSEARCHED 32
#define UNSEARCHED_OF 8

#define TOO_LONG GP_REASON_TEXT(TAKES_LONG, "the launch took too long to be run again")
#define LED_FURTHER            \
    GP_REASON_TEXT(NOT_COPIED, \
                   "the launch's memory led to other memory, of which there was no copy")

/* All that has to be known is known of the kernel, by launches that were measured when they were
 * made. */
static bool is_known(struct gp_kernel *kernel, const struct gp_launch *call,
                     const struct gp_context *c)
{
    return kernel->ended && kernel->reach == GP_REACH_DIRECT && !kernel->runs_once.cause &&
           !kernel->schedule.broken && kernel->schedule.launches >= GP_VERIFY_FIRST &&
           !gp_kernel_may_wait(kernel, &c->device) &&
           !kernel_may_use_textures(kernel, 10 * c->device.cc_major + c->device.cc_minor) &&
           !(gp_kernels_launch_graphs() && gp_kernel_may_launch_graphs(call->function));
}

static double expected_seconds(const struct gp_kernel *kernel, uint64_t shape)
{
    double ms = times_least(&kernel->times, shape);
    return ms > 0 ? ms / 1e3 : kernel->longest;
}

/* A deferred launch takes six entries of its stream's queue, where the program's takes one. A
 * blocked stream holds some 1000, and then the program up: it would be our fault. */
static bool is_much_queued(const struct gp_context *c)
{
    unsigned queued = 0;
    const struct gp_measurement *m;
    DL_FOREACH(c->unwritten, m)
    {
        queued++;
    }
    DL_FOREACH(c->launches, m)
    {
        queued += m->clock && !clock_has_stopped(m->clock);
    }
    return queued >= MOST_QUEUED;
}

static bool has_room(const struct gp_context *c)
{
    return c->collection && c->counts_hardware && c->snapshot && c->collection->most > 1 &&
           !c->dead && !c->in_pass && !is_much_queued(c) && !gp_collection_is_full(c->collection) &&
           gp_modules_are_resolved(c->handle) &&
           (!user_settings.flush_caches || gp_snapshot_may_flush(c->snapshot));
}

/* A batch has waited for long enough: then it is drained, unless it waits for the session. */
static bool is_drain_due(const struct gp_context *c)
{
    return context_is_due(c) && context_may_have_session(c, false);
}

/* True where nothing runs in the context, or it ends within so many seconds, after `waited` seconds
 * for deferred launches. Older drivers can only be waited for without a limit. */
static bool comes_to_rest(struct gp_context *c, double seconds, double waited)
{
    if (c->busy || gp_unending_runs(c->handle))
        return false;
    if (!gp_cuda.cuCtxRecordEvent)
        return true;
    /* It is not charged to the account: a launch that is measured takes longer than that. */
    double began = gp_clock_seconds();
    CUresult result =
        gp_wait_for_context(c->handle, c->asked, backoff_limit(seconds, c->deferred_backoff));
    double rest = gp_clock_seconds() - began;
    bool rests = result != CUDA_ERROR_NOT_READY;
    if (seconds > 0)
        backoff_note(&c->deferred_backoff, result, rest);
    c->wait_failed = !rests && (seconds > 0 || c->wait_failed);
    if (rests && seconds > 0) /* it was the program's work, but for ours */
        leave_wait_to_program(c, waited + rest);
    return rests;
}

/* True where the GPU comes to rest as soon as is expected. It does not where a stream is blocked:
 * then the next launch asks again, and does not wait. Before a launch that is to be verified
 * deferred ones end, however long they take: they wait for nobody. */
static bool comes_to_rest_soon(struct gp_context *c, bool to_verify)
{
    if (c->wait_failed)
        return comes_to_rest(c, 0, 0);
    context_wait_for_tail(c);
    double waited = to_verify ? deferred_wait(c) : 0;
    return comes_to_rest(c, LEAST_WAIT + 2 * fmin(c->deferred_seconds, GP_MOST_DEFERRED), waited);
}

/* Copies that lead further are found while the context is idle. */
static bool is_search_due(const struct gp_context *c, struct gp_kernel *kernel)
{
    const unsigned most = kernel->direct / UNSEARCHED_OF;
    const unsigned unsearched = held_unsearched(c, kernel);
    return unsearched > 0 && unsearched >= (most < MOST_UNSEARCHED ? most : MOST_UNSEARCHED) &&
           kernel_may_load_addresses(kernel, &c->device);
}

/* True where the launch is waited for: to be verified, to search copies of others, or as a batch is
 * to be drained. Before a batch the session may be opened anew, for which the GPU has to be at
 * rest; where it is at work that can wait. */
static bool is_to_be_waited_for(struct gp_context *c, struct gp_kernel *kernel,
                                const struct gp_launch *call)
{
    bool to_verify = verify_is_due(&kernel->schedule, call->grid);
    if (to_verify || is_search_due(c, kernel) || is_drain_due(c))
        return comes_to_rest_soon(c, to_verify);
    return !records_wait(c) && comes_to_rest(c, 0, 0);
}

/* Our copies might take the room of a launch that such a kernel waits for; not behind it. */
static bool is_beside_unending(const struct gp_context *c, const struct gp_launch *call)
{
    bool has_name = !gp_stream_is_default(call->stream);
    return gp_unending_runs_beside(c->handle, has_name ? call->stream : NULL);
}

static bool is_undisturbed(const struct gp_context *c)
{
    return !gp_memory_replay_barred().cause && gp_peers_of(c->handle, NULL, 0) == 0;
}

/* Enters it as a launch that is under way. It has a record from here on. */
static bool enter(struct gp_measurement *m, struct gp_held_copy *copy)
{
    struct gp_context *c = m->context;
    m->clock = held_keep(m) ? clock_take(&c->clocks) : NULL;
    if (!m->clock)
        return false;
    measurement_enter(m);
    m->index = session_next_launch();
    succession_note(m);
    record_make(m, true);
    gp_launch_move(&m->member.state, GP_LAUNCH_DEFER);
    atomic_store(&m->under_way, true);
    held_enter(m, copy);
    return true;
}

static bool hold(struct gp_measurement *m)
{
    struct gp_reach reach = measurement_reach(m);
    struct gp_held_copy *copy = gp_snapshot_reserve_copy(m->snapshot, &reach);
    if (!copy)
        return false;
    m->member.run.when = GP_RUN_LATER;
    m->member.run.layout = gp_held_copy_layout(copy);
    m->member.run.in_parts = gp_held_copy_has_parts(copy);
    m->runs = 1;
    bool entered = enter(m, copy);
    if (!entered)
        gp_snapshot_release(m->snapshot, copy);
    return entered;
}

/* A measurement of the launch that waits, if there is time for another one; else NULL. */
static struct gp_measurement *hold_in_time(const struct gp_launch *call, struct gp_kernel *kernel,
                                           struct gp_context *c, double started)
{
    struct gp_measurement *m = measurement_new(call, kernel, c);
    if (!m)
        return NULL;
    m->started = started;
    m->drained = drain_seconds();
    m->snapshot = c->snapshot;
    double seconds = c->deferred_seconds + expected_seconds(kernel, m->member.run.shape);
    bool held = seconds <= GP_MOST_DEFERRED && hold(m);
    /* Too much: the next launch that is waited for drains those before it, if there are any. */
    if (held || c->deferred_seconds > 0)
        c->deferred_seconds = fmin(seconds, 2 * GP_MOST_DEFERRED);
    if (held)
        return m;
    measurement_free(m);
    return NULL;
}

/* The snapshot is in use: nobody takes its memory. */
static struct gp_measurement *defer(const struct gp_launch *call, struct gp_kernel *kernel,
                                    struct gp_context *c)
{
    double started = gp_clock_seconds();
    held_release_written(c, false);
    if (!has_room(c) || !is_known(kernel, call, c) || is_beside_unending(c, call) ||
        !is_undisturbed(c))
        return NULL;
    if (is_to_be_waited_for(c, kernel, call) || verify_is_needed(&kernel->schedule, call->grid))
        return NULL;
    struct gp_measurement *m = hold_in_time(call, kernel, c, started);
    if (!m)
        return NULL;
    if (!verify_is_due(&kernel->schedule, call->grid))
        verify_count(&kernel->schedule, call->grid);
    records_note(c);
    return m;
}

struct gp_measurement *launch_defer(const struct gp_launch *call, struct gp_kernel *kernel)
{
    enum gp_passed_over why;
    if (user_settings.at_once || user_settings.verify_always || user_settings.recorded.replay_off)
        return NULL;
    struct gp_context *c = stream_context(call->stream, &why);
    if (!c || !c->snapshot)
        return NULL;
    gp_snapshot_set_in_use(c->snapshot, true);
    struct gp_measurement *m = defer(call, kernel, c);
    gp_snapshot_done(c->snapshot);
    return m;
}

CUresult launch_with_copies(struct gp_measurement *m, const struct gp_launch *call)
{
    struct gp_snapshot *snapshot = m->snapshot;
    clock_begin(m->clock, call);
    CUresult copied =
        gp_held_copy_make_on(snapshot, m->copy, call->stream, call->per_thread_stream);
    if (gp_snapshot_delay_stream(snapshot, call->stream, call->per_thread_stream,
                                 user_settings.flush_caches))
        clock_start(m->clock, call);
    gp_added_pauses();
    CUresult result = call->run(call);
    gp_added_resumes();
    clock_stop(m->clock, call);
    CUresult noted = gp_held_copy_note_on(snapshot, m->copy, call->stream, call->per_thread_stream);
    copied = copied != CUDA_SUCCESS ? copied : noted;
    if (m->clock->stopped)
        ended_watch(m->context->handle, m->clock, m->index, m->context->empty_ms);
    if (copied != CUDA_SUCCESS || result != CUDA_SUCCESS)
        m->broken_off = gp_cuda_reason(copied != CUDA_SUCCESS ? copied : result);
    atomic_store(&m->under_way, false);
    return result;
}

/* The most seconds that our own work in front of launches may have taken of a wait for the context,
 * which is idle now; the rest was the program's. Each launch is asked once. */
static double charge_of(struct gp_context *c)
{
    double ms = 0;
    struct gp_measurement *m;
    DL_FOREACH(c->launches, m)
    {
        if (m->member.state == GP_LAUNCH_LAUNCHED && !atomic_load(&m->under_way))
            ms += clock_charge(m->clock);
    }
    return ms / 1e3;
}

void leave_wait_to_program(struct gp_context *c, double waited)
{
    const double charge = charge_of(c);
    gp_added_less(fmax(0, waited - charge));
    gp_added_beside(fmax(0, charge - waited));
}

/* The progress of launches whose streams have not come to their end: there are none, none of them
 * runs, or one does. */
enum progress { NONE_LEFT, NONE_RUNS, ONE_RUNS };

static enum progress progress_of(const struct gp_measurement *list)
{
    enum progress most = NONE_LEFT;
    const struct gp_measurement *m;
    DL_FOREACH(list, m)
    {
        if (most == ONE_RUNS || !m->clock || atomic_load(&m->under_way) ||
            clock_has_stopped(m->clock))
            continue;
        most = clock_has_started(m->clock) ? ONE_RUNS : NONE_RUNS;
    }
    return most;
}

static enum progress progress_in(const struct gp_context *c)
{
    enum progress held = progress_of(c->launches), given_up = progress_of(c->unwritten);
    return held > given_up ? held : given_up;
}

double deferred_wait(struct gp_context *c)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    double began = gp_clock_seconds(), waited = 0, limit = gp_wait_computing_limit();
    double most_rest = backoff_limit(MOST_REST, c->start_backoff);
    struct gp_spin rest = gp_spin_begins();
    enum progress progress = NONE_LEFT;
    while (!c->deferred_stuck && (progress = progress_in(c)) != NONE_LEFT &&
           !gp_spin_is_over(&rest, most_rest)) {
        if (progress == ONE_RUNS) {
            nanosleep(&nap, NULL);
            rest = gp_spin_begins();
        } else {
            sched_yield();
        }
        waited = gp_clock_seconds() - began;
        c->deferred_stuck = waited > limit;
    }
    backoff_note(&c->start_backoff, progress == NONE_LEFT ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY,
                 waited);
    if (waited > limit)
        gp_wait_was_in_vain(gp_wait_first_limit());
    return waited;
}

/* ---- in the drain ---------------------------------------------------------------------------- */

/* Whether the copy has all that the launch reaches, which shows now: the launch was not waited
 * for. */
static bool is_copy_whole(struct gp_measurement *m)
{
    bool whole = false;
    struct gp_reason why;
    if (m->searched || !kernel_may_load_addresses(m->kernel, &m->context->device)) {
        m->searched = true;
        return true;
    }
    if (!gp_held_copy_is_whole(m->snapshot, m->copy, &whole, &why)) {
        m->broken_off = why;
    } else if (!whole) {
        m->broken_off = LED_FURTHER;
        kernel_reached(m->kernel, true);
    } else {
        kernel_reached(m->kernel, false);
    }
    m->searched = whole;
    return whole;
}

/* The own run's time is the limit of a replay. It is the launch's time, where it is not the first
 * that is known of such launches: beside other work it would be too long, and nothing would tell.
 */
static void take_time(struct gp_measurement *m)
{
    float ms = clock_read(m->clock) - m->context->empty_ms;
    if (ms <= 0)
        return;
    m->seconds = ms / 1e3;
    if (m->seconds > gp_wait_computing_limit())
        m->broken_off = TOO_LONG;
    if (times_least(&m->kernel->times, m->member.run.shape) > 0)
        m->member.run.native_ms = ms;
}

/* A launch that waits makes its steps with its batch, another one now; and one for which there is
 * no session any more, whose instructions may be counted all the same. */
static void replay_from_start(struct gp_measurement *m)
{
    take_time(m);
    measurement_note_unsure(m);
    if (!m->broken_off.cause && m->member.run.native_ms == 0)
        time_replay(m);
    if (m->broken_off.cause)
        return;
    gp_launch_move(&m->member.state, GP_LAUNCH_END);
    if (!m->context->collection->facts.session)
        m->member.run.when = GP_RUN_NOW;
    if (m->member.run.when == GP_RUN_NOW)
        replay_at_once(m);
    if (!m->broken_off.cause)
        check_time(m);
}

void measure_in_drain(struct gp_measurement *m)
{
    double start = gp_clock_seconds();
    kernel_compile(m->kernel); /* CUPTI is there now */
    if (!m->broken_off.cause && is_copy_whole(m))
        replay_from_start(m);
    if (m->member.state == GP_LAUNCH_LAUNCHED)
        gp_launch_move(&m->member.state, GP_LAUNCH_ABANDON);
    gp_snapshot_done(m->snapshot);
    record_time(m);
    record_amend(m, 1e3 * (gp_clock_seconds() - start), m->broken_off);
}

/* As take_time, without a replay that could confirm it. */
void time_deferred(struct gp_measurement *m)
{
    if (m->member.state != GP_LAUNCH_LAUNCHED || atomic_load(&m->under_way) ||
        !clock_has_stopped(m->clock))
        return;
    const float ms = clock_read(m->clock) - m->context->empty_ms;
    if (ms <= 0)
        return;
    m->member.run.native_ms = ms;
    record_time(m);
}

bool search_deferred(struct gp_measurement *m)
{
    bool whole = is_copy_whole(m);
    gp_snapshot_done(m->snapshot);
    return whole;
}
