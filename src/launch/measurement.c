#include "launch/measurement.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mix.h"
#include "gate/waits.h"
#include "launch/kept_launch.h"
#include "launch/settings.h"

#include <math.h>

/* Times as long as a kernel may hold the program up (GPUPROF_TIMEOUT) instrumented passes that take
 * long may take together. */
#define LONG_PASSES 10

static void empty_caches(void *measurement)
{
    struct gp_measurement *m = measurement;
    struct gp_reason why;
    struct gp_snapshot *snapshot =
        gp_user.flush_caches ? gp_context_snapshot(m->context, &why) : NULL;
    static struct gp_say_limit said;
    if (snapshot && !gp_snapshot_flush_caches(snapshot, m->snapshot != NULL))
        gp_say_limited(&said, 1,
                       "the GPU has no room for a buffer that empties its caches: from here on "
                       "some launches find theirs warm");
}

static uint64_t warps_of(const struct gp_launch *call)
{
    uint64_t threads = (uint64_t)call->block[0] * call->block[1] * call->block[2];
    return (uint64_t)call->grid[0] * call->grid[1] * call->grid[2] * ((threads + 31) / 32);
}

void gp_measurement_begin(struct gp_measurement *m, const struct gp_launch *call,
                          struct gp_kernel *kernel, struct gp_context *c)
{
    *m = (struct gp_measurement){
        .call = call,
        .kernel = kernel,
        .context = c,
        .run = {.kernel = kernel->name,
                .shape = gp_configuration_hash(&call->configuration, 0),
                .warps = warps_of(call),
                /* A kernel that waits for others goes round its loop as often as they need. */
                .most_long_ms =
                    gp_user.verify_always ? 0 : LONG_PASSES * 1e3 * gp_wait_first_limit(),
                .always = call->cooperative || gp_user.verify_always,
                .cost = &kernel->cost,
                .code = &kernel->code,
                .find_code = gp_kernel_find_code,
                .find_cubin = gp_kernel_find_cubin,
                .find_code_data = kernel,
                .empty_caches = empty_caches,
                .empty_caches_data = m},
    };
}

/* Under the gate: one launch at a time. */
static unsigned char parameter_bytes[GP_MOST_PARAMETER_BYTES];

struct gp_reach gp_measurement_reach(struct gp_measurement *m)
{
    const struct gp_verify_schedule *schedule = &m->kernel->schedule;
    struct gp_reach reach = {
        .parameters = parameter_bytes,
        .module = m->kernel->module,
        .leads_no_further = !gp_kernel_may_load_addresses(m->kernel, &m->context->device),
        .everything = schedule->broken,
    };
    reach.verify = gp_verify_is_due(schedule, m->call->grid) || gp_user.verify_always;
    reach.parameters_known =
        gp_kernel_parameters(m->kernel, m->call, parameter_bytes, &reach.parameters_size);
    if (reach.parameters_known) {
        m->run.parameters = reach.parameters;
        m->run.parameters_size = reach.parameters_size;
    }
    return reach;
}

static bool is_reached(const void *snapshot, uint64_t value)
{
    return gp_snapshot_reaches(snapshot, value);
}

void gp_measurement_note_work(struct gp_measurement *m)
{
    const uint64_t data_words = gp_kernel_data_words(m->kernel, &m->context->device);
    const uint64_t work = gp_parameters_hash_work(m->run.parameters, m->run.parameters_size,
                                                  is_reached, m->snapshot, data_words);
    m->run.work =
        gp_launch_hash_caches(m->call, gp_mix(work, (uint64_t)gp_kernel_carveout(m->kernel)));
}

struct gp_pending *gp_measurement_record(struct gp_measurement *m, bool goes_on)
{
    struct gp_context *c = m->context;
    const struct gp_launch *call = m->call;
    struct gp_record launch = {
        .index = m->index,
        .device = c->device.ordinal,
        .context = (uint64_t)(uintptr_t)c->handle,
        .stream = (uint64_t)(uintptr_t)call->stream,
        .configuration = call->configuration,
        .passes = m->runs,
        .saved_bytes = m->snapshot ? gp_snapshot_bytes(m->snapshot) : 0,
        .restored_bytes = m->restored_bytes,
        .graph = call->of_graph,
        .start_ms = rint(1e6 * m->started) / 1e3, /* the clock has no more that can be relied on */
        .skipped = gp_reason_or(m->broken_off, m->not_replayed),
    };
    gp_kernel_describe(m->kernel, &launch);
    struct gp_reason not_run =
        m->broken_off.cause    ? m->broken_off
        : m->in_turn           ? GP_REASON(COUNTED_ELSEWHERE)
        : launch.skipped.cause ? launch.skipped
        : goes_on              ? GP_REASON(NOT_READ)
                               : GP_REASON_TEXT(NO_PASS, "no counter of the selection exists here");
    double duration_ns = rint(1e6 * m->run.native_ms);
    if (m->in_turn && duration_ns == 0)
        duration_ns = GP_DURATION_ELSEWHERE;
    launch.overhead_ms = 1e3 * (gp_clock_seconds() - m->started);
    if (m->record)
        gp_pending_renew(m->record, &launch, not_run, duration_ns);
    else
        m->record = gp_pending_add(&c->pending, m->slot, &launch, not_run, duration_ns);
    return m->record;
}
