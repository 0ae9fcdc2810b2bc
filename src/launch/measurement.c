/* The measurement of a launch, from the locked gate to its record. Its parts: the program's own run
 * (launch/own_run.c), a replay for each step of its batch (launch/replay.c), the wait for its batch
 * (launch/held.c), its record (launch/records.c). Its state is its member's (counters/states.def).
 * The gate is locked, the context current. */
#include "launch/inside.h"
#include "launch/kernels.h"

#include "base/log.h"
#include "base/mix.h"
#include "gate/waits.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Times as long as a kernel may hold the program up (GPUPROF_TIMEOUT) instrumented passes that take
 * long may take together. */
#define LONG_PASSES 10

static void empty_caches(void *measurement)
{
    struct gp_measurement *m = measurement;
    struct gp_reason why;
    struct gp_snapshot *snapshot =
        user_settings.flush_caches ? context_snapshot(m->context, &why) : NULL;
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

struct gp_measurement *measurement_new(const struct gp_launch *call, struct gp_kernel *kernel,
                                       struct gp_context *c)
{
    struct gp_measurement *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->call = call;
    m->kernel = kernel;
    m->context = c;
    m->member.run = (struct gp_run){
        .kernel = kernel->name,
        .shape = gp_configuration_hash(&call->configuration, 0),
        .warps = warps_of(call),
        /* A kernel that waits for others goes round its loop as often as they need. */
        .most_long_ms = user_settings.verify_always ? 0 : LONG_PASSES * 1e3 * gp_wait_first_limit(),
        .always = call->cooperative || user_settings.verify_always,
        .cost = &kernel->cost,
        .code = &kernel->code,
        .no_code = within_limit_code(kernel->name, c->device.ordinal, &call->configuration),
        .find_code = kernel_find_code,
        .find_cubin = kernel_find_cubin,
        .find_code_data = kernel,
        .empty_caches = empty_caches,
        .empty_caches_data = m};
    return m;
}

void measurement_free(struct gp_measurement *m)
{
    free(m->kept);
    free(m->parameters);
    free(m->kernel_name);
    free(m->more_counters);
    free(m);
}

void measurement_enter(struct gp_measurement *m)
{
    context_notes_launch(m->context);
    detach_launch_measured();
    gp_collection_enter(m->context->collection, &m->member);
    DL_APPEND(m->context->launches, m);
}

/* Under the gate: one launch at a time. */
static unsigned char parameter_bytes[GP_MOST_PARAMETER_BYTES];

struct asked {
    const struct gp_snapshot *snapshot;
    const struct gp_reach *reach;
};

static bool is_address(const void *data, size_t at, uint64_t value)
{
    const struct asked *a = data;
    return gp_snapshot_is_address(a->snapshot, value) &&
           gp_reach_may_be_address(a->reach, at, value);
}

/* Its code is asked where numbers among its parameters may be equal to addresses. */
static const struct gp_address_words *address_words(struct gp_measurement *m,
                                                    const struct gp_reach *reach)
{
    uint64_t word;
    for (size_t at = 0; at + sizeof(word) <= reach->parameters_size; at++) {
        memcpy(&word, (const char *)reach->parameters + at, sizeof(word));
        if (gp_is_low_address(word) && gp_snapshot_is_address(m->context->snapshot, word))
            return kernel_address_words(m->kernel, reach->parameters_size, &m->context->device);
    }
    return NULL;
}

/* A hash of the parameters on which its work depends. */
static void note_work(struct gp_measurement *m, const struct gp_reach *reach)
{
    const struct asked asked = {m->context->snapshot, reach};
    const uint64_t data_words = kernel_data_words(m->kernel, &m->context->device);
    const uint64_t work = parameters_hash_work(reach->parameters, reach->parameters_size,
                                               is_address, &asked, data_words);
    m->member.run.work =
        launch_hash_caches(m->call, gp_mix(work, (uint64_t)kernel_carveout(m->kernel)));
}

struct gp_reach measurement_reach(struct gp_measurement *m)
{
    const struct gp_verify_schedule *schedule = &m->kernel->schedule;
    const struct gp_device *device = &m->context->device;
    kernel_compile(m->kernel);
    struct gp_reach reach = {
        .parameters = parameter_bytes,
        .module = m->kernel->module,
        .leads_no_further = !kernel_may_load_addresses(m->kernel, device),
        .everything = schedule->broken,
    };
    reach.verify = verify_is_due(schedule, m->call->grid) || user_settings.verify_always;
    reach.parameters_known =
        gp_kernel_parameters(m->kernel, m->call, parameter_bytes, &reach.parameters_size);
    if (!reach.parameters_known || !gp_snapshot_find_memory(m->context->snapshot))
        return reach;
    m->member.run.parameters = reach.parameters;
    m->member.run.parameters_size = reach.parameters_size;
    reach.address_words = address_words(m, &reach);
    note_work(m, &reach);
    succession_gather(m, reach.parameters, reach.parameters_size);
    if (reach.everything || launch_writes_come_unseen() ||
        !gp_snapshot_affords_parts(m->context->snapshot))
        return reach;
    const enum gp_write_addresses writes = kernel_write_addresses(m->kernel, device);
    reach.kernel = (uintptr_t)m->kernel;
    reach.shape = gp_mix(m->member.run.shape, reach.kernel);
    reach.work = gp_mix(m->member.run.work, reach.shape);
    reach.may_be_held = !user_settings.at_once && !m->not_to_be_held &&
                        m->context->collection->most > 1 && m->context->collection->facts.session;
    reach.writes_anywhere = writes == GP_WRITES_ANYWHERE;
    reach.writes_by_input = writes != GP_WRITES_BY_PARAMETERS && writes != GP_WRITES_SOME_BY_ORDER;
    reach.writes_by_order = writes == GP_WRITES_BY_ORDER || writes == GP_WRITES_SOME_BY_ORDER;
    return reach;
}
