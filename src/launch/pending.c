#include "launch/pending.h"

#include "base/clock.h"
#include "launch/results.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* How long a launch may wait: counters that are not read yet are lost when the process is
 * killed. */
#define MOST_SECONDS 1.0

struct gp_pending {
    unsigned slot;
    struct gp_record launch;
    char *kernel; /* its name: the kernel may be unloaded by the time it is read */
    struct gp_reason not_run, not_run_at_first;
    double duration_ns;
    double since; /* seconds */
    bool noted;   /* early */
    bool again;   /* it is to be noted again: more will be known of it at the end of its launch */
    bool deferred;
    struct gp_pending *prev, *next;
};

struct gp_pending *gp_pending_add(struct gp_pending **list, unsigned slot,
                                  const struct gp_record *launch, struct gp_reason not_run,
                                  double duration_ns)
{
    struct gp_pending *p = calloc(1, sizeof(*p));
    char *kernel = strdup(launch->kernel);
    if (!p || !kernel) {
        free(p);
        free(kernel);
        return NULL; /* when out of memory there is no record */
    }
    p->slot = slot;
    p->kernel = kernel;
    p->since = gp_clock_seconds();
    gp_pending_renew(p, launch, not_run, duration_ns);
    DL_APPEND(*list, p);
    return p;
}

void gp_pending_renew(struct gp_pending *p, const struct gp_record *launch,
                      struct gp_reason not_run, double duration_ns)
{
    p->launch = *launch;
    p->launch.kernel = p->kernel;
    p->not_run = p->not_run_at_first = not_run;
    p->duration_ns = duration_ns;
}

void gp_pending_amend(struct gp_pending *p, unsigned runs, double added_ms, uint64_t restored_bytes,
                      struct gp_reason broken_off)
{
    if (!p)
        return;
    p->deferred = false;
    p->launch.passes = runs;
    p->launch.overhead_ms += added_ms;
    p->launch.restored_bytes = restored_bytes;
    p->launch.skipped = broken_off;
    p->not_run = gp_reason_or(broken_off, p->not_run_at_first);
}

void gp_pending_defer(struct gp_pending *p)
{
    if (p)
        p->deferred = true;
}

void gp_pending_time(struct gp_pending *p, double duration_ns)
{
    if (p)
        p->duration_ns = duration_ns;
}

bool gp_pending_is_due(const struct gp_pending *list, const struct gp_collector *collector,
                       const struct gp_collection *collection)
{
    return collector->full(collection) || (list && gp_clock_seconds() - list->since > MOST_SECONDS);
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
static void read_and(void (*take)(const struct gp_pending *), struct gp_pending *p,
                     const struct gp_collector *collector, struct gp_collection *collection)
{
    size_t count;
    const struct gp_counter *read = collector->read(collection, p->slot, p->not_run, &count);
    struct gp_counter *counters = calloc(count + 1, sizeof(*counters));
    if (!counters)
        return;
    memcpy(counters, read, count * sizeof(*counters));
    put_duration(counters, count, p->duration_ns);
    p->launch.recalled = collector->state(collection, p->slot).recalled;
    p->launch.counters = counters;
    p->launch.counter_count = count;
    take(p);
    free(counters);
}

static void take_whole(const struct gp_pending *p)
{
    gp_results_launch(&p->launch, p->noted);
}

static void take_early(const struct gp_pending *p)
{
    gp_results_note(&p->launch, p->duration_ns, p->noted);
}

static void record(struct gp_pending **list, struct gp_pending *p,
                   const struct gp_collector *collector, struct gp_collection *collection)
{
    read_and(take_whole, p, collector, collection);
    DL_DELETE(*list, p);
    free(p->kernel);
    free(p);
}

static void note(struct gp_pending *p, const struct gp_collector *collector,
                 struct gp_collection *collection)
{
    read_and(take_early, p, collector, collection);
    p->noted = true;
}

void gp_pending_note(struct gp_pending **list, const struct gp_collector *collector,
                     struct gp_collection *collection)
{
    struct gp_pending *p, *next;
    DL_FOREACH_SAFE(*list, p, next)
    {
        if (!p->deferred && collector->state(collection, p->slot).read) {
            record(list, p, collector, collection);
        } else if (!p->noted || p->again) {
            note(p, collector, collection);
            p->again = false;
        }
    }
}

void gp_pending_note_own_run(struct gp_pending *p, bool again, const struct gp_collector *collector,
                             struct gp_collection *collection)
{
    note(p, collector, collection);
    p->again = again;
}

void gp_pending_settle(struct gp_pending **list, const struct gp_collector *collector,
                       struct gp_collection *collection, bool context_alive)
{
    struct gp_pending *p, *next;
    collector->settle(collection, context_alive);
    DL_FOREACH_SAFE(*list, p, next)
    record(list, p, collector, collection);
    collector->reset(collection);
}
