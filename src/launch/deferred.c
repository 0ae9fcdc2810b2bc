#include "launch/deferred.h"

#include "base/clock.h"
#include "cuda/wait.h"
#include "gate/waits.h"
#include "launch/ready.h"
#include "launch/settings.h"
#include "memory/buffers.h"
#include "memory/modules.h"
#include "memory/sharing.h"

/* To drain a batch is to wait for all of its launches: they may take so many seconds together, as
 * far as is known. */
#define MOST_SECONDS 0.1

/* All that has to be known is known of the kernel, by launches that were measured when they were
 * made. */
static bool is_known(struct gp_kernel *kernel, const struct gp_launch *call,
                     const struct gp_context *c)
{
    return kernel->ended && kernel->reach == GP_REACH_DIRECT && !kernel->runs_once &&
           !kernel->schedule.broken && kernel->schedule.launches >= GP_VERIFY_FIRST &&
           !gp_kernel_may_wait(kernel, &c->device) &&
           !gp_kernel_may_use_textures(kernel, 10 * c->device.cc_major + c->device.cc_minor) &&
           !(gp_kernels_launch_graphs() && gp_kernel_may_launch_graphs(call->function));
}

static double expected_seconds(const struct gp_kernel *kernel, uint64_t shape)
{
    double ms = gp_times_least(&kernel->times, shape);
    return ms > 0 ? ms / 1e3 : kernel->longest;
}

static bool has_room(const struct gp_context *c)
{
    return c->collection && c->counts_hardware && c->snapshot && c->collector->sweep && !c->green &&
           !c->dead && !c->in_pass && !c->collector->full(c->collection) &&
           (!gp_user.flush_caches || gp_snapshot_may_flush(c->snapshot));
}

/* Some work needs an idle GPU: before a batch the session may be opened anew; a batch that has
 * waited for long enough is drained; a launch is verified. */
static bool is_wait_due(const struct gp_context *c, const struct gp_kernel *kernel,
                        const struct gp_launch *call)
{
    return !c->pending || gp_pending_is_due(c->pending, c->collector, c->collection) ||
           gp_verify_is_due(&kernel->schedule, call->grid);
}

/* True where that would take a wait. Older drivers can only be waited for without a limit. */
static bool is_at_work(const struct gp_context *c)
{
    return c->busy || gp_unending_runs(c->handle) ||
           (gp_cuda.cuCtxRecordEvent &&
            gp_wait_for_context(c->handle, c->starts[0], 0) == CUDA_ERROR_NOT_READY);
}

static bool is_undisturbed(const struct gp_context *c)
{
    return !gp_memory_replay_barred() && gp_peers_of(c->handle, NULL, 0) == 0;
}

static struct gp_held *hold(struct gp_measurement *m, double started)
{
    struct gp_context *c = m->context;
    gp_modules_resolve(c->handle);
    struct gp_reach reach = gp_measurement_reach(m);
    struct gp_held_copy *copy = gp_snapshot_foresee(m->snapshot, &reach);
    if (!copy)
        return NULL;
    gp_measurement_note_work(m);
    m->run.held = true;
    m->runs = 1;
    struct gp_held *held = gp_hold_unmade(m, copy, started);
    if (!held)
        gp_snapshot_release(m->snapshot, copy);
    return held;
}

struct gp_held *gp_defer(const struct gp_launch *call, struct gp_kernel *kernel)
{
    double started = gp_clock_seconds();
    enum gp_passed_over why;
    if (!gp_user.later || gp_user.verify_always)
        return NULL;
    struct gp_context *c = gp_context_of_stream(call->stream, &why);
    if (!c || !has_room(c) || !is_known(kernel, call, c) || !is_undisturbed(c))
        return NULL;
    bool wait_due = is_wait_due(c, kernel, call);
    if (wait_due && !is_at_work(c))
        return NULL;
    struct gp_measurement m;
    gp_measurement_begin(&m, call, kernel, c);
    m.snapshot = c->snapshot;
    double seconds = c->deferred_seconds + expected_seconds(kernel, m.run.shape);
    struct gp_held *held = seconds <= MOST_SECONDS ? hold(&m, started) : NULL;
    if (!held)
        return NULL;
    c->deferred_seconds = seconds;
    if (!wait_due)
        gp_verify_count(&kernel->schedule, call->grid);
    gp_pending_note(&c->pending, c->collector, c->collection);
    return held;
}
