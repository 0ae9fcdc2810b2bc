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

    /* Prepares to collect the named counters (strings that outlive the collection). NULL with the
     * reason in *why (a string that lives for ever) where nothing at all can be collected; single
     * counters that cannot be have their reason when they are read. */
    struct gp_collection *(*open)(CUcontext context, const struct gp_device *device,
                                  const char *const *names, size_t count, const char **why);

    /* How many passes a launch needs; 0 when no counter can be had. */
    unsigned (*passes)(const struct gp_collection *collection);

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

/* Fills in the chip's name as CUPTI has it, empty where CUPTI does not say. */
void gp_collector_name_chip(struct gp_device *device);

#endif
