/* counters/: the GPU's counters. One small interface, and behind it the ways of counting. Owns the
 * sessions with CUPTI.
 *
 * A collection collects one set of counters for the launches of one context, batch by batch
 * (counters/batch.h): its next step names the launch to run, from the same memory each time, and
 * the counters of that run. Reading the hardware's counters costs milliseconds, so it is done for
 * a batch at once.
 *
 * Used with the gate locked and the context current; one thread at a time. */
#ifndef GPUPROF_COUNTERS_COLLECTOR_H
#define GPUPROF_COUNTERS_COLLECTOR_H

#include "counters/batch.h"
#include "cuda/driver.h"
#include "profile/record.h"

/* The head of a collection; each way of counting has its own behind it. */
struct gp_collection {
    const struct gp_collector *collector;
    struct gp_batch batch;
    struct gp_batch_facts facts;
    unsigned most; /* launches in a batch */
    bool used_up;  /* no range is left before its launches were read */
    bool away;     /* its session is with another context */
};

/* The facts of a collection that are those of all collections of its device. */
struct gp_collection_facts {
    const struct gp_collector *collector;
    struct gp_batch_facts batch;
    unsigned most;
};

/* The passes of a launch, which is replayed for each or makes one of them itself. */
struct gp_passes {
    unsigned hardware;    /* numbered from 0; none where no counter of the hardware is wanted,
                           * or can be had at present */
    bool instrumented;    /* one that gives counters */
    bool hardware_wanted; /* a counter of the hardware that this GPU has, other than the time */
    struct gp_reason no_hardware; /* why it counts nothing at present although it was asked to */
    bool on_trial; /* whether instrumented code is counted without the hardware shows soon */
};

struct gp_collector {
    /* The generations that this way of counting is for: compute capability, times 10. */
    int from, to;

    /* Prepares to collect the named counters (strings that outlive the collection). NULL with the
     * reason in *why where nothing at all can be collected; single
     * counters that cannot be have their reason when they are read. `away` (may be NULL): the
     * session is with another context, whose collection has these facts. */
    struct gp_collection *(*open)(CUcontext context, const struct gp_device *device,
                                  const char *const *names, size_t count,
                                  const struct gp_collection_facts *away, struct gp_reason *why);

    /* The session goes to another context of the device, which can only be in one; and it comes
     * again: false with the reason in *why where it cannot be had. The context is idle, and the
     * batch is empty when it goes. NULL: contexts have their counters side by side. */
    void (*leave)(struct gp_collection *collection);
    bool (*come)(struct gp_collection *collection, struct gp_reason *why);

    /* The passes to be made. Where the hardware could not be had it may be asked for again. */
    struct gp_passes (*passes)(struct gp_collection *collection);

    /* A launch enters the batch: nothing of it is counted yet. */
    void (*enter)(struct gp_collection *collection, struct gp_member *member);

    /* Makes a step in which no kernel runs. */
    void (*perform)(struct gp_collection *collection, const struct gp_step *step);

    /* Around the run of a step. False with the reason in *why, which is none where the pass is left
     * out, as such passes have taken all their time: the counters have the reason. `refused`: the
     * pass counts for nothing, as its launch failed. */
    bool (*begin)(struct gp_collection *collection, const struct gp_step *step,
                  struct gp_reason *why);
    bool (*end)(struct gp_collection *collection, const struct gp_step *step, bool refused,
                struct gp_reason *why);

    /* The counters of a launch: *count of them, as many as were named and in that order, belonging
     * to the collection until the next call. Those whose passes did not run are absent with
     * `not_run` as reason. */
    const struct gp_counter *(*read)(struct gp_collection *collection,
                                     const struct gp_member *member, struct gp_reason not_run,
                                     size_t *count);

    /* Ends the session, unless the context is gone already. */
    void (*close)(struct gp_collection *collection, bool context_alive);
};

/* Enters a launch into the batch, which is not full. It stays there until the batch is emptied; its
 * address stays. */
void gp_collection_enter(struct gp_collection *c, struct gp_member *member);
/* True where no other launch may enter: all are to be read first. */
bool gp_collection_is_full(const struct gp_collection *c);

/* The next step in which a kernel is to run: of the launches that wait, or of one that does not
 * (`member`, else NULL). Makes all steps before it in which none does. False where there is none
 * any more. To be followed by gp_collection_stepped. */
bool gp_collection_next(struct gp_collection *c, struct gp_member *member, struct gp_step *step);
void gp_collection_stepped(struct gp_collection *c, const struct gp_step *step, bool well);

/* The step of a launch that makes one pass in its own run: that of the hardware, or, where `pass`
 * is none of these, in instrumented code. */
struct gp_step gp_collection_step_of(const struct gp_collection *c, struct gp_member *member,
                                     unsigned pass);

/* True where there are steps to be made of a launch that waits. */
bool gp_collection_is_open(const struct gp_collection *c, const struct gp_member *member);
/* True where the launch may be recorded before others are read: nothing more will be known. */
bool gp_member_is_read(const struct gp_collection *c, const struct gp_member *member);
/* The counters that are those of a launch that was, or was assumed to be, alike. */
enum gp_recalled gp_member_recalled(const struct gp_member *member);

/* The step is the blank of a bundle, with that work: true where it needs no pass. */
bool gp_collection_tells_blank(struct gp_collection *c, const struct gp_step *step,
                               const struct gp_put_work *work);

/* True where launches of its kind have all been alike so far. */
bool gp_collection_is_familiar(struct gp_collection *c, struct gp_member *member);

/* Makes the values of all launches readable. With the context gone (not alive) those of the
 * hardware are lost. And afterwards, when they have been read, the batch begins anew. */
void gp_collection_finish(struct gp_collection *c, bool context_alive);
void gp_collection_empty(struct gp_collection *c);

/* A context is about to be destroyed, and its collection has been closed. CUPTI gives back its
 * memory there only where nothing runs in the context (`at_rest`; an error there is no matter): it
 * waits for it. */
void gp_collectors_leave(CUcontext context, bool at_rest);

/* True where CUPTI has kept code of kernels after a collection was closed: it refused to free it.
 */
bool gp_collectors_left_code(void);

/* The process ends, and all collections have been closed: CUPTI's own end must find nothing to do.
 */
void gp_collectors_end(void);

/* Whether the driver serves our copy of CUPTI, as far as is known. From any thread. */
bool gp_collectors_have_driver(void);

/* Has CUPTI leave the driver, while no collection has a session and nothing of ours runs: each
 * launch of the program is quicker then. It comes again with the next session. False with the
 * reason in *why. */
bool gp_collectors_detach(struct gp_reason *why);

/* Calls `load` with the data, and `heard` with the cubin of each module that the driver loads
 * meanwhile, also one that it compiles from PTX. False, with the reason in *why, where nobody was
 * asked: nothing is counted at present, or another tool listens to CUPTI. */
typedef void gp_cubin_heard(const void *cubin, size_t size, void *data);
bool gp_collectors_hear_cubins(void (*load)(void *data), gp_cubin_heard *heard, void *data,
                               struct gp_reason *why);

/* Facts of a device that only CUPTI knows: the chip's name, CUPTI's version. Empty and 0 where it
 * does not say. */
void gp_collector_describe(struct gp_device *device);

/* Opens the first collection that works on this device; device->event_counters becomes 1 where
 * counters are those of event groups. NULL with the reason in *why. `names` gives the counters
 * wanted once that is known: it fills in *list and *count and returns false when out of memory. */
typedef bool gp_counter_names(const struct gp_device *device, const char ***list, size_t *count);
struct gp_collection *gp_collection_open(CUcontext context, struct gp_device *device,
                                         gp_counter_names *names, struct gp_reason *why);
/* Opens one as the first collection of the device, while the session is with another context. */
struct gp_collection *gp_collection_open_away(CUcontext context, struct gp_device *device,
                                              gp_counter_names *names,
                                              const struct gp_collection_facts *facts,
                                              struct gp_reason *why);
/* The facts of a collection that has its session. */
struct gp_collection_facts gp_collection_facts(const struct gp_collection *c);
/* The session leaves the collection, whose batch is empty; and comes, where that can be had. */
void gp_collection_leave(struct gp_collection *c);
bool gp_collection_come(struct gp_collection *c, struct gp_reason *why);

#endif
