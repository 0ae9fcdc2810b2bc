/* counters/: the GPU's counters. One small interface, and behind it the ways of counting. Owns the
 * sessions with CUPTI.
 *
 * A collection collects one set of counters for one launch after another in one context. Some
 * counters cannot be counted at once, so a launch is made of passes; each pass needs the kernel to
 * run once, from the same memory. There are those of the hardware, in their order, and before or
 * after them, as the collector says, one that runs instrumented code, where counters want that.
 *
 * Reading the hardware's counters costs milliseconds, so it is done for many launches at once: a
 * launch has a slot, and its counters are read when the collection has been settled.
 *
 * Used with the gate locked and the context current; one thread at a time. */
#ifndef GPUPROF_COUNTERS_COLLECTOR_H
#define GPUPROF_COUNTERS_COLLECTOR_H

#include "cuda/driver.h"
#include "profile/record.h"

struct gp_collection;

/* A kernel in instrumented code, as its launches showed it: the cost in times of its own duration,
 * 0 where not known. */
struct gp_pass_cost {
    double sass, range;
    double last_ms;   /* its last pass of instrumented code */
    bool measured;    /* a launch of it was */
    bool retries;     /* time decides how many instructions it executes (code/retries.h) */
    bool no_matrices; /* the tensor cores rested in one */
    enum { GP_LANES_UNKNOWN, GP_LANES_FOLLOW, GP_LANES_HIDDEN } lanes; /* code/lanes.h */
};

/* The machine code of a function of the launched kernel's module: `size` bytes, NULL with the
 * reason where it is not to be had. */
typedef const void *gp_find_code(void *data, const char *function, size_t *size,
                                 struct gp_reason *why);

/* The parts of the launched kernel's cubin that show source lines (code/slim.h), at most `most`
 * bytes, to be freed; NULL where it is not to be had. */
typedef void *gp_find_cubin(void *data, size_t most, size_t *size);

/* The facts of a launch that the collector counts. */
struct gp_run {
    const char *kernel;     /* mangled */
    uint64_t shape;         /* tells its grid, blocks and clusters from others */
    uint64_t warps;         /* that it starts, 0 where not known */
    const void *parameters; /* their bytes, NULL where they are not known */
    size_t parameters_size;
    uint64_t work;             /* a hash of the parameters on which its work depends */
    uint64_t layout;           /* of its copy: to put copies of one layout in place is the same work
                                * each time. 0: it cannot be counted together with others */
    double native_ms;          /* the kernel alone, 0 where not known */
    double most_long_ms;       /* that instrumented passes may take which take long, all together;
                                * then only launches of a new kind make such a pass. 0: any time */
    bool only_pass;            /* there will be no other of this launch */
    bool held;                 /* it is replayed later, in sweeps over all that are held */
    bool in_row;               /* others follow, and nothing but them runs before the next sweep */
    bool refused;              /* at its end: the pass counts for nothing, its launch failed */
    bool always;               /* counters are never those of another launch that was alike */
    struct gp_pass_cost *cost; /* of this kernel */
    uint64_t *code;            /* of this kernel: the collector's number for its code, at first 0 */
    gp_find_code *find_code;
    gp_find_cubin *find_cubin; /* NULL: it is not to be had */
    void *find_code_data;
    /* Called just before the kernel runs in a pass of the hardware: dirty data in the L2 would be
     * written back in that pass. */
    void (*empty_caches)(void *data);
    void *empty_caches_data;
};

/* The passes of a launch, which is replayed for each or makes one of them itself. */
struct gp_passes {
    unsigned hardware;    /* numbered from 0; none where no counter of the hardware is wanted,
                           * or can be had at present */
    bool instrumented;    /* one that gives counters: GP_INSTRUMENTED_PASS */
    bool hardware_wanted; /* a counter of the hardware that this GPU has, other than the time */
    struct gp_reason no_hardware; /* why it counts nothing at present although it was asked to */
    bool on_trial; /* whether instrumented code is counted without the hardware shows soon */
};

struct gp_slot_state {
    bool read;       /* nothing more will become readable: it may be recorded before others are */
    bool familiar;   /* held, and its launches of the kind were all alike so far */
    bool open;       /* held, and there are passes to be made in later sweeps */
    unsigned bundle; /* it is counted together with all launches of that bundle; 0: by itself */
    enum gp_recalled recalled; /* counters that are those of a launch that was, or was assumed to
                                * be, alike */
};

struct gp_collector {
    /* True for devices of the generations this way of counting is for. */
    bool (*suits)(const struct gp_device *device);

    /* Prepares to collect the named counters (strings that outlive the collection). NULL with the
     * reason in *why where nothing at all can be collected; single
     * counters that cannot be have their reason when they are read. */
    struct gp_collection *(*open)(CUcontext context, const struct gp_device *device,
                                  const char *const *names, size_t count, struct gp_reason *why);

    /* The passes to be made. Where the hardware could not be had it may be asked for again. */
    struct gp_passes (*passes)(struct gp_collection *collection);

    /* The next pass of a launch that is replayed, false where there is none any more. `made`: the
     * one before was made, and ended well; the first time it says nothing. */
    bool (*next)(struct gp_collection *collection, unsigned slot, const struct gp_run *run,
                 bool made, unsigned *pass);

    /* The next sweep over the launches that are held, from 1, after which `next` has more passes of
     * them: GP_BUNDLE_PASS, say, for the first launch of each bundle, by its slot. False where all
     * that there can be were made: then there may be some in another round, from 1, as a bundle had
     * a wrong sum. NULL: launches cannot be held. */
    bool (*sweep)(struct gp_collection *collection, unsigned sweep);

    /* The state of the launch by now. */
    struct gp_slot_state (*state)(const struct gp_collection *collection, unsigned slot);

    /* Before a launch: its slot. There are few; once `full`, settle and read before the next. */
    unsigned (*slot)(struct gp_collection *collection);
    bool (*full)(const struct gp_collection *collection);

    /* Around one run of the kernel. The hardware's passes come in order from 0; a launch may leave
     * out any number of the last ones. False with the reason in *why; then the launch's
     * further passes of that kind must not begin. *why is none where the pass is left out, as such
     * passes have taken all their time: the counters have the reason. */
    bool (*begin)(struct gp_collection *collection, unsigned slot, unsigned pass,
                  const struct gp_run *run, struct gp_reason *why);
    bool (*end)(struct gp_collection *collection, unsigned slot, unsigned pass,
                const struct gp_run *run, struct gp_reason *why);

    /* Makes the values of all launches so far readable. With the context gone (not alive) those of
     * the hardware are lost. */
    void (*settle)(struct gp_collection *collection, bool context_alive);

    /* The counters of a launch: *count of them, as many as were named and in that order, belonging
     * to the collection until the next call. Those whose passes did not run are absent with
     * `not_run` as reason. */
    const struct gp_counter *(*read)(struct gp_collection *collection, unsigned slot,
                                     struct gp_reason not_run, size_t *count);

    /* All launches have been read: their slots are given out again. */
    void (*reset)(struct gp_collection *collection);

    /* Ends the session, unless the context is gone already. */
    void (*close)(struct gp_collection *collection, bool context_alive);
};

#define GP_INSTRUMENTED_PASS 1000u

/* Of a bundle, with the hardware's counters: the copy of its first launch is put in place, and
 * nothing else; each copy is put in place, and its launch made behind it. */
#define GP_BLANK_PASS 1001u
#define GP_BUNDLE_PASS 1002u

/* CUPTI's Range Profiler and SASS metrics: compute capability 7.0 and later, CUDA 12.6 and later.
 */
extern const struct gp_collector gp_range_collector;
/* CUPTI's event groups: compute capability up to 7.2, as long as CUPTI knows the chip. */
extern const struct gp_collector gp_event_collector;

/* Counters of event groups are named event__NAME, NAME being CUPTI's name for the event. */
#define GP_EVENT_PREFIX "event__"

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

/* Facts of a device that only CUPTI knows: the chip's name, CUPTI's version. Empty and 0 where it
 * does not say. */
void gp_collector_describe(struct gp_device *device);

/* Opens the first collection that works on this device, and says by which collector;
 * device->event_counters becomes 1 where counters are those of event groups. NULL with the reason
 * in *why. `names` gives the counters wanted once that is known: it fills in *list and *count and
 * returns false when out of memory. */
typedef bool gp_counter_names(const struct gp_device *device, const char ***list, size_t *count);
struct gp_collection *gp_collection_open(CUcontext context, struct gp_device *device,
                                         gp_counter_names *names,
                                         const struct gp_collector **collector,
                                         struct gp_reason *why);

#endif
