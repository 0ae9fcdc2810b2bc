/* The records of launches whose counters are still to be read. Reading is slow, so it is done for a
 * batch at once. Used with the gate locked. */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define NO_COUNTER GP_REASON_TEXT(NO_PASS, "no counter of the selection exists here")

/* How long a launch may wait: counters that are not read yet are lost when the process is
 * killed. */
#define MOST_SECONDS 1.0

static struct gp_reason why_not_run(const struct gp_measurement *m, bool goes_on)
{
    if (m->broken_off.cause)
        return m->broken_off;
    if (m->member.run.when == GP_RUN_ONCE)
        return GP_REASON(COUNTED_ELSEWHERE);
    if (m->record.skipped.cause)
        return m->record.skipped;
    return goes_on ? GP_REASON(NOT_READ) : NO_COUNTER;
}

void record_time(struct gp_measurement *m)
{
    m->duration_ns = rint(1e6 * m->member.run.native_ms);
    if (m->member.run.when == GP_RUN_ONCE && m->duration_ns == 0)
        m->duration_ns = GP_DURATION_ELSEWHERE;
}

void record_make(struct gp_measurement *m, bool goes_on)
{
    struct gp_context *c = m->context;
    const struct gp_launch *call = m->call;
    if (!m->kernel_name && !(m->kernel_name = strdup(m->kernel->name)))
        return; /* when out of memory there is no record */
    m->record = (struct gp_record){
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
    kernel_describe(m->kernel, &m->record);
    m->record.kernel = m->kernel_name;
    m->record.no_half_arithmetic = !kernel_may_compute_halves(m->kernel);
    m->not_run = m->not_run_at_first = why_not_run(m, goes_on);
    record_time(m);
    m->record.overhead_ms =
        1e3 * (gp_clock_seconds() - m->started - (drain_seconds() - m->drained));
    if (m->since > 0)
        return;
    m->since = gp_clock_seconds();
    m->added_before = gp_added_seconds();
}

void record_amend(struct gp_measurement *m, double added_ms, struct gp_reason broken_off)
{
    m->record.passes = m->runs;
    m->record.overhead_ms += added_ms;
    m->context->amended += added_ms / 1e3;
    m->record.restored_bytes = m->restored_bytes;
    m->record.skipped = broken_off;
    m->not_run = gp_reason_or(broken_off, m->not_run_at_first);
}

static bool waits(const struct gp_measurement *m)
{
    return m->kernel_name && m->since > 0;
}

bool record_is_written(const struct gp_measurement *m)
{
    return m->kernel_name && m->since == 0;
}

const struct gp_measurement *records_first(const struct gp_context *c)
{
    const struct gp_measurement *m = c->launches;
    while (m && !waits(m))
        m = m->next;
    return m;
}

bool records_wait(const struct gp_context *c)
{
    return records_first(c) != NULL;
}

bool records_are_due(const struct gp_context *c)
{
    const struct gp_measurement *first = records_first(c);
    return gp_collection_is_full(c->collection) ||
           (first && gp_clock_seconds() - first->since > MOST_SECONDS);
}

/* Our own time is that of the kernel alone; the time of a range includes its edges. */
static void put_duration(struct gp_counter *counters, size_t count, double duration_ns)
{
    for (size_t i = 0; duration_ns != 0 && i < count; i++) {
        if (strcmp(counters[i].name, GP_DURATION_COUNTER) == 0) {
            counters[i].value = duration_ns;
            counters[i].absent = duration_ns > 0 ? GP_NO_REASON : GP_REASON(COUNTED_ELSEWHERE);
        }
    }
}

/* Hands a launch with its counters, as far as they can be read, to `take`. */
static void read_and(void (*take)(const struct gp_measurement *), struct gp_measurement *m)
{
    struct gp_collection *c = m->context->collection;
    size_t count;
    const struct gp_counter *read = c->collector->read(c, &m->member, m->not_run, &count);
    struct gp_counter *counters = calloc(count + m->more_count + 1, sizeof(*counters));
    if (!counters)
        return;
    memcpy(counters, read, count * sizeof(*counters));
    m->record.diagnosed = m->more_count > 0;
    if (m->more_count > 0)
        memcpy(counters + count, m->more_counters, m->more_count * sizeof(*counters));
    count += m->more_count;
    put_duration(counters, count, m->duration_ns);
    m->record.recalled = gp_member_recalled(&m->member);
    m->record.counters = counters;
    m->record.counter_count = count;
    take(m);
    free(counters);
}

static void take_whole(const struct gp_measurement *m)
{
    const double scatter = results_launch(&m->record, m->early != GP_EARLY_NONE);
    within_limit_learn(&m->record, false, m->record.overhead_ms / 1e3 - m->not_ours, scatter);
}

static void take_early(const struct gp_measurement *m)
{
    results_note(&m->record, m->duration_ns, m->early != GP_EARLY_NONE);
}

static void record(struct gp_measurement *m)
{
    read_and(take_whole, m);
    if (!m->record.skipped.cause && !m->member.run.no_code.cause)
        tally_kernel_note(m->kernel_name, GP_KERNEL_COUNTED);
    m->since = 0;
}

static void note(struct gp_measurement *m)
{
    read_and(take_early, m);
    m->early = GP_EARLY_WRITTEN;
}

void records_note(struct gp_context *c)
{
    struct gp_measurement *m;
    DL_FOREACH(c->launches, m)
    {
        if (!waits(m))
            continue;
        if (m->member.state >= GP_LAUNCH_RAN && gp_member_is_read(c->collection, &m->member))
            record(m);
        else if (m->early != GP_EARLY_WRITTEN)
            note(m);
    }
}

void record_note_own_run(struct gp_measurement *m, bool again)
{
    if (!m->kernel_name)
        return;
    note(m);
    if (again)
        m->early = GP_EARLY_AGAIN;
}

void records_settle(struct gp_context *c, bool context_alive)
{
    struct gp_measurement *m, *next;
    gp_collection_finish(c->collection, context_alive);
    DL_FOREACH(c->launches, m)
    {
        if (waits(m))
            record(m);
    }
    gp_collection_empty(c->collection);
    c->in_pass = false; /* else it was ended before, or never will be */
    DL_FOREACH_SAFE(c->launches, m, next)
    {
        DL_DELETE(c->launches, m);
        held_leave(m);
    }
}
