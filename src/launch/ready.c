/* Whether a launch can be measured now: nothing else runs in its context, and the kernel may be
 * waited for. While the gate is locked. */
#include "launch/inside.h"
#include "launch/kernels.h"

#include "base/log.h"
#include "cuda/cupti.h"
#include "gate/waits.h"
#include "launch/session.h"
#include "launch/timed.h"

#include <stdatomic.h>

/* Waits that were shorter tell nothing. */
#define TELLING_SECONDS 0.0005
/* How long a kernel that waits for the host is waited for: it is often let end just before a
 * launch. */
#define FIRST_HELD_UP_SECONDS 0.001
#define MOST_HELD_UP 16
/* A kernel that has ended before is measured where the next wait may last so much longer; an
 * unknown one, where that is a small part of the least time that the first one may last. */
#define ROOM_FACTOR 2
#define LEAST_PART (1.0 / 32)
/* Kernels that are named. */
#define MOST_POLLING 8

bool stream_is_in_context(CUstream stream, CUcontext context)
{
    CUcontext own = NULL;
    if (gp_stream_is_default(stream) || !gp_cuda.cuStreamGetCtx)
        return true;
    return gp_cuda.cuStreamGetCtx(stream, &own) != CUDA_SUCCESS || own == context;
}

/* True while a kernel runs that does not end by itself. Each wait in vain halves the next. */
static bool is_held_up(struct gp_context *c)
{
    bool runs = gp_unending_runs_on(c->handle, FIRST_HELD_UP_SECONDS / (1u << c->held_up));
    if (!runs)
        c->held_up = 0;
    else if (c->held_up < MOST_HELD_UP)
        c->held_up++;
    return runs;
}

/* True when nothing else runs in the context. Where something does and does not end, it is asked
 * for again, but not waited for again. An error that is pending is the program's: its launch
 * reports it. */
static bool is_idle(struct gp_context *c)
{
    static struct gp_say_limit once;
    if (is_held_up(c) || (c->busy && gp_cuda.cuEventQuery(c->event) == CUDA_ERROR_NOT_READY))
        return false;
    double waited = 0, most = gp_wait_limit();
    context_wait_for_tail(c);
    double deferred = deferred_wait(c);
    CUresult result = context_wait(c, most, &waited);
    waited += deferred;
    c->busy = result == CUDA_ERROR_NOT_READY;
    /* The program would have waited for it later; but not to learn that there is nothing. */
    if (!c->busy && waited > TELLING_SECONDS)
        leave_wait_to_program(c, waited);
    if (c->busy)
        gp_say_limited(&once, 1,
                       "other work on the GPU does not end; launches beside it are not measured");
    return result == CUDA_SUCCESS;
}

/* True for a kernel that has ended before and cannot wait for others. */
static bool is_sure_to_end(struct gp_kernel *kernel, const struct gp_context *c)
{
    return kernel->ended && !gp_kernel_may_wait(kernel, &c->device);
}

/* True where the rest of the waits in vain permits a wait for one more launch of the kernel. */
static bool may_be_waited_for(struct gp_kernel *kernel, const struct gp_context *c)
{
    static struct gp_say_limit once, too_long;
    double limit = gp_wait_limit(), first = gp_wait_first_limit();
    double least = kernel->ended ? ROOM_FACTOR * kernel->longest : 0;
    if (least < LEAST_PART * first && !kernel->ended)
        least = LEAST_PART * first;
    if (limit > least || is_sure_to_end(kernel, c))
        return true;
    const double in_vain = 2 * (first - limit);
    if (in_vain < 1e-3)
        gp_say_limited(&too_long, 1,
                       "%s takes too long to be waited for; GPUPROF_TIMEOUT=SECONDS gives it more "
                       "time than %.3g s",
                       kernel_shown(kernel), first);
    else
        gp_say_limited(&once, 1,
                       "the program was held up for %.3g s in vain; some launches are not measured "
                       "any more, as they would be waited for (GPUPROF_TIMEOUT)",
                       in_vain);
    return false;
}

struct gp_context *stream_context(CUstream stream, enum gp_passed_over *reason)
{
    CUcontext current = NULL;
    struct gp_reason why = GP_NO_REASON;
    *reason = GP_FAILED;
    if (gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return NULL;
    *reason = GP_OTHER_CONTEXT;
    if (!stream_is_in_context(stream, current))
        return NULL;
    struct gp_context *context = context_enter(current, &why);
    *reason = why.cause ? GP_AFTER_END : GP_FAILED;
    if (!context && why.cause)
        session_give_up(why.text);
    return context;
}

/* True where launches cannot wait for the session, which is away: then they are only timed until it
 * may come. */
static bool is_to_be_timed(const struct gp_context *c)
{
    return context_is_away(c) &&
           (context_is_full(c) || user_settings.at_once || user_settings.recorded.replay_off);
}

/* True when the context is ready for a measurement: nothing runs in it, and its counters are
 * collected, or launches can wait for it. */
static bool is_ready(struct gp_context *c)
{
    struct gp_reason why;
    if (!is_idle(c))
        return false;
    if (context_collects(c, &why)) {
        const bool timed = is_to_be_timed(c);
        if (timed)
            timed_only_until(c->handle, &c->device, GP_COUNTERS_AWAY, context_awaits_session(c));
        return !timed;
    }
    if (why.cause)
        timed_only_in(c->handle, &c->device, why, why.cause == GP_CAUSE_COUNTERS_IN_USE);
    return false;
}

static enum gp_passed_over why_not_ready(const struct gp_context *c)
{
    if (!gp_session_measures())
        return GP_AFTER_END;
    if (context_is_away(c) && !c->busy)
        return GP_BESIDE_OTHERS;
    return c->busy || c->held_up > 0 || !c->collection ? GP_BESIDE_WORK : GP_FAILED;
}

/* It waits for the host, by all that is known: no time is lost to find out. Where the user has said
 * how long to wait, that is done. */
static bool refuse_polling(struct gp_kernel *kernel, const struct gp_launch *call,
                           const struct gp_context *c)
{
    static struct gp_say_limit once;
    if (user_settings.timeout_set || !launch_polls(kernel, call, c))
        return false;
    gp_say_limited(
        &once, MOST_POLLING,
        "%s reads the host's memory in a loop, so it may wait for the host: launches of a "
        "single warp are not measured; with GPUPROF_TIMEOUT=SECONDS they are waited for",
        kernel_shown(kernel));
    atomic_store(&kernel->waits_for_host, true);
    sampling_asks_again();
    return true;
}

struct gp_context *ready_for(const struct gp_launch *call, struct gp_kernel *kernel, bool *held_up,
                             enum gp_passed_over *why)
{
    struct gp_context *context = stream_context(call->stream, why);
    bool ready = false;
    if (!context)
        return NULL;
    *why = GP_WAITS;
    if (refuse_polling(kernel, call, context))
        return NULL;
    *why = GP_OUT_OF_TIME;
    if (may_be_waited_for(kernel, context)) {
        ready = is_ready(context);
        *why = why_not_ready(context);
    }
    *held_up = context->busy;
    return ready ? context : NULL;
}

bool ready_in(CUstream stream, enum gp_passed_over *why)
{
    struct gp_context *c = stream_context(stream, why);
    if (!c)
        return false;
    bool ready = is_ready(c);
    *why = why_not_ready(c);
    return ready;
}

bool rests_in(CUstream stream)
{
    enum gp_passed_over why;
    struct gp_context *c = stream_context(stream, &why);
    return c && is_idle(c);
}
