/* The timed launches of a context (launch/timed.h) that are under way, stream by stream in their
 * order, each with the events around it. Owns the events, which are used again and again, and are
 * bounded. One thread at a time; no capture may be open where events are made or asked. */
#ifndef GPUPROF_LAUNCH_UNDER_WAY_H
#define GPUPROF_LAUNCH_UNDER_WAY_H

#include "base/hash.h"
#include "launch/launch.h"
#include "profile/record.h"

#include <stdint.h>

/* Launches of a context that are under way; more are not timed. */
#define GP_MOST_UNDER_WAY 8192u

struct gp_timed_launch {
    struct gp_record record; /* its kernel's name is its own; no counters yet */
    CUevent before, start, end;
    bool has_before; /* `before` stands directly in front of `start`: nothing is between them */
    bool behind;     /* it may stand behind work that may hold its stream up */
    bool shared;     /* another launch may stand between its events, from another thread */
    bool may_load;   /* the driver may have loaded its code between the events */
    bool late;       /* the GPU came to `start` before the host had launched the kernel */
    bool noted;      /* an early line has been written */
    struct gp_whole_times *whole; /* it is a graph, timed as a whole; NULL: a kernel */
    double host_ms;               /* that the host took for the launch */
    struct gp_timed_launch *next;
};

struct gp_under_way {
    struct gp_timed_stream *streams, *next_asked;
    struct gp_timed_launch *unused;
    unsigned made;
};

/* The launches of a stream; a default stream that is the thread's own is another one in each. */
struct gp_timed_stream {
    struct {
        CUstream stream;
        uint64_t thread;
    } key;
    struct gp_timed_launch *first, *last;
    unsigned behind; /* launches among them that may stand behind such work */
    unsigned open;   /* launches that threads are making now */
    uint64_t met;    /* so often one of them began beside another one */
    UT_hash_handle hh;
};

/* The stream of the launch; NULL when out of memory. Valid until the next call. */
struct gp_timed_stream *timed_stream_of(struct gp_under_way *u, const struct gp_launch *call);

/* Around the calls of one launch into the stream: the answer of the first goes to the second, which
 * is true where another launch was made in between. */
uint64_t timed_stream_opens(struct gp_timed_stream *stream);
bool timed_stream_closes(struct gp_timed_stream *stream, uint64_t met);

/* A launch with its events, in no stream yet; NULL where there are too many. The context is
 * current. */
struct gp_timed_launch *timed_launch_take(struct gp_under_way *u);
void timed_launch_give_back(struct gp_under_way *u, struct gp_timed_launch *launch);
/* It was launched into that stream. */
void timed_launch_enter(struct gp_timed_stream *stream, struct gp_timed_launch *launch);

/* One of the streams, another one each time; NULL where there is none. */
struct gp_timed_stream *timed_stream_next(struct gp_under_way *u);

/* The first launch of the stream where it has ended, or can never be asked: it is in no stream from
 * then on. NULL where there is none, or it has not. *failed becomes true where an error kept it
 * from being asked. */
struct gp_timed_launch *timed_stream_ended(struct gp_timed_stream *stream, bool *failed);
/* The first launch of any stream, ended or not; NULL: none is left. */
struct gp_timed_launch *under_way_drop_first(struct gp_under_way *u);

/* A launch that is in no stream any more, and all of them, go without their context, or with it:
 * then events are destroyed. */
void timed_launch_free(struct gp_timed_launch *launch, bool context_alive);
void under_way_free(struct gp_under_way *u, bool context_alive);

#endif
