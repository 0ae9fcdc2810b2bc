#include "launch/again.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "cuda/wait.h"
#include "gate/waits.h"
#include "launch/inside.h"
#include "launch/kernels.h"
#include "launch/session.h"
#include "memory/buffers.h"
#include "memory/modules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Each byte is looked up at each launch: some thousand kernels. */
#define MOST_ROOTS ((size_t)1 << 20)

/* Bytes that are copied where there is another way: launched node by node, each kernel copies the
 * parts of divided memory that it writes, and here all of it. */
#define MOST_WITH_ANOTHER_WAY ((uint64_t)512 << 20)

/* To wait for work, beside twice the time of its kernels. */
#define LEAST_SECONDS 0.002

/* Work of many kernels has no grid of its own. */
static const unsigned no_grid[3];

bool gp_again_begin(struct gp_again *a, CUstream stream, bool only_known, struct gp_reason *why)
{
    enum gp_passed_over reason;
    *a = (struct gp_again){.context = stream_context(stream, &reason), .only_known = only_known};
    *why = GP_REASON_TEXT(CONTEXT_GONE, "the context of the stream cannot be entered");
    if (!a->context)
        return false;
    *why = GP_REASON_TEXT(REPLAY_BARRED, "no kernel is to run more often than in the program");
    if (user_settings.recorded.replay_off)
        return false;
    *why = gp_memory_replay_barred();
    if (!why->cause)
        *why = context_disturbed(a->context);
    return !why->cause;
}

bool gp_again_add_roots(struct gp_again *a, const void *bytes, size_t size)
{
    if (size > MOST_ROOTS - a->size)
        return false;
    if (size > a->room - a->size) {
        size_t room = 2 * (a->size + size);
        unsigned char *roots = realloc(a->roots, room);
        if (!roots)
            return false;
        a->roots = roots;
        a->room = room;
    }
    if (size)
        memcpy(a->roots + a->size, bytes, size);
    a->size += size;
    return true;
}

/* Why a kernel must not run again, or would not end; none where it may. */
static struct gp_reason not_again(struct gp_kernel *kernel, const struct gp_launch *call,
                                  const struct gp_context *c)
{
    if (kernel->runs_once.cause || atomic_load(&kernel->is_refused))
        return gp_reason_or(kernel->runs_once, kernel->refused);
    if (kernel->schedule.broken)
        return GP_REASON_TEXT(
            NOT_COPIED, "a kernel of the graph writes memory that its parameters do not lead to");
    if (launch_polls(kernel, call, c))
        return GP_DOES_NOT_END;
    if (gp_kernels_launch_graphs() && gp_kernel_may_launch_graphs(call->function))
        return GP_REASON_TEXT(RUNS_ONCE, "a kernel's module launches graphs from the device");
    return GP_NO_REASON;
}

static bool is_known(const struct gp_kernel *kernel)
{
    return kernel->ended && kernel->schedule.launches >= GP_VERIFY_FIRST && !kernel->host_changes;
}

static void add_module(struct gp_again *a, const void *module)
{
    for (unsigned i = 0; i < a->module_count; i++)
        if (a->modules[i] == module)
            return;
    a->any_module = a->any_module || !module || a->module_count == GP_MOST_MODULES_AGAIN;
    if (!a->any_module)
        a->modules[a->module_count++] = module;
}

bool gp_again_add_kernel(struct gp_again *a, const struct gp_launch *call, struct gp_reason *why)
{
    static unsigned char bytes[GP_MOST_PARAMETER_BYTES]; /* under the gate: one at a time */
    size_t size;
    struct gp_kernel *kernel = gp_kernel_find(call->function);
    *why = GP_REASON(NO_MEMORY);
    if (!kernel)
        return false;
    *why = not_again(kernel, call, a->context);
    if (why->cause)
        return false;
    *why = GP_REASON_TEXT(NOT_MEASURED, "a kernel of the graph was not measured yet");
    a->not_yet = a->only_known && !is_known(kernel);
    if (a->not_yet)
        return false;
    *why = GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "the parameters of a kernel are not known");
    if (!gp_kernel_parameters(kernel, call, bytes, &size))
        return false;
    add_module(a, kernel->module);
    a->seconds += kernel->longest;
    a->may_wait = a->may_wait || gp_kernel_may_wait(kernel, &a->context->device);
    *why = GP_REASON_TEXT(GRAPH_NOT_REPEATABLE, "the graph's kernels have too many parameters");
    return gp_again_add_roots(a, bytes, size);
}

/* Copies of launches may be in its way. */
static bool take(struct gp_again *a, const struct gp_reach *reach, struct gp_reason *why)
{
    struct gp_context *c = a->context;
    if (gp_snapshot_take(a->snapshot, reach, why))
        return true;
    if (!c->snapshot || !gp_snapshot_is_short(a->snapshot))
        return false;
    drain_context(c, true);
    return !c->busy && gp_snapshot_give_up_copies(c->snapshot) &&
           gp_snapshot_take(a->snapshot, reach, why);
}

bool gp_again_save(struct gp_again *a, const struct gp_verify_schedule *schedule,
                   struct gp_reason *why)
{
    *why = GP_REASON_TEXT(NOT_COPIED, "the graph writes memory that its parameters do not lead to");
    if (schedule->broken)
        return false;
    gp_modules_resolve(a->context->handle);
    struct gp_snapshot *s = context_graph_snapshot(a->context, why);
    if (!s)
        return false;
    const struct gp_reach reach = {
        .parameters = a->roots,
        .parameters_size = a->size,
        .parameters_known = true,
        .module = a->any_module || !a->module_count ? NULL : a->modules[0],
        .more_modules = a->modules,
        .more_module_count = a->any_module ? 0 : a->module_count,
        .verify = verify_is_due(schedule, no_grid) || user_settings.verify_always,
        .most_bytes = a->only_known ? MOST_WITH_ANOTHER_WAY : 0,
    };
    a->snapshot = s;
    if (!take(a, &reach, why))
        return false;
    /* The host would see the writes of the second run, or its own would be undone: it may know
     * before us that the work has ended. */
    *why = GP_REASON_TEXT(HOST_MEMORY, "the launch reaches page-locked host memory");
    if (gp_snapshot_reaches_host(s))
        return false;
    *why = GP_REASON_TEXT(HOST_MEMORY, "the launch reaches managed memory");
    if (gp_snapshot_reaches_managed(s))
        return false;
    *why = GP_REASON_TEXT(SHARED_MEMORY,
                          "the launch reaches memory that other devices access directly");
    return !gp_snapshot_reaches_direct(s);
}

bool gp_again_reaches(const struct gp_again *a, CUdeviceptr address)
{
    return gp_snapshot_reaches(a->snapshot, address);
}

CUdeviceptr gp_again_stand_in(struct gp_again *a, uint64_t bytes, struct gp_reason *why)
{
    struct gp_context *c = a->context;
    struct gp_snapshot *s = context_snapshot(c, why);
    if (!s)
        return 0;
    if (held_first(c) && !gp_snapshot_has_stand_in(s, bytes))
        drain_context(c, true); /* held launches may reach the one that there is */
    return gp_snapshot_stand_in(s, bytes, why);
}

/* True when the work has ended, within so many seconds. A wait in vain is charged no more than the
 * first one, as of a kernel that takes long. */
static bool has_ended(struct gp_again *a, double most, struct gp_reason *why)
{
    struct gp_context *c = a->context;
    double began = gp_clock_seconds();
    CUresult result = gp_wait_for_context(c->handle, c->event, most);
    double waited = gp_clock_seconds() - began;
    c->busy = result == CUDA_ERROR_NOT_READY;
    if (c->busy)
        gp_wait_was_in_vain(fmin(waited, gp_wait_first_limit()));
    else if (!a->rewound)
        gp_added_less(waited); /* the program's own run */
    a->failed = result != CUDA_SUCCESS && !c->busy;
    *why = c->busy ? GP_REASON_TEXT(DOES_NOT_END, "the graph did not end in time")
                   : gp_cuda_reason(result);
    return result == CUDA_SUCCESS;
}

/* Where its kernels cannot wait for anybody it gets as long as such a kernel. Else at least as long
 * as they took before, and an idle GPU takes to answer. */
static double own_limit(const struct gp_again *a)
{
    double most = gp_wait_computing_limit();
    return a->may_wait ? fmin(most, gp_wait_limit() + LEAST_SECONDS + 2 * a->seconds) : most;
}

static bool wrote_only_copied(struct gp_again *a, struct gp_verify_schedule *schedule,
                              struct gp_reason *why)
{
    bool elsewhere;
    if (!gp_snapshot_verify(a->snapshot, &elsewhere, why))
        return false;
    verify_count(schedule, no_grid);
    schedule->broken = schedule->broken || elsewhere;
    *why = GP_REASON_TEXT(NOT_COPIED, "the graph writes memory that its parameters do not lead to");
    return !elsewhere;
}

bool gp_again_rewind(struct gp_again *a, struct gp_verify_schedule *schedule, struct gp_reason *why)
{
    a->rewound = has_ended(a, own_limit(a), why) && wrote_only_copied(a, schedule, why) &&
                 gp_snapshot_rewind(a->snapshot, why);
    return a->rewound;
}

static void say_lost(void)
{
    static struct gp_say_limit once;
    gp_say_limited(&once, 1,
                   "a kernel of a graph did not end when it ran again: the graph's writes to its "
                   "memory are lost, and the program's results may be wrong");
}

/* Launches that were not measured may run still. They have ended before, perhaps side by side. */
static double rest_limit(const struct gp_again *a)
{
    return fmax(fmax(gp_wait_computing_limit(), GP_LEAST_REPLAY_LIMIT), 4 * a->seconds);
}

static void put_back(struct gp_again *a)
{
    struct gp_reason why = GP_NO_REASON;
    struct gp_context *c = a->context;
    if (a->rewound && context_goes_on(c))
        has_ended(a, rest_limit(a), &why);
    if (c->busy && a->rewound)
        say_lost();
    if (c->dead || c->busy || (a->failed && !a->rewound))
        return; /* it runs still, or has failed by itself */
    if ((a->failed || !gp_snapshot_finish(a->snapshot, &why)) &&
        gp_session_measures()) /* else the process is at its end, and the driver gone */
        not_put_back("a graph", why);
}

bool gp_again_runs_on(const struct gp_again *again)
{
    return again->context && again->context->busy;
}

void gp_again_end(struct gp_again *a)
{
    if (a->snapshot) {
        put_back(a);
        gp_snapshot_done(a->snapshot);
    }
    if (a->context && a->context->snapshot)
        gp_snapshot_stand_in_done(a->context->snapshot);
    free(a->roots);
    *a = (struct gp_again){0};
}
