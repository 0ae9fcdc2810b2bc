/*
 * Streams: work in order, done by a thread of the stream's own, after everything it has to wait
 * for.
 */
#ifndef GPUSIM_QUEUE_H
#define GPUSIM_QUEUE_H

#include "driver/work.h"

/* A piece of work in a queue; counted references, guarded by the lock. */
struct gpusim_task {
    struct gpusim_task *next;
    unsigned references;
    bool done;
    bool blocks;                  /* others, queued behind it in another stream */
    double submitted_ms, done_ms; /* when, by model/clock.h */
    CUcontext context;
    struct gpusim_work work;
    struct gpusim_task **after; /* tasks that must be done before this one starts */
    size_t after_count;
};

struct gpusim_capture;

struct CUstream_st {
    enum gpusim_handle kind;
    struct CUstream_st *next;
    CUcontext context;
    unsigned flags;
    int priority;
    unsigned long long id;
    bool legacy;
    pthread_t thread_default_of; /* whose per-thread default stream this is */
    bool is_thread_default;
    struct gpusim_task *head, *tail; /* waiting or running */
    unsigned length;                 /* how many these are */
    double done_ms;                  /* when the last one ended */
    struct gpusim_task *last;        /* the latest one added, done or not */
    bool worker, closing;
    pthread_cond_t work;            /* signalled when there is some, or the stream is closed */
    struct gpusim_capture *capture; /* NULL: not captured */
    CUgraphNode *capture_tail;      /* the work that the next captured work depends on */
    size_t capture_tail_count;
};

struct CUevent_st {
    enum gpusim_handle kind;
    CUcontext context;
    unsigned flags;
    struct gpusim_task *task; /* behind which it was last recorded */
    struct gpusim_capture *capture;
    CUgraphNode *capture_nodes; /* or there, in a stream that was captured */
    size_t capture_node_count;
};

/* The stream that a handle means, per_thread saying which one NULL means. NULL: there is none. */
CUstream gpusim_stream(CUcontext context, CUstream handle, bool per_thread, CUresult *why);

/*
 * Queues the work behind everything that stream order asks for, and behind after if that is not
 * NULL; or adds it to the graph if the stream is being captured, and then *task is NULL. A task
 * handed out must be released. The lock is held.
 */
CUresult gpusim_submit(CUstream stream, const struct gpusim_work *work, struct gpusim_task *after,
                       struct gpusim_task **task);

/* The event was recorded behind its task; the lock is held. */
void gpusim_event_stands(CUevent event);

/* The host does nothing for so long. Locked. */
void gpusim_time_passes(double ms);

/* Waits until it is done; the lock is held, and given up meanwhile. */
void gpusim_task_wait(struct gpusim_task *task);
void gpusim_task_release(struct gpusim_task *task);

/* A launch into a stream that holds so much waits until something there has ended; the lock as
 * above. */
#define GPUSIM_MOST_QUEUED 1024
void gpusim_stream_wait_for_room(CUstream stream);

/* Everything queued so far in the stream or the context is done; the lock as above. */
void gpusim_stream_wait(CUstream stream);
void gpusim_context_wait(CUcontext context);
bool gpusim_stream_idle(CUstream stream);

CUstream gpusim_stream_new(CUcontext context, unsigned flags, int priority);

enum gpusim_wait {
    GPUSIM_RETURN_AT_ONCE,
    GPUSIM_WAIT_IF_QUEUED, /* an asynchronous call that cannot be one; in a graph it is again */
    GPUSIM_WAIT            /* a call that must not be made on a captured stream */
};

/* The way of most exported functions: enter, find the stream, submit, wait. */
CUresult gpusim_do(CUstream handle, bool per_thread, const struct gpusim_work *work,
                   enum gpusim_wait wait);

#endif
