/* The contexts launches are measured in: the device each is on, its collection of counters, its
 * snapshot. Owns those. Used with the gate locked. */
#ifndef GPUPROF_LAUNCH_CONTEXTS_H
#define GPUPROF_LAUNCH_CONTEXTS_H

#include "counters/collector.h"
#include "launch/clocks.h"
#include "memory/snapshot.h"

/* Events that mark the start of a launch. */
#define GP_STARTS 4

struct gp_measurement;

struct gp_context {
    CUcontext handle;
    struct gp_device device; /* CUPTI's part once it is `described`: the context was idle then */
    bool described;
    bool time_limited;                /* the GPU drives a display: it ends kernels that take long */
    struct gp_collection *collection; /* NULL: nothing is collected there at present */
    struct gp_snapshot *snapshot;     /* NULL until a launch is to be replayed */
    struct gp_snapshot *graph_snapshot; /* of a whole graph (launch/again.h); the same */
    struct gp_reason no_snapshot;       /* why there can be none; none while there may be */
    struct gp_measurement *launches;    /* of its batch, in their order */
    struct gp_measurement *unwritten;   /* given up, and their copies are still to be written */
    unsigned lost;                      /* so many of them were, which is still to be said */
    struct gp_reason why_lost;
    bool counts_hardware;      /* there is a session, since the first of those */
    CUresult rest;             /* whether it was at rest when another one wanted its counters */
    bool wait_failed;          /* the last wait for those, or for work in front of them */
    double deferred_backoff;   /* as `backoff`, of these waits */
    double start_backoff;      /* of waits for the next of those to start */
    bool deferred_stuck;       /* such launches took too long, and are not waited for any more */
    double deferred_seconds;   /* that those took which were not waited for, as expected */
    struct gp_clock *clocks;   /* of launches that were not waited for; free at present */
    CUevent event;             /* after a launch: for waiting; it takes no time */
    CUevent asked;             /* to ask whether the context is at rest; nor does it */
    CUevent end;               /* after a launch: its time */
    CUevent starts[GP_STARTS]; /* before a launch, one right after the other */
    float empty_ms;            /* least time seen between two of these; 0: none yet */
    bool tail;                 /* `event` marks the end of our own work for the last launch */
    bool busy; /* a wait for the context ran out: until `event` happens nothing is measured */
    uint64_t common_turns; /* taken by launches of all kernels, see launch/measure.c */
    double
        backoff; /* seconds: the last wait for it was in vain, the next is shorter; 0: it was not */
    unsigned held_up; /* waits in vain, one after the other, for kernels that wait for the host */
    bool in_pass;     /* whose kernel was abandoned: the pass is ended once the context is idle */
    struct gp_step open_pass;
    struct gp_reason
        on_trial; /* why the hardware counts nothing; whether more is counted shows soon */
    bool dead;    /* a kernel failed: nothing works in it any more */
    struct gp_context *prev, *next;
};

/* The context, which is current; NULL with the reason in *why, which is none for a context that has
 * failed and of which that was said. */
struct gp_context *context_enter(CUcontext handle, struct gp_reason *why);
/* Makes the current context, which is idle (CUPTI waits for it), ready to collect; false with the
 * reason in *why, which is none where another context is at work that has the counters now. */
bool context_collects(struct gp_context *context, struct gp_reason *why);

/* Ends the pass in which a kernel was abandoned, if there is one: the context is idle now. */
void context_end_pass(struct gp_context *context);

/* Says once that the hardware counts nothing, and the measurements that are made all the same. */
void say_without_hardware(bool instrumented, struct gp_reason why);

/* True where something can be replayed there: no kernel has failed, or was abandoned and runs on.
 */
static inline bool context_goes_on(const struct gp_context *context)
{
    return !context->dead && !context->busy;
}
/* True where a kernel was abandoned in it, or is known not to end by itself, and has not ended. */
bool context_is_held_up(const struct gp_context *context);
/* Waits for the context, which is current: CUPTI ends a pass by waiting for all there is in it, and
 * that must come to an end. CUDA_ERROR_NOT_READY where it does not. Where the program goes on, and
 * launches behind blocked work are deferred, only the first wait is long. */
CUresult context_rests(struct gp_context *context, bool goes_on);
/* Waits as context_rests, also where a stream may be captured, which our own wait would
 * invalidate: then it is left to CUPTI to wait, or, at the end of the process, the collection as it
 * is. */
CUresult context_comes_to_rest(struct gp_context *context, bool goes_on, bool at_end);

/* gp_wait_for_rest, `most` seconds at most, and less where the last such wait was in vain. */
CUresult context_wait(struct gp_context *context, double most, double *waited);
/* How long to wait, and a note of how that went; *backoff is 0 at first. */
double backoff_limit(double most, double backoff);
void backoff_note(double *backoff, CUresult result, double waited);
/* Waits for our own work for the last launch that was measured: the time that it takes is added,
 * and that of the program's work is not. */
void context_wait_for_tail(struct gp_context *context);

/* The context's snapshot of launches, and the one of a whole graph; made when first
 * asked for. NULL with the reason in *why. */
struct gp_snapshot *context_snapshot(struct gp_context *context, struct gp_reason *why);
struct gp_snapshot *context_graph_snapshot(struct gp_context *context, struct gp_reason *why);

/* Why memory of the context may change while a launch is replayed there: none where nobody else can
 * write it, or all others that can are idle. */
struct gp_reason context_disturbed(const struct gp_context *context);
/* Why memory that is every context's may change while a launch is replayed in this one: none where
 * nobody else can write it, or all others that can are idle. */
struct gp_reason others_disturb(const struct gp_context *context);

/* The thing about to change: memory, where bytes are given; one function, or stream; else all. */
struct gp_program_change {
    CUdeviceptr address;
    uint64_t bytes;
    CUfunction function;
    CUstream stream;
};

/* True where a held launch is concerned in some context. With the gate locked, or queued for it. */
bool gp_contexts_are_concerned(const struct gp_program_change *change);
/* Notes memory before it is freed. The same. */
void gp_contexts_note_going(const struct gp_program_change *change);
/* Before it: the held launches that it concerns make their further passes now, in every context;
 * unless they may be replayed, the gate is unlocked, it is lost. in_launch: one is being measured,
 * so that nothing can be read. */
void gp_contexts_before_change(const struct gp_program_change *change, bool may_replay,
                               bool in_launch);

/* The memory at that address is about to be freed, with the gate locked: true where it was retired
 * instead (memory/retired.h), and all launches stay held. Where the GPU was waited for in vain
 * *may_replay becomes false. */
bool contexts_retire(const struct gp_program_change *change, bool *may_replay);

/* The memory is about to be freed, and was not retired: true where a copy of it is still to be
 * made, and it is kept until that is over. With the gate locked, or queued for it. */
bool contexts_keep(const struct gp_program_change *change);

/* Reads launches that have waited for long enough in all other contexts that are at rest: their own
 * next launch may be far. */
void contexts_read_others(const struct gp_context *context);

/* True where something is collected in some context. With the gate locked, or queued for it.
 */
bool gp_contexts_collect(void);
/* True for a context that was entered and not left. The same. */
bool gp_context_is_known(CUcontext handle);

/* Ends collecting everywhere, for good: the process ends. The counts are read and recorded;
 * where they cannot be read, as the gate cannot be locked while somebody waits for the GPU, it
 * is absent. */
void contexts_end(bool read);

/* Closes the collections of a context, or of all (NULL), so that CUPTI frees the code that it has
 * patched there. False where something runs there that does not end, for which CUPTI would wait:
 * then that collection stays open. */
bool gp_contexts_close_collections(CUcontext context);

/* Ends collecting and frees our memory there; the context is about to go, or dead already. */
void gp_context_leave(CUcontext handle);
/* The device's primary context, NULL while it is not active. */
CUcontext gp_context_primary(CUdevice device);

#endif
