#include "launch/launch.h"

#include "base/added_time.h"
#include "base/log.h"
#include "cuda/green.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/own_work.h"
#include "gate/waits.h"
#include "launch/at_exit.h"
#include "launch/contexts.h"
#include "launch/drain.h"
#include "launch/kernels.h"
#include "launch/measure.h"
#include "launch/polls.h"
#include "launch/sampling.h"
#include "launch/selection.h"
#include "launch/session.h"
#include "launch/settings.h"
#include "memory/buffers.h"

#include <math.h>
#include <stdatomic.h>

/* How long other work in its context is waited for, where the last wait for such was in vain: less
 * each time. A wait in which that ends and which was not too short to tell makes good for it. */
#define FIRST_WARY_SECONDS 0.01
#define LAST_WARY_SECONDS 0.0005
#define TELLING_SECONDS 0.0005
/* The same for kernels that wait for the host: it has often let them end just before the launch. */
#define FIRST_HELD_UP_SECONDS 0.001
#define MOST_HELD_UP 16
/* A kernel that has ended before is measured where the next wait may last so much longer; an
 * unknown one, where that is a small part of the least time that the first one may last. */
#define ROOM_FACTOR 2
#define LEAST_PART (1.0 / 32)
/* Kernels that are named. */
#define MOST_POLLING 8

/* The launch is the program's: a full stream holds it up. */
static CUresult run_programs(const struct gp_launch *call)
{
    gp_added_pauses();
    CUresult result = call->run(call);
    gp_added_resumes();
    return result;
}

/* The program can have our memory. The gate is closed. */
static CUresult run_or_make_room(const struct gp_launch *call)
{
    CUresult result = run_programs(call);
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return result;
    gp_contexts_before_change(&(struct gp_change){0}, true, true);
    return gp_snapshot_release_memory(gp_captures() > 0) ? run_programs(call) : result;
}

static CUresult run_beside_replays(const struct gp_launch *call)
{
    gp_gate_share();
    CUresult result = run_programs(call);
    gp_gate_unshare();
    return result;
}

CUresult gp_launch_plainly(const struct gp_launch *call)
{
    CUresult result = run_beside_replays(call);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && gp_launch_release_memory())
        result = run_beside_replays(call);
    return result;
}

void gp_launch_not_measured(enum gp_unmeasured kind)
{
    static const char *const what[GP_UNMEASURED_KINDS] = {
        [GP_MULTI_DEVICE_LAUNCH] = "cooperative launches over several devices are not measured",
        [GP_OLD_LAUNCH] = "launches by cuLaunch and cuLaunchGrid are not measured",
    };
    static struct gp_once once[GP_UNMEASURED_KINDS];
    if (gp_session_measures())
        gp_say_limited(&once[kind], 1, "%s", what[kind]);
}

/* Lines up, and leaves no launch held that the change concerns. True where the gate is shut. */
static bool line_up_and_drain(const struct gp_change *change)
{
    gp_gate_line_up();
    /* Most memory that is freed no held launch has reached: then nobody is held up. */
    bool concerned = gp_any_held() && gp_contexts_are_concerned(change);
    bool closed = concerned && gp_gate_shut_in_time();
    if (concerned)
        gp_contexts_before_change(change, closed, false);
    return closed;
}

static void before_change(void *change)
{
    gp_gate_leave(line_up_and_drain(change));
}

static void before_change_and_share(void *change)
{
    gp_gate_leave_and_share(line_up_and_drain(change));
}

static void drain_before(struct gp_change change)
{
    if (gp_any_held() && gp_session_is_here())
        gp_at_work(before_change, &change);
}

void gp_launch_before_change(void)
{
    drain_before((struct gp_change){0});
}

void gp_launch_share_before_memory_goes(CUdeviceptr address, uint64_t bytes)
{
    struct gp_change change = {.address = address, .bytes = bytes ? bytes : 1};
    gp_at_work(before_change_and_share, &change);
}

void gp_launch_before_function_changes(CUfunction function)
{
    drain_before((struct gp_change){.function = function});
}

void gp_launch_before_stream_goes(CUstream stream)
{
    drain_before((struct gp_change){.stream = stream});
}

bool gp_launch_release_memory(void)
{
    gp_launch_before_change();
    return gp_snapshot_release_memory(gp_captures() > 0);
}

/* ---- which launches -------------------------------------------------------------------------- */

/* Asked of every launch, so the quick questions come first. A launch that is captured into a graph
 * does not run: it is not counted. While anything is captured nothing is measured. */
static bool is_to_be_measured(const struct gp_launch *call, enum gp_interest interest,
                              uint64_t *turn)
{
    if (interest == GP_NOT_SELECTED)
        return false;
    bool captures = gp_captures() > 0;
    if (captures && gp_stream_is_capturing(call->stream, call->per_thread_stream, false))
        return false;
    return gp_selection_takes(call) && gp_sampling_takes(call, turn) && interest == GP_WANTED &&
           !captures && !gp_stream_is_capturing(call->stream, call->per_thread_stream, false);
}

/* A stream other than the default ones knows its context; a launch goes there, current or not. */
static bool is_in_context(CUstream stream, CUcontext context)
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
    static struct gp_once once;
    if (is_held_up(c) || (c->busy && gp_cuda.cuEventQuery(c->event) == CUDA_ERROR_NOT_READY))
        return false;
    double waited = 0, most = gp_wait_limit();
    if (c->wary > 0 && most > c->wary)
        most = c->wary;
    if (c->tail) /* our own: the time that it takes is added, and the rest's is not */
        gp_wait_within_limit(c->event, most, NULL);
    c->tail = false;
    CUresult result = gp_wait_for_rest(c->handle, c->event, most, &waited);
    c->busy = result == CUDA_ERROR_NOT_READY;
    /* The program would have waited for it later; but not to learn that there is nothing. */
    if (!c->busy && waited > TELLING_SECONDS)
        gp_added_less(waited);
    if (c->busy)
        gp_say_limited(&once, 1,
                       "other work on the GPU does not end; launches beside it are not measured");
    if (c->busy)
        c->wary = c->wary > 0 ? fmax(c->wary / 2, LAST_WARY_SECONDS) : FIRST_WARY_SECONDS;
    else if (waited > TELLING_SECONDS)
        c->wary = 0;
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
    static struct gp_once once, too_long;
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
                       kernel->name, first);
    else
        gp_say_limited(&once, 1,
                       "the program was held up for %.3g s in vain; some launches are not measured "
                       "any more, as they would be waited for (GPUPROF_TIMEOUT)",
                       in_vain);
    return false;
}

/* The current context, if launches into the stream go there and are measured; NULL where not. The
 * gate is closed. */
static struct gp_context *context_of(CUstream stream)
{
    CUcontext current = NULL;
    const char *why = NULL;
    bool green = gp_stream_is_green(stream);
    if (gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current ||
        (!green && !is_in_context(stream, current)))
        return NULL;
    struct gp_context *context = gp_context_enter(current, green, &why);
    if (!context && why)
        gp_session_give_up(why);
    return context;
}

/* True when the context is ready for a measurement: nothing runs in it, and its counters are
 * collected. */
static bool is_ready(struct gp_context *c)
{
    const char *why;
    if (!is_idle(c))
        return false;
    if (gp_context_collects(c, &why))
        return true;
    gp_session_give_up(why);
    return false;
}

/* It waits for the host, by all that is known: no time is lost to find out. Where the user has said
 * how long to wait, that is done. */
static bool refuse_polling(struct gp_kernel *kernel, const struct gp_launch *call,
                           const struct gp_context *c)
{
    static struct gp_once once;
    if (gp_user.timeout_set || !gp_launch_polls(kernel, call, c))
        return false;
    gp_say_limited(
        &once, MOST_POLLING,
        "%s reads the host's memory in a loop, so it may wait for the host: launches of a "
        "single warp are not measured; with GPUPROF_TIMEOUT=SECONDS they are waited for",
        kernel->name);
    atomic_store(&kernel->waits_for_host, true);
    return true;
}

/* Makes the launch, and measures it; false where that cannot be done now, and nothing was launched.
 * The gate is closed. True in *held_up where a wait ran out. */
static bool launch_alone(const struct gp_launch *call, uint64_t turn, bool *held_up,
                         CUresult *result)
{
    struct gp_kernel *kernel = gp_kernel_find(call->function);
    struct gp_context *context = kernel ? context_of(call->stream) : NULL;
    *held_up = false;
    if (!context || refuse_polling(kernel, call, context))
        return false;
    bool ready = may_be_waited_for(kernel, context) && is_ready(context);
    if (ready) {
        *result = gp_measure(call, kernel, context, gp_session_next_launch(), turn);
        gp_end_at_exit();
    }
    *held_up = context->busy;
    return ready;
}

/* Closes the gate. False where nothing is measured now: some call does not get past the gate, or
 * another thread has given up, or begun a capture, while we waited. */
static bool close_gate(void)
{
    static struct gp_once once;
    if (!gp_gate_close_in_time()) {
        gp_say_limited(
            &once, 1,
            "launches are not measured while a driver call of another thread does not return");
        return false;
    }
    if (gp_session_measures() && gp_captures() == 0)
        return true;
    gp_gate_open();
    return false;
}

/* Lets a kernel through that is known not to end by itself: nobody waits for it, nor behind it. */
static CUresult pass_unending(const struct gp_launch *call)
{
    gp_gate_share();
    gp_session_count_launch();
    CUresult result = run_or_make_room(call);
    if (result == CUDA_SUCCESS && gp_captures() == 0)
        gp_unending_launched(call->stream, call->per_thread_stream);
    gp_gate_unshare();
    return result;
}

/* Lets a kernel through that is not measured. Where few are selected that is most launches: no more
 * is done than has to be. */
static CUresult pass(const struct gp_launch *call)
{
    gp_gate_pass();
    gp_session_count_launch();
    CUresult result = run_or_make_room(call);
    gp_gate_passed();
    return result;
}

static CUresult launch(const struct gp_launch *call)
{
    CUresult result = CUDA_SUCCESS;
    bool launched = false, held_up;
    uint64_t turn;
    enum gp_interest interest = gp_kernel_interest(call->function, &call->configuration);
    if (is_to_be_measured(call, interest, &turn) && close_gate()) {
        launched = launch_alone(call, turn, &held_up, &result);
        gp_gate_open();
        if (!launched)
            interest = gp_kernel_interest(call->function, &call->configuration);
    }
    /* Never with the gate closed: where much is launched already it waits until some of that has
     * ended, and that may wait for a call that passes the gate. */
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
    if (!gp_session_measures() || gp_kernel_is_left_out(call->function))
        return pass(call);
    gp_at_work(launch_at_work, &l);
    return l.result;
}

/* ---- launches that stand for one of the program's -------------------------------------------- */

bool gp_launch_series_begins(CUstream stream, bool per_thread_stream)
{
    if (!gp_session_measures() || gp_captures() > 0 ||
        gp_stream_is_capturing(stream, per_thread_stream, false))
        return false;
    gp_own_work_begins();
    if (close_gate()) {
        struct gp_context *c = context_of(stream);
        if (c && is_ready(c))
            return true;
        gp_gate_open();
    }
    gp_own_work_ends();
    return false;
}

CUresult gp_launch_in_series(const struct gp_launch *call, bool *measured, uint64_t turn,
                             bool *held_up)
{
    CUresult result;
    *held_up = false;
    if (*measured && gp_session_measures() && launch_alone(call, turn, held_up, &result))
        return result;
    *measured = false;
    gp_session_count_launch();
    result = run_or_make_room(call);
    /* Nodes behind it would wait in vain. */
    if (result == CUDA_SUCCESS &&
        gp_kernel_interest(call->function, &call->configuration) == GP_UNENDING) {
        gp_unending_launched(call->stream, call->per_thread_stream);
        *held_up = true;
    }
    return result;
}

bool gp_launch_series_rests(CUstream stream)
{
    struct gp_context *c = context_of(stream);
    return c && is_idle(c);
}

void gp_launch_series_ends(void)
{
    gp_gate_open();
    gp_own_work_ends();
}
