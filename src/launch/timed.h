/* Launches that are only timed: by two events around each, in its stream, which are asked when they
 * are over. Nothing waits for them, no memory is copied, no kernel runs more often than the program
 * runs it, and the gate is entered, not locked. So it is where no counter is asked for, in green
 * contexts, and in contexts where no counter can be had. Owns the events and facts of these
 * contexts. From any thread. */
#ifndef GPUPROF_LAUNCH_TIMED_H
#define GPUPROF_LAUNCH_TIMED_H

#include "launch/launch.h"
#include "profile/record.h"

struct gp_timed_context;
struct gp_timed_launch;
struct gp_whole_times;

/* Whether launches into that stream, of the current context where it is a default one, are. */
bool gp_is_only_timed(CUstream stream);

/* An attribute of some function has changed: those of kernels are asked for again. */
void gp_timed_function_changes(void);

/* A launch that is only timed, between its begin and its end. */
struct gp_timing {
    const struct gp_launch *call;
    struct gp_timed_context *context;
    struct gp_timed_launch *launch; /* NULL: it is not timed */
    struct gp_whole_times *whole;   /* it is a graph */
    struct gp_reason not_timed;     /* why */
    struct gp_record record;        /* its facts, without a name where it has a launch */
    uint64_t pause_ns;              /* of the pause in front of it; 0: none */
    double began, launching;        /* seconds of the clock */
    double added_before;            /* seconds that all measuring had added, */
    double unpacked_before;         /* and the thread had unpacked code */
    bool may_wait, may_hold;        /* its kernel, by its code */
    bool may_load;                  /* its code may be loaded at the launch */
    bool started, is_whole;
    bool opened;   /* its stream is noted as one that a launch is being made into */
    uint64_t met;  /* of that stream then */
    uint64_t life; /* of the context */
};

/* Before a launch that is begun with the gate locked: facts of its kernel are asked for, which need
 * not have its code. False where the limit does not permit to read that, or it is not known for
 * another reason. */
bool gp_timing_prepare(const struct gp_launch *call, bool needs_code);
/* Before the launch: true where it can be recorded; else *why says why not. Behind it, in any case
 * where that is true, gp_timing_ends with its result. Between these, with the gate entered, start
 * and stop stand directly around the launch. */
bool gp_timing_begins(struct gp_timing *timing, const struct gp_launch *call,
                      enum gp_passed_over *why);
void gp_timing_starts(struct gp_timing *timing);
void gp_timing_stops(struct gp_timing *timing, CUresult result);
void gp_timing_ends(struct gp_timing *timing, CUresult result);

/* Begins as gp_timing_begins, for a graph that is launched as it is, in the stream of `call`. The
 * device is that of its context; its times are counted in `whole`, or nowhere (NULL). */
bool gp_timing_begins_whole(struct gp_timing *timing, const struct gp_launch *call);
int gp_timing_device(const struct gp_timing *timing);
void gp_timing_is_of(struct gp_timing *timing, struct gp_whole_times *whole);

/* A launch as part of a graph that is launched as it is: it is recorded without a time. False where
 * it cannot be, with *why. */
bool gp_timed_describe(const struct gp_launch *call, enum gp_passed_over *why);

/* Records the launches that have ended, in a call of the program, which may have waited for them.
 */
void gp_timed_waited(void);

/* The context is about to go: records its launches. Waits for them, within the limit of waits,
 * where nothing is being captured. */
void gp_timed_leave(CUcontext context);

/* The times of the graph with that key; `device` is the one that it runs on. NULL where there are
 * too many graphs. */
struct gp_whole_times *gp_whole_times_of(uint64_t key, const char *kernel, unsigned kernels,
                                         int device);

#endif
