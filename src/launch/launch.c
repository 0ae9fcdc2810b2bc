#include "launch/launch.h"

#include "base/log.h"
#include "launch/contexts.h"
#include "launch/gate.h"
#include "launch/kernels.h"
#include "launch/patience.h"
#include "launch/sampling.h"
#include "launch/session.h"
#include "memory/buffers.h"
#include "memory/modules.h"

#include <errno.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static CUresult run_beside_replays(const struct gp_call *call)
{
    gp_gate_share();
    CUresult result = call->run(call);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && gp_snapshot_release_memory())
        result = call->run(call);
    gp_gate_unshare();
    return result;
}

void gp_launch_not_measured(enum gp_unmeasured kind)
{
    static const char *const what[GP_UNMEASURED_KINDS] = {
        [GP_GRAPH_LAUNCH] = "kernels launched in a graph are not measured",
        [GP_MULTI_DEVICE_LAUNCH] = "cooperative launches over several devices are not measured",
        [GP_OLD_LAUNCH] = "launches by cuLaunch and cuLaunchGrid are not measured",
    };
    static struct gp_once once[GP_UNMEASURED_KINDS];
    if (gp_session_measures())
        gp_say_limited(&once[kind], 1, "%s", what[kind]);
}

void gp_launch_forget_kernels(const void *module)
{
    /* CUPTI keeps the code it has patched by the function's handle, and crashes on another function
     * that comes to the same handle: it must let go while the module is still there. */
    gp_own_work_begins();
    if (gp_kernels_forget(module))
        gp_contexts_close_collections();
    gp_own_work_ends();
}

void gp_launch_leave_context(CUcontext context)
{
    gp_own_work_begins();
    gp_context_leave(context);
    gp_kernels_forget(NULL);
    gp_own_work_ends();
}

CUcontext gp_launch_leave_primary(CUdevice device)
{
    gp_own_work_begins();
    CUcontext primary = gp_context_primary(device);
    if (primary) {
        gp_context_leave(primary);
        gp_kernels_forget(NULL);
    }
    gp_own_work_ends();
    return primary;
}

/* Kernels that were let go and named. */
#define MOST_LET_GO 8

/* ---- one measurement ------------------------------------------------------------------------- */

struct measurement {
    const struct gp_call *call;
    struct gp_kernel *kernel;
    struct gp_context *context;
    struct gp_snapshot *snapshot; /* taken; NULL: the kernel runs once */
    const char *not_replayed;     /* why */
    const char *broken_off;       /* why a pass could not be finished */
    unsigned runs;                /* of the kernel */
    uint64_t restored_bytes;
};

static void flush_caches(struct gp_context *c)
{
    const char *why;
    struct gp_snapshot *snapshot =
        gp_session_flushes_caches() ? gp_context_snapshot(c, &why) : NULL;
    if (snapshot)
        gp_snapshot_flush_caches(snapshot);
}

/* Saves what the kernel may write, so that it can run more than once. */
static void save(struct measurement *m)
{
    gp_modules_resolve(m->context->handle);
    m->not_replayed = gp_kernel_runs_once(m->kernel);
    if (!m->not_replayed)
        m->not_replayed = gp_memory_replay_barred();
    if (m->not_replayed)
        return;
    struct gp_snapshot *snapshot = gp_context_snapshot(m->context, &m->not_replayed);
    if (!snapshot)
        return;
    if (gp_snapshot_take(snapshot, &m->not_replayed)) {
        m->snapshot = snapshot;
        m->not_replayed = NULL;
    } else {
        gp_snapshot_done(snapshot);
    }
}

/* The kernel has failed on the device: CUDA lets nothing more happen in this context. The program
 * learns of it where it would have without us, at its next call that waits. */
static void context_died(struct measurement *m, CUresult error)
{
    m->context->dead = true;
    gp_say("a kernel failed with %s; its context is not measured any more", gp_cuda_error(error));
}

/* The kernel does not end while the program waits for us: let it go. */
static void let_go(struct measurement *m)
{
    static struct gp_once once;
    gp_say_limited(
        &once, MOST_LET_GO,
        "%s did not end within %g s by itself: it waits for the host or for other work, and is not "
        "measured",
        gp_kernel_name(m->kernel), gp_session_timeout());
    gp_kernel_refuse(m->kernel, "it waits for the host or for other work");
    m->context->busy = true;
    m->broken_off = gp_kernel_refused(m->kernel);
}

static CUresult record_event(const struct gp_call *call, CUevent event)
{
    return call->per_thread_stream ? gp_cuda.cuEventRecord_ptsz(event, call->stream)
                                   : gp_cuda.cuEventRecord(event, call->stream);
}

/* The program's own launch, as it is: a pass of the Range Profiler would not even come back from
 * the launch of a kernel that waits for the host. Its result is the program's. True in *ended when
 * the kernel has run to its end. */
static CUresult own_run(struct measurement *m, bool *ended)
{
    *ended = false;
    CUresult result = m->call->run(m->call);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && m->snapshot) {
        /* Stacks or code of the kernel may need the room that our copy takes. */
        gp_snapshot_done(m->snapshot);
        m->snapshot = NULL;
        m->broken_off = "the GPU has no room for the kernel beside a copy of memory";
        if (gp_snapshot_release_memory())
            result = m->call->run(m->call);
    }
    if (result != CUDA_SUCCESS)
        return result;
    CUresult outcome = record_event(m->call, m->context->event);
    if (outcome == CUDA_SUCCESS)
        outcome = gp_wait_for_event(m->context->event, gp_session_timeout());
    if (outcome == CUDA_ERROR_NOT_READY) {
        let_go(m);
    } else if (outcome != CUDA_SUCCESS) {
        context_died(m, outcome);
    } else {
        *ended = !m->broken_off;
        m->runs++;
        gp_kernel_ended(m->kernel);
    }
    return result;
}

/* Runs the kernel once more, plainly: a pass that broke off may have left its work half done. */
static void repair(struct measurement *m)
{
    const char *why;
    if (!gp_snapshot_compare(m->snapshot, &why) || gp_snapshot_host_changed(m->snapshot) ||
        !gp_snapshot_restore(m->snapshot, &why) || m->call->run(m->call) != CUDA_SUCCESS) {
        if (!gp_session_measures())
            return; /* the process is at its end, and the driver gone */
        gp_say(
            "memory could not be put back after a replay; what the program computes from here on "
            "may be wrong");
        gp_session_give_up("a replay could not be undone");
        return;
    }
    CUresult outcome = gp_cuda.cuCtxSynchronize();
    if (outcome != CUDA_SUCCESS)
        context_died(m, outcome);
}

/* Begins a pass. Where not even the first one ever begins (counters are busy, or forbidden) there
 * is no use in trying at every launch. */
static bool begin_pass(struct measurement *m, unsigned pass)
{
    struct gp_context *c = m->context;
    if (c->collector->begin(c->collection, pass, &m->broken_off)) {
        c->counts = true;
        return true;
    }
    if (!c->counts)
        gp_session_give_up(m->broken_off);
    return false;
}

/* Runs the kernel in a pass that has begun. The launch's result in *result; true when the pass
 * ended well. */
static bool run_pass(struct measurement *m, unsigned pass, CUresult *result)
{
    struct gp_context *c = m->context;
    gp_kernel_collected(m->kernel);
    *result = m->call->run(m->call);
    CUresult outcome = *result == CUDA_SUCCESS ? gp_cuda.cuCtxSynchronize() : CUDA_SUCCESS;
    if (outcome != CUDA_SUCCESS) {
        context_died(m, outcome);
        return false;
    }
    bool ended = c->collector->end(c->collection, pass, &m->broken_off);
    if (*result != CUDA_SUCCESS)
        return false;
    m->runs++;
    return ended;
}

/* One pass, from the memory the program's own run started from. False where passes must end here;
 * memory is then as after one whole run. Our own kernels run before the pass begins: a pass counts
 * every kernel there is. */
static bool replay_pass(struct measurement *m, unsigned pass)
{
    struct gp_context *c = m->context;
    if (!gp_snapshot_compare(m->snapshot, &m->broken_off))
        return false;
    bool host_changed = gp_snapshot_host_changed(m->snapshot);
    gp_kernel_host_changed(m->kernel, host_changed);
    if (host_changed) {
        m->broken_off = "page-locked host memory changed while it ran";
        return false; /* nothing was undone yet */
    }
    m->restored_bytes += gp_snapshot_changed_bytes(m->snapshot);
    bool restored = gp_snapshot_restore(m->snapshot, &m->broken_off);
    if (restored && pass == 0)
        flush_caches(c);
    if (!restored || !begin_pass(m, pass)) {
        repair(m);
        return false;
    }
    CUresult result;
    bool ended = run_pass(m, pass, &result);
    if (result != CUDA_SUCCESS) {
        m->broken_off = gp_cuda_error(result);
        repair(m);
    }
    return ended;
}

/* The program's own run, then a replay for each pass. */
static CUresult measure_by_replay(struct measurement *m)
{
    bool ended;
    CUresult result = own_run(m, &ended);
    unsigned passes = m->context->collector->passes(m->context->collection);
    for (unsigned pass = 0; ended && pass < passes; pass++)
        ended = replay_pass(m, pass);
    return result;
}

/* Where the kernel cannot run again its own run is the first pass, and the only one. */
static CUresult measure_once(struct measurement *m)
{
    struct gp_context *c = m->context;
    bool ended;
    if (gp_kernel_works_with_host(m->kernel))
        return own_run(m, &ended);
    if (!gp_kernel_has_ended(m->kernel)) {
        /* Whether it ends at all is not known yet. */
        m->broken_off = "it cannot be replayed, and a kernel's first launch is then not measured";
        return own_run(m, &ended);
    }
    flush_caches(c);
    if (!begin_pass(m, 0))
        return own_run(m, &ended);
    CUresult result;
    run_pass(m, 0, &result);
    return result;
}

static void record(const struct measurement *m, uint64_t index, double started_ms)
{
    struct gp_context *c = m->context;
    const struct gp_call *call = m->call;
    struct gp_launch launch = {
        .index = index,
        .device = c->device.ordinal,
        .context = (uint64_t)(uintptr_t)c->handle,
        .stream = (uint64_t)(uintptr_t)call->stream,
        .grid = {call->grid[0], call->grid[1], call->grid[2]},
        .block = {call->block[0], call->block[1], call->block[2]},
        .cluster = {call->cluster[0], call->cluster[1], call->cluster[2]},
        .shared_dynamic = call->shared_dynamic,
        .passes = m->runs,
        .saved_bytes = m->snapshot ? gp_snapshot_bytes(m->snapshot) : 0,
        .restored_bytes = m->restored_bytes,
        .skipped = m->broken_off ? m->broken_off : m->not_replayed,
    };
    gp_kernel_describe(m->kernel, &launch);
    const char *not_run =
        launch.skipped ? launch.skipped : "no counter of the selection exists here";
    launch.counters = c->collector->read(c->collection, not_run);
    launch.counter_count = c->collector->count(c->collection);
    launch.overhead_ms = now_ms() - started_ms;
    gp_session_record_launch(&launch);
    gp_session_stops_at_exit();
}

static CUresult measure(struct measurement *m, uint64_t index)
{
    double started_ms = now_ms();
    struct gp_context *c = m->context;
    c->collector->reset(c->collection);
    bool ended, counts = c->collector->passes(c->collection) > 0;
    if (counts)
        save(m);
    CUresult result = m->snapshot ? measure_by_replay(m)
                      : counts    ? measure_once(m)
                                  : own_run(m, &ended);
    if (result == CUDA_SUCCESS && !c->dead && gp_session_measures())
        record(m, index, started_ms);
    if (m->snapshot)
        gp_snapshot_done(m->snapshot);
    return result;
}

/* ---- which launches -------------------------------------------------------------------------- */

static bool is_capturing(const struct gp_call *call)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    PFN_cuStreamIsCapturing_v10000 ask =
        call->per_thread_stream ? gp_cuda.cuStreamIsCapturing_ptsz : gp_cuda.cuStreamIsCapturing;
    return ask && ask(call->stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* Asked of every launch, so what is quick to find out comes first. A launch that is captured into a
 * graph is none: it is not counted. While anything is captured nothing is measured. */
static bool is_to_be_measured(const struct gp_call *call)
{
    if (!gp_kernel_is_wanted(call->function))
        return false;
    bool captures = gp_session_captures() > 0;
    if (captures && is_capturing(call))
        return false;
    return gp_sampling_takes(call, NULL) && !captures && !is_capturing(call);
}

/* A stream other than the default ones knows its context; a launch goes there, current or not. */
static bool is_in_context(CUstream stream, CUcontext context)
{
    CUcontext own = NULL;
    if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
        return true;
    if (!gp_cuda.cuStreamGetCtx)
        return true;
    return gp_cuda.cuStreamGetCtx(stream, &own) != CUDA_SUCCESS || own == context;
}

/* True when nothing else runs in the context. Where something does and does not end, it is asked
 * for again, but not waited for again. An error that is pending is the program's: its launch
 * reports it. */
static bool is_idle(struct gp_context *c)
{
    static struct gp_once once;
    if (c->busy && gp_cuda.cuEventQuery(c->event) == CUDA_ERROR_NOT_READY)
        return false;
    c->busy = false;
    CUresult result = gp_wait_for_context(c->handle, c->event, gp_session_timeout());
    if (result == CUDA_ERROR_NOT_READY) {
        c->busy = true;
        gp_say_limited(&once, 1,
                       "other work on the GPU does not end; launches beside it are not measured");
    }
    return result == CUDA_SUCCESS;
}

/* The gate is closed. */
static CUresult launch_alone(const struct gp_call *call, uint64_t index)
{
    struct measurement m = {.call = call, .kernel = gp_kernel_find(call->function)};
    CUcontext current = NULL;
    const char *why = NULL;
    if (!m.kernel || gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current ||
        !is_in_context(call->stream, current))
        return call->run(call);
    m.context = gp_context_enter(current, &why);
    if (!m.context) {
        if (why)
            gp_session_give_up(why);
        return call->run(call);
    }
    if (!is_idle(m.context))
        return call->run(call);
    return measure(&m, index);
}

CUresult gp_launch(const struct gp_call *call)
{
    static struct gp_once held_up;
    uint64_t index = gp_session_next_launch();
    if (!gp_session_measures())
        return run_beside_replays(call);
    int saved_errno = errno;
    gp_own_work_begins();
    bool wanted = is_to_be_measured(call);
    bool closed = wanted && gp_gate_close();
    if (wanted && !closed)
        gp_say_limited(
            &held_up, 1,
            "launches are not measured while a driver call of another thread does not return");
    CUresult result;
    if (!closed) {
        result = run_beside_replays(call);
    } else {
        /* While we waited another thread may have given up, or begun a capture. */
        if (gp_session_measures() && gp_session_captures() == 0)
            result = launch_alone(call, index);
        else
            result = call->run(call);
        gp_gate_open();
    }
    gp_own_work_ends();
    errno = saved_errno;
    return result;
}
