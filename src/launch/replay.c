#include "base/log.h"
#include "gate/waits.h"
#include "launch/inside.h"
#include "launch/session.h"

#include <math.h>
#include <string.h>

/* Times longer than it took that a kernel may take when it runs again, and in instrumented code. */
#define REPLAY_FACTOR 2
#define INSTRUMENTED_FACTOR 100
/* Blocks that wait for each other in instrumented code wait longer for it: a launch of 43 ms took
 * 13.8 s. So kernels of which the blocks may do so are not run in it where they take longer than
 * this part of the first limit. */
#define SPINNING_FACTOR 100
/* Seconds after which a GPU that drives a display may end a kernel. */
#define LEAST_TIME_LIMIT 2
/* Seconds from which on a pass is announced, as far as is known; and how many are. */
#define ANNOUNCED_SECONDS 5
#define MOST_ANNOUNCED 3
/* Above this the driver's part of a run is small, and the cost of one more replay large. */
#define MOST_DOUBTFUL_MS 100
/* Events tell times in steps of half a microsecond. */
#define CLOCK_STEP_MS 0.001

/* How long the kernel took when it was the program's own: this launch, or else the longest. */
static double own_seconds(const struct gp_measurement *m)
{
    return m->seconds > 0 ? m->seconds : m->kernel->longest;
}

/* The own run has ended beside nothing that it could have waited for, and in a replay there is
 * nothing else either. Blocks that wait for each other may take far longer in instrumented code. */
static bool is_sure_to_end(const struct gp_measurement *m)
{
    return m->runs > 0 && m->snapshot && !gp_snapshot_may_host_write(m->snapshot);
}

/* How long, in seconds, a run is waited for that may take so many times as long as the kernel did.
 * Memory is lost where a replay is abandoned. */
static double limit_of(const struct gp_measurement *m, double factor)
{
    double least = is_sure_to_end(m) ? fmax(gp_wait_computing_limit(), GP_LEAST_REPLAY_LIMIT)
                                     : gp_wait_first_limit();
    return fmax(least, factor * own_seconds(m));
}

struct gp_reason pass_is_too_slow(const struct gp_measurement *m, enum gp_step_kind kind)
{
    double own = m->member.run.native_ms > 0 ? m->member.run.native_ms / 1e3 : own_seconds(m);
    if (!gp_step_is_instrumented(kind))
        return GP_NO_REASON;
    if (m->context->time_limited && INSTRUMENTED_FACTOR * own > LEAST_TIME_LIMIT)
        return GP_REASON_TEXT(INSTRUMENTED_TOO_SLOW,
                              "instrumented code may take longer than this GPU, which drives a "
                              "display, lets a kernel run");
    if (own > gp_wait_first_limit())
        return GP_REASON_TEXT(INSTRUMENTED_TOO_SLOW,
                              "instrumented code may take a hundred times as long as the kernel, "
                              "which takes longer than GPUPROF_TIMEOUT");
    if (SPINNING_FACTOR * own > gp_wait_first_limit() &&
        kernel_may_spin(m->kernel, &m->context->device))
        return GP_REASON_TEXT(
            INSTRUMENTED_TOO_SLOW,
            "instrumented code may take many hundred times as long, as the kernel's blocks wait "
            "for each other, and it takes longer than a hundredth of GPUPROF_TIMEOUT");
    return GP_NO_REASON;
}

/* The program stands still for that long, and its user would not know why. */
static void announce(const struct gp_measurement *m, enum gp_step_kind kind)
{
    static struct gp_say_limit once;
    double own = m->member.run.native_ms > 0 ? m->member.run.native_ms / 1e3 : own_seconds(m);
    if (!gp_step_is_instrumented(kind) || INSTRUMENTED_FACTOR * own < ANNOUNCED_SECONDS ||
        m->kernel->announced)
        return;
    m->kernel->announced = true;
    gp_say_limited(&once, MOST_ANNOUNCED,
                   "%s takes %.2g s by itself, and in instrumented code perhaps a hundred times as "
                   "long; a GPUPROF_TIMEOUT below that time leaves this out",
                   kernel_shown(m->kernel), own);
}

void not_put_back(const char *behind, struct gp_reason why)
{
    gp_say("memory could not be put back after %s (%s); the program's results from here on may be "
           "wrong",
           behind, why.text);
    session_give_up("a second run could not be undone");
}

/* Memory becomes as the program's own run left it, unless a kernel is still writing it. */
void put_back_final_state(struct gp_measurement *m)
{
    struct gp_reason why;
    if (!m->snapshot || !context_goes_on(m->context) || gp_snapshot_finish(m->snapshot, &why) ||
        !gp_session_measures())
        return; /* without a session the process is at its end, and the driver gone */
    not_put_back("a replay", why);
}

bool begin_pass(struct gp_measurement *m, const struct gp_step *step)
{
    struct gp_collection *c = m->context->collection;
    struct gp_reason why;
    bool begun = c->collector->begin(c, step, &why);
    if (!begun)
        m->broken_off = why;
    return begun;
}

/* It has ended by itself before, but this launch, or this run of it, does not: it waits for the
 * host after all. To end the pass would be to wait for it. */
static void abandon_in_pass(struct gp_measurement *m, const struct gp_step *step, double seconds)
{
    kernels_all_collected();
    m->context->open_pass = *step;
    m->context->in_pass = true;
    abandon_kernel(m, seconds);
}

CUresult wait_in_pass(struct gp_measurement *m, const struct gp_step *step)
{
    double seconds =
        limit_of(m, gp_step_is_instrumented(step->kind) ? INSTRUMENTED_FACTOR : REPLAY_FACTOR);
    double waited = 0;
    CUresult outcome = wait_for_kernel(m, seconds, &waited);
    if (outcome == CUDA_ERROR_NOT_READY)
        abandon_in_pass(m, step, seconds);
    else if (m->member.run.when == GP_RUN_ONCE)
        leave_to_program(m, fmin(waited, kernel_shortest(m->kernel)));
    return outcome;
}

/* In a pass of the hardware a kernel is as quick as by itself. The host's launch falls between the
 * two events, so the kernel takes no longer than this. */
static void bound_time(struct gp_measurement *m)
{
    float most;
    if (gp_cuda.cuEventElapsedTime(&most, m->context->starts[0], m->context->end) == CUDA_SUCCESS &&
        (m->most_ms == 0 || most < m->most_ms)) {
        m->most_ms = most;
        kernel_took(m->kernel, most);
    }
}

bool run_launch_pass(struct gp_measurement *m, const struct gp_step *step, CUresult *result)
{
    struct gp_context *c = m->context;
    m->kernel->collected = true;
    bool bounded = !gp_step_is_instrumented(step->kind) &&
                   record_launch_event(m->call, c->starts[0]) == CUDA_SUCCESS;
    *result = m->call->run(m->call);
    CUresult outcome = *result == CUDA_SUCCESS ? wait_in_pass(m, step) : CUDA_SUCCESS;
    if (outcome == CUDA_ERROR_NOT_READY)
        return false;
    if (outcome != CUDA_SUCCESS) {
        context_died(m, outcome);
        return false;
    }
    struct gp_reason why;
    bool ended = c->collection->collector->end(c->collection, step, *result != CUDA_SUCCESS, &why);
    if (!ended)
        m->broken_off = why;
    if (*result != CUDA_SUCCESS)
        return false;
    if (bounded)
        bound_time(m);
    m->runs++;
    m->member.run.unsure = false;
    return ended;
}

bool put_in_place(struct gp_measurement *m, bool by_driver)
{
    struct gp_reason why;
    bool put = gp_snapshot_put_in_place(m->snapshot, m->copy, by_driver, &why);
    if (put)
        m->restored_bytes += gp_held_copy_bytes(m->copy);
    else
        m->broken_off = why;
    return put;
}

bool rewind_memory(struct gp_measurement *m, bool by_driver)
{
    struct gp_reason why;
    if (m->copy)
        return put_in_place(m, by_driver);
    if (!gp_snapshot_rewind(m->snapshot, &why)) {
        m->broken_off = why;
        return false;
    }
    bool host_changed = gp_snapshot_host_changed(m->snapshot);
    kernel_host_changed(m->kernel, host_changed);
    if (host_changed) {
        m->broken_off =
            GP_REASON_TEXT(HOST_MEMORY, "page-locked host memory changed while the kernel ran");
        return false;
    }
    m->restored_bytes += gp_snapshot_changed_bytes(m->snapshot);
    return true;
}

void measurement_note_unsure(struct gp_measurement *m)
{
    m->member.run.unsure = INSTRUMENTED_FACTOR * own_seconds(m) > gp_wait_first_limit();
}

bool rehearse_launch(struct gp_measurement *m)
{
    double seconds = limit_of(m, REPLAY_FACTOR);
    CUresult result = m->call->run(m->call);
    if (result != CUDA_SUCCESS) {
        m->broken_off = gp_cuda_reason(result);
        return false;
    }
    CUresult outcome = wait_for_kernel(m, seconds, NULL);
    if (outcome == CUDA_ERROR_NOT_READY)
        abandon_kernel(m, seconds);
    else if (outcome != CUDA_SUCCESS)
        context_died(m, outcome);
    m->runs += outcome == CUDA_SUCCESS;
    if (outcome != CUDA_SUCCESS)
        return false;
    m->member.run.unsure = false;
    return true;
}

/* Our own kernels run before the pass begins: a pass counts every kernel there is. */
bool replay_step(struct gp_measurement *m, const struct gp_step *step)
{
    const bool instrumented = gp_step_is_instrumented(step->kind);
    const bool by_driver = instrumented && step->in_row;
    struct gp_reason too_slow = pass_is_too_slow(m, step->kind);
    if (too_slow.cause) {
        m->broken_off = too_slow;
        return false;
    }
    announce(m, step->kind);
    if (!rewind_memory(m, by_driver))
        return false;
    if (instrumented && m->member.run.unsure &&
        (!rehearse_launch(m) || !rewind_memory(m, by_driver)))
        return false;
    if (!begin_pass(m, step))
        return false;
    CUresult result;
    bool ended = run_launch_pass(m, step, &result);
    if (result != CUDA_SUCCESS)
        m->broken_off = gp_cuda_reason(result);
    return ended;
}

/* A kernel that was not measured before is instrumented in the step. */
bool step_is_permitted(struct gp_measurement *m, const struct gp_step *step)
{
    if (!limit_is_set() || !step->member)
        return true;
    const double seconds = step->ms / 1e3;
    const bool begins_code =
        gp_step_is_instrumented(step->kind) && !tally_kernel_is(m->kernel->name, GP_KERNEL_COUNTED);
    if (begins_code ? limit_permits_code_in_drain(seconds) : limit_permits_in_drain(seconds))
        return true;
    m->broken_off = GP_LEFT_IN_DRAIN;
    return false;
}

/* An instrumented pass that could not be made in one way may be made in another. */
void replay_at_once(struct gp_measurement *m)
{
    struct gp_collection *c = m->context->collection;
    struct gp_step step;
    bool broken_off_in_code = false;
    while (context_goes_on(m->context) && gp_collection_next(c, &m->member, &step)) {
        const bool instrumented = gp_step_is_instrumented(step.kind);
        if (instrumented && broken_off_in_code)
            m->broken_off = GP_NO_REASON;
        const bool well = step_is_permitted(m, &step) && replay_step(m, &step);
        broken_off_in_code = instrumented && !well;
        gp_collection_stepped(c, &step, well);
    }
    diagnose_launch(m);
}

bool wants_time(const struct gp_measurement *m)
{
    struct gp_collection *c = m->context->collection;
    size_t count;
    const struct gp_counter *counters = c->collector->read(c, &m->member, GP_NO_REASON, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(counters[i].name, GP_DURATION_COUNTER) == 0)
            return true;
    return false;
}

bool time_replay(struct gp_measurement *m)
{
    if (!rewind_memory(m, false))
        return false;
    if (!start_launch_clock(m) || !rehearse_launch(m))
        return false;
    read_launch_clock(m);
    return true;
}

/* A kernel's first run may hold work of the driver for it, code that it loads say. So does a time
 * that is longer than the kernel took in a pass. Of launches that are alike, one that took longer
 * was held up. */
static bool is_time_doubtful(const struct gp_measurement *m)
{
    double ms = m->member.run.native_ms;
    if (ms > MOST_DOUBTFUL_MS)
        return false;
    return !m->kernel->timed || m->time_is_late ||
           (m->most_ms > 0 && ms > m->most_ms + CLOCK_STEP_MS) ||
           times_doubt(&m->kernel->times, m->member.run.shape, ms);
}

/* One more replay, plain. */
void check_time(struct gp_measurement *m)
{
    const double first = m->member.run.native_ms;
    if (first == 0 || !wants_time(m))
        return;
    if (is_time_doubtful(m)) {
        if (!context_goes_on(m->context) || !time_replay(m))
            return; /* the time is as good as it was */
        m->kernel->timed = true;
    }
    times_count(&m->kernel->times, m->member.run.shape, first, m->member.run.native_ms);
}

bool check_time_again(struct gp_measurement *m)
{
    const double ms = m->member.run.native_ms;
    return ms > 0 && ms <= MOST_DOUBTFUL_MS && m->most_ms > 0 && ms > m->most_ms + CLOCK_STEP_MS &&
           context_goes_on(m->context) && wants_time(m) && time_replay(m) &&
           m->member.run.native_ms < ms;
}
