#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "cuda/wait.h"
#include "gate/waits.h"
#include "launch/inside.h"
#include "launch/kernels.h"

#include <math.h>

/* Kernels that were abandoned and named. */
#define MOST_ABANDONED 8

/* The kernel has failed on the device: CUDA lets nothing more happen in this context. The program
 * learns of it where it would have without us, at its next call that waits. */
void context_died(struct gp_measurement *m, CUresult error)
{
    m->context->dead = true;
    gp_say("a kernel failed with %s; its context is not measured any more", gp_cuda_error(error));
}

_Static_assert(GP_COMPUTING_FACTOR == 30, "the reason says so");
static void refuse_long(struct gp_kernel *kernel, double seconds)
{
    static struct gp_say_limit once;
    gp_say_limited(&once, MOST_ABANDONED,
                   "%s did not end within %.3g s, and is not measured: it waits for nobody, but "
                   "takes long; GPUPROF_TIMEOUT=SECONDS gives it %d times as many",
                   kernel_shown(kernel), fmax(seconds, gp_wait_computing_limit()),
                   GP_COMPUTING_FACTOR);
    kernel_refuse(kernel, GP_REASON_TEXT(TAKES_LONG,
                                         "the kernel takes longer than 30 times GPUPROF_TIMEOUT"));
}

static void refuse_waiting(struct gp_kernel *kernel, double seconds)
{
    static struct gp_say_limit once;
    gp_say_limited(&once, MOST_ABANDONED,
                   "%s did not end within %.3g s by itself: it waits for the host or for other "
                   "work, and is not measured; where it only takes long, GPUPROF_TIMEOUT=SECONDS "
                   "gives it more time",
                   kernel_shown(kernel), seconds);
    kernel_refuse(kernel, GP_DOES_NOT_END);
}

/* The program gets the result of the replay. */
static void say_lost(struct gp_kernel *kernel)
{
    static struct gp_say_limit once;
    gp_say_limited(&once, 1,
                   "a replay of %s did not end: writes to its memory since then are lost, and the "
                   "program's results may be wrong",
                   kernel_shown(kernel));
}

void abandon_kernel(struct gp_measurement *m, double seconds)
{
    if (gp_kernel_may_wait(m->kernel, &m->context->device))
        refuse_waiting(m->kernel, seconds);
    else
        refuse_long(m->kernel, seconds);
    if (m->snapshot && m->runs > 0)
        say_lost(m->kernel);
    m->context->busy = true;
    gp_unending_launched(m->call->stream, m->call->per_thread_stream, false);
    m->broken_off = m->kernel->refused;
}

CUresult record_launch_event(const struct gp_launch *call, CUevent event)
{
    return gp_event_record(event, call->stream, call->per_thread_stream);
}

/* Where streams share a queue of the hardware, nothing passes an event that takes the time
 * (H100): the kernel may wait for a launch that would stand behind it for ever. It takes the time
 * once the kernel has ended, a little too late. */
static bool takes_time_late(const struct gp_measurement *m)
{
    return user_settings.few_queues && m->runs == 0 &&
           gp_kernel_may_wait(m->kernel, &m->context->device);
}

CUresult wait_for_kernel(struct gp_measurement *m, double seconds, double *waited)
{
    CUevent event = m->context->event;
    bool late = takes_time_late(m);
    CUresult outcome = late ? CUDA_SUCCESS : record_launch_event(m->call, m->context->end);
    if (outcome == CUDA_SUCCESS)
        outcome = record_launch_event(m->call, event);
    if (outcome != CUDA_SUCCESS)
        return outcome;
    double began = gp_clock_seconds();
    outcome = gp_wait_for_event(event, seconds);
    double first = gp_clock_seconds() - began;
    if (outcome == CUDA_ERROR_NOT_READY && !gp_kernel_may_wait(m->kernel, &m->context->device))
        outcome = gp_wait_for_event(event, gp_wait_computing_limit() - first);
    /* The rest is not charged: the program would have waited for such a kernel, too; and a replay
     * that is abandoned is to leave time for other kernels. */
    if (outcome == CUDA_ERROR_NOT_READY)
        gp_wait_was_in_vain(fmin(first, gp_wait_first_limit()));
    if (waited)
        *waited = gp_clock_seconds() - began;
    if (outcome == CUDA_SUCCESS && late) {
        m->time_is_late = true;
        outcome = record_launch_event(m->call, m->context->end);
        if (outcome == CUDA_SUCCESS)
            outcome = gp_wait_for_event(m->context->end, seconds);
    }
    return outcome;
}

/* Two starts are enough once the least time between two is known. A host that is busy may hold up
 * one of them, but hardly all. */
static unsigned first_start(const struct gp_context *c)
{
    return c->empty_ms == 0 ? 0 : GP_STARTS - 2;
}

/* Marks the start of the kernel's time on the GPU. Our own kernel runs just before, which empties
 * the caches, so the launch stands in line by the time it ends and nothing is waited for in
 * between. */
bool start_launch_clock(struct gp_measurement *m)
{
    struct gp_context *c = m->context;
    const struct gp_launch *call = m->call;
    struct gp_reason why;
    struct gp_snapshot *snapshot = context_snapshot(c, &why);
    if (!snapshot)
        return false;
    bool held_up = (user_settings.flush_caches &&
                    gp_snapshot_flush_caches_on(snapshot, call->stream, call->per_thread_stream)) ||
                   gp_snapshot_pause_on(snapshot, call->stream, call->per_thread_stream);
    for (unsigned i = first_start(c); held_up && i < GP_STARTS; i++)
        held_up = record_launch_event(m->call, c->starts[i]) == CUDA_SUCCESS;
    return held_up;
}

/* The kernel's time, less that of two events with nothing between them. Of two runs the quicker one
 * counts: other work of the driver only adds. */
void read_launch_clock(struct gp_measurement *m)
{
    struct gp_context *c = m->context;
    float least = c->empty_ms, empty, all;
    for (unsigned i = first_start(c); i + 1 < GP_STARTS; i++) {
        if (gp_cuda.cuEventElapsedTime(&empty, c->starts[i], c->starts[i + 1]) != CUDA_SUCCESS)
            return;
        if (least == 0 || empty < least)
            least = empty;
    }
    c->empty_ms = least;
    if (gp_cuda.cuEventElapsedTime(&all, c->starts[GP_STARTS - 1], c->end) != CUDA_SUCCESS)
        return;
    double kernel = all > c->empty_ms ? all - c->empty_ms : 0;
    if (m->member.run.native_ms == 0 || kernel < m->member.run.native_ms)
        m->member.run.native_ms = kernel;
}

/* The program's own launch: the driver's work for it, code that it loads say, is its own. */
static CUresult run_programs(struct gp_measurement *m)
{
    double began = gp_clock_seconds();
    gp_added_pauses();
    CUresult result = m->call->run(m->call);
    gp_added_resumes();
    m->launching = gp_clock_seconds() - began;
    return result;
}

void leave_to_program(struct gp_measurement *m, double seconds)
{
    m->not_ours += seconds;
    gp_added_less(seconds - m->launching);
}

static void load_programs(const struct gp_measurement *m)
{
    gp_added_pauses();
    kernel_load(m->kernel, m->context->handle);
    gp_added_resumes();
}

CUresult own_run(struct gp_measurement *m, bool *ended)
{
    *ended = false;
    load_programs(m);
    bool timed = start_launch_clock(m);
    CUresult result = run_programs(m);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && m->snapshot) {
        /* Stacks or code of the kernel may need the room that our copy takes. */
        gp_snapshot_done(m->snapshot);
        m->snapshot = NULL;
        m->broken_off =
            GP_REASON_TEXT(NO_ROOM, "the GPU has no room for the kernel beside a copy of memory");
        timed = false; /* from before our memory was freed */
        gp_contexts_before_change(&(struct gp_program_change){0}, true, true);
        if (gp_snapshot_release_memory(false))
            result = run_programs(m);
    }
    if (result != CUDA_SUCCESS)
        return result;
    double seconds = gp_wait_limit();
    CUresult outcome = wait_for_kernel(m, seconds, &m->seconds);
    if (outcome == CUDA_ERROR_NOT_READY) {
        abandon_kernel(m, seconds);
    } else if (outcome != CUDA_SUCCESS) {
        context_died(m, outcome);
    } else {
        *ended = !m->broken_off.cause;
        m->runs++;
        kernel_ended(m->kernel, m->seconds);
        if (timed)
            read_launch_clock(m);
        kernel_took(m->kernel, m->member.run.native_ms);
        leave_to_program(m,
                         m->member.run.native_ms > 0 ? m->member.run.native_ms / 1e3 : m->seconds);
    }
    return result;
}

/* The program's own launch, in a pass. A launch that is refused there, where the code may need more
 * than there is, is made plainly. */
CUresult own_run_in_pass(struct gp_measurement *m, const struct gp_step *step)
{
    bool ended;
    if (!begin_pass(m, step))
        return own_run(m, &ended);
    CUresult result;
    run_launch_pass(m, step, &result);
    if (result == CUDA_SUCCESS)
        return result;
    m->broken_off = gp_cuda_reason(result);
    return own_run(m, &ended);
}
