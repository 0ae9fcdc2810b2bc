/* counters/: what did the GPU count? One small interface, and behind it the ways of counting. Owns
 * the sessions with CUPTI. May call cuda/ and base/.
 *
 * A collection collects one set of counters for one launch after another in one context. Some
 * counters cannot be counted at once, so a launch is made of passes; each pass needs the kernel to
 * run once, from the same memory. Passes are in an order that gives most with the fewest: the
 * hardware's counters come first, those of instrumented code last.
 *
 * Used with the gate closed and the context current; one thread at a time. */
#ifndef GPUPROF_COUNTERS_COLLECTOR_H
#define GPUPROF_COUNTERS_COLLECTOR_H

#include "cuda/driver.h"
#include "profile/record.h"

struct gp_collection;

struct gp_collector {
    const char *name;

    /* True for devices of the generations this way of counting is for. */
    bool (*suits)(const struct gp_device *device);

    /* Prepares to collect the named counters (strings that outlive the collection). NULL with the
     * reason in *why (a string that lives for ever) where nothing at all can be collected; single
     * counters that cannot be have their reason when they are read. */
    struct gp_collection *(*open)(CUcontext context, const struct gp_device *device,
                                  const char *const *names, size_t count, const char **why);

    /* How many passes a launch needs; 0 when no counter can be had. */
    unsigned (*passes)(const struct gp_collection *collection);

    /* Before a launch: forgets the last one's values. */
    void (*reset)(struct gp_collection *collection);

    /* Around one run of the kernel. Passes come in order from 0; a launch may end after any of
     * them. False with the reason in *why; then the launch's other passes must not begin. */
    bool (*begin)(struct gp_collection *collection, unsigned pass, const char **why);
    bool (*end)(struct gp_collection *collection, unsigned pass, const char **why);

    /* How many counters there are: as many as were named. */
    size_t (*count)(const struct gp_collection *collection);

    /* The counters of the launch whose last pass ended: `count` entries in the order of open,
     * belonging to the collection until the next begin. Those whose passes did not run are absent
     * with `not_run` as reason. */
    const struct gp_counter *(*read)(struct gp_collection *collection, const char *not_run);

    /* Ends the session, unless the context is gone already. */
    void (*close)(struct gp_collection *collection, bool context_alive);
};

/* CUPTI's Range Profiler: compute capability 7.0 and later, CUDA 12.6 and later. */
extern const struct gp_collector gp_range_collector;
/* CUPTI's event groups: compute capability up to 7.2, as long as CUPTI knows the chip. */
extern const struct gp_collector gp_event_collector;

/* Counters of event groups are named event__NAME, NAME being CUPTI's name for the event. */
#define GP_EVENT_PREFIX "event__"

/* Facts of a device that only CUPTI knows: the chip's name, CUPTI's version. Empty and 0 where it
 * does not say. */
void gp_collector_describe(struct gp_device *device);

/* Opens the first collection that works on this device, and says by which collector;
 * device->event_counters becomes 1 where counters are those of event groups. NULL with the reason
 * in *why. `names` gives the counters wanted once that is known: it fills in *list and *count and
 * returns false when memory ran out. */
typedef bool gp_counter_names(const struct gp_device *device, const char ***list, size_t *count);
struct gp_collection *gp_collection_open(CUcontext context, struct gp_device *device,
                                         gp_counter_names *names,
                                         const struct gp_collector **collector, const char **why);

#endif
