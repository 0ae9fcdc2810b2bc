/* A context whose launches are only timed, from within: its list (launch/timed_contexts.c), the
 * facts of its kernels (launch/timed_facts.c), its records (launch/timed_records.c). Only for these
 * and launch/timed.c. */
#ifndef GPUPROF_LAUNCH_TIMED_PARTS_H
#define GPUPROF_LAUNCH_TIMED_PARTS_H

#include "gate/blocking.h"
#include "launch/kernels.h"
#include "launch/timed.h"
#include "launch/under_way.h"
#include "memory/pause.h"

#include <pthread.h>
#include <stdatomic.h>

/* A kernel in the context, by the handle that the program launches. */
struct gp_timed_facts {
    CUfunction handle;
    struct gp_kernel_facts kernel;
    struct gp_record described; /* by the driver */
    unsigned long changes;      /* of attributes, when it was */
    bool may_load; /* the driver may load its code at its next launch, between the events */
    UT_hash_handle hh;
};

/* Contexts are never freed, so that they can be searched without a lock; one that has gone is used
 * again for another one. */
struct gp_timed_context {
    _Atomic(CUcontext) handle; /* NULL: none */
    bool green;
    atomic_bool is_only_timed;
    atomic_ullong ask_at; /* nanoseconds of the clock: until then it is; 0: for good */
    double ask_after;     /* seconds that the last such time lasted */
    struct gp_reason why; /* nothing is counted; none: nothing is asked for */
    struct gp_device device;
    struct gp_counter *counters; /* of a record; the time is one of them */
    size_t count, time;
    pthread_mutex_t lock; /* of all below */
    uint64_t life;        /* how often it was another context before */
    struct gp_under_way under_way;
    struct gp_timed_facts *facts;
    unsigned long forgotten; /* functions, when these were found */
    bool pause_tried;
    struct gp_pause pause;
    double usual_ns; /* from a pause to the end of the launch behind it, on the host */
    unsigned pauses;
    float empty_ms; /* least time between two events with nothing between them */
    /* Blocking work (gate/blocking.h) that has ended; and before the mark, an event. */
    unsigned long ended[GP_BLOCKING_KINDS], before_mark[GP_BLOCKING_KINDS];
    CUevent mark;
    bool marked;
    struct gp_timed_context *_Atomic next;
};

/* ---- contexts (timed_contexts.c) ------------------------------------------------------------- */

/* All of them, those that nobody has included, through `next`. */
struct gp_timed_context *timed_contexts(void);

/* The context of launches into the stream; NULL, and why, where it is another one than the current
 * one. */
struct gp_timed_context *timed_context_of(CUstream stream, enum gp_passed_over *why);

/* ---- facts of kernels (timed_facts.c); locked, and so it is afterwards -------------------------
 */

/* NULL where they cannot be had now. The driver may load the kernel's code meanwhile. */
struct gp_timed_facts *timed_facts_of(struct gp_timed_context *c, CUfunction handle);
void timed_facts_forget(struct gp_timed_context *c);

/* ---- records (timed_records.c); locked ------------------------------------------------------- */

/* Hands over a record without a time, for that reason. */
void timed_record_untimed(struct gp_timed_context *c, struct gp_record *record,
                          struct gp_reason no_time);

/* A launch has begun: enters it among those of its stream, and writes an early line. */
void timed_launch_begun(struct gp_timed_context *c, struct gp_timed_stream *stream,
                        struct gp_timed_launch *launch);

/* Makes the context current where it is not, to ask its events; then true: it is to be popped. */
bool timed_push(struct gp_timed_context *c);

/* Records the launches of the stream, or of the context, that have ended by now; all, after a wait
 * for them within the limit of waits. Nothing may be asked while a stream is captured. */
void timed_read_stream(struct gp_timed_context *c, struct gp_timed_stream *stream);
void timed_record_all(struct gp_timed_context *c);

#endif
