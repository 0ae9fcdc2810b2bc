/* The timed launches of a context (launch/timed.h) that are under way, stream by stream in their
 * order, each with the events around it. Owns the events, which are used again and again, and are
 * bounded. One thread at a time; no capture may be open where events are made or asked. */
#include "launch/inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Streams that are remembered; beyond so many those without a launch under way are forgotten. */
#define MOST_STREAMS 256

static void forget_idle(struct gp_under_way *u)
{
    struct gp_timed_stream *s, *next;
    u->next_asked = NULL;
    HASH_ITER(hh, u->streams, s, next)
    {
        if (s->first || s->open > 0)
            continue;
        HASH_DEL(u->streams, s);
        free(s);
    }
}

struct gp_timed_stream *timed_stream_of(struct gp_under_way *u, const struct gp_launch *call)
{
    struct gp_timed_stream *s = NULL, wanted;
    memset(&wanted, 0, sizeof(wanted));
    wanted.key.stream = call->stream;
    if (!call->stream && call->per_thread_stream)
        wanted.key.stream = CU_STREAM_PER_THREAD;
    if (call->stream == CU_STREAM_LEGACY)
        wanted.key.stream = NULL;
    if (wanted.key.stream == CU_STREAM_PER_THREAD)
        wanted.key.thread = (uint64_t)pthread_self();
    HASH_FIND(hh, u->streams, &wanted.key, sizeof(wanted.key), s);
    if (s)
        return s;
    if (HASH_COUNT(u->streams) >= MOST_STREAMS)
        forget_idle(u);
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->key = wanted.key;
    HASH_ADD(hh, u->streams, key, sizeof(s->key), s);
    if (s->hh.tbl)
        return s;
    free(s);
    return NULL;
}

uint64_t timed_stream_opens(struct gp_timed_stream *s)
{
    const uint64_t before = s->met;
    s->met += s->open++ > 0;
    return before;
}

bool timed_stream_closes(struct gp_timed_stream *s, uint64_t met)
{
    s->open--;
    return s->met != met;
}

static void destroy_events(struct gp_timed_launch *l)
{
    CUevent *const events[] = {&l->before, &l->start, &l->end};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (*events[i])
            gp_cuda.cuEventDestroy_v2(*events[i]);
        *events[i] = NULL;
    }
}

void timed_launch_free(struct gp_timed_launch *l, bool context_alive)
{
    if (context_alive)
        destroy_events(l);
    free((char *)l->record.kernel);
    free(l);
}

static struct gp_timed_launch *make(struct gp_under_way *u)
{
    struct gp_timed_launch *l = u->made < GP_MOST_UNDER_WAY ? calloc(1, sizeof(*l)) : NULL;
    if (!l)
        return NULL;
    if (gp_event_make(&l->before, CU_EVENT_DEFAULT) && gp_event_make(&l->start, CU_EVENT_DEFAULT) &&
        gp_event_make(&l->end, CU_EVENT_DEFAULT)) {
        u->made++;
        return l;
    }
    timed_launch_free(l, true);
    return NULL;
}

struct gp_timed_launch *timed_launch_take(struct gp_under_way *u)
{
    struct gp_timed_launch *l = u->unused;
    if (!l)
        return make(u);
    LL_DELETE(u->unused, l);
    return l;
}

void timed_launch_give_back(struct gp_under_way *u, struct gp_timed_launch *l)
{
    free((char *)l->record.kernel);
    *l = (struct gp_timed_launch){.before = l->before, .start = l->start, .end = l->end};
    LL_PREPEND(u->unused, l);
}

struct gp_timed_stream *timed_stream_next(struct gp_under_way *u)
{
    struct gp_timed_stream *s = u->next_asked ? u->next_asked : u->streams;
    u->next_asked = s ? s->hh.next : NULL;
    return s;
}

void timed_launch_enter(struct gp_timed_stream *s, struct gp_timed_launch *l)
{
    l->next = NULL;
    if (s->last)
        s->last->next = l;
    else
        s->first = l;
    s->last = l;
    s->behind += l->behind;
}

static struct gp_timed_launch *take_first(struct gp_timed_stream *s)
{
    struct gp_timed_launch *l = s->first;
    s->first = l->next;
    if (!s->first)
        s->last = NULL;
    s->behind -= l->behind;
    l->next = NULL;
    return l;
}

struct gp_timed_launch *timed_stream_ended(struct gp_timed_stream *s, bool *failed)
{
    *failed = false;
    if (!s->first)
        return NULL;
    CUresult result = gp_cuda.cuEventQuery(s->first->end);
    if (result == CUDA_ERROR_NOT_READY)
        return NULL;
    *failed = result != CUDA_SUCCESS;
    return take_first(s);
}

struct gp_timed_launch *under_way_drop_first(struct gp_under_way *u)
{
    struct gp_timed_stream *s, *next;
    HASH_ITER(hh, u->streams, s, next)
    {
        if (s->first)
            return take_first(s);
    }
    return NULL;
}

void under_way_free(struct gp_under_way *u, bool context_alive)
{
    struct gp_timed_launch *l;
    struct gp_timed_stream *s, *next;
    while ((l = under_way_drop_first(u)))
        timed_launch_free(l, context_alive);
    while ((l = u->unused)) {
        LL_DELETE(u->unused, l);
        timed_launch_free(l, context_alive);
    }
    HASH_ITER(hh, u->streams, s, next)
    {
        HASH_DEL(u->streams, s);
        free(s);
    }
    *u = (struct gp_under_way){0};
}
