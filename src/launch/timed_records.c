#include "base/added_time.h"
#include "base/clock.h"
#include "gate/captures.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/inside.h"
#include "launch/session.h"
#include "launch/timed.h"

#include <math.h>
#include <time.h>

/* A time is in doubt where the host's part of it may be more than that. */
#define SMALL_PART 0.02
#define SMALL_MS 0.0005

/* Early lines that may wait for their launches: readers keep so many. */
#define MOST_NOTED 1000

#define NOT_READ GP_REASON(NOT_READ)
#define NOT_ENDED \
    GP_REASON_TEXT(CONTEXT_GONE, "the launch had not ended when its context or its process did")
#define FAILED GP_REASON(LAUNCH_FAILED)
#define TOO_SHORT GP_REASON_TEXT(NO_TIME, "the launch is shorter than the GPU's clock can tell")

/* The launches of all contexts that are under way, and the ones among them with an early line. */
static atomic_uint under_way, noted;

/* Gives the record its time, or the reason why that is absent. */
static const struct gp_record *with_time(struct gp_timed_context *c, struct gp_record *record,
                                         double ns, struct gp_reason no_time)
{
    struct gp_counter *time = &c->counters[c->time];
    time->value = no_time.cause ? NAN : ns;
    time->absent = no_time;
    record->counters = c->counters;
    record->counter_count = c->count;
    return record;
}

static void note_early(struct gp_timed_context *c, struct gp_timed_launch *l)
{
    if (atomic_fetch_add(&noted, 1) < MOST_NOTED) {
        results_note(with_time(c, &l->record, 0, NOT_READ), 0, false);
        l->noted = true;
    } else {
        atomic_fetch_sub(&noted, 1);
    }
}

/* The least time of two events with nothing between them is part of each time. Another thread's
 * launch may stand between them. */
static double read_ms(struct gp_timed_context *c, const struct gp_timed_launch *l)
{
    float empty, all;
    if (l->has_before && !l->shared &&
        gp_cuda.cuEventElapsedTime(&empty, l->before, l->start) == CUDA_SUCCESS &&
        (c->empty_ms == 0 || empty < c->empty_ms))
        c->empty_ms = empty;
    if (gp_cuda.cuEventElapsedTime(&all, l->start, l->end) != CUDA_SUCCESS)
        return NAN;
    return (double)all - (double)c->empty_ms;
}

static void count_whole(struct gp_timed_context *c, struct gp_timed_launch *l, double ms)
{
    whole_times_add(l->whole, ms > 0 ? ms / 1e3 : 0);
    timed_launch_give_back(&c->under_way, l);
}

/* How much of the time may not be the kernel's. */
static double doubt(const struct gp_timed_launch *l, double ms)
{
    if (l->may_load || l->shared)
        return ms;
    return l->late && l->host_ms > fmax(SMALL_PART * ms, SMALL_MS) ? fmin(l->host_ms, ms) : 0;
}

/* It is in no stream any more. `no_time`: it has not ended. */
static void record(struct gp_timed_context *c, struct gp_timed_launch *l, struct gp_reason no_time)
{
    double ms = no_time.cause ? NAN : read_ms(c, l);
    atomic_fetch_sub(&under_way, 1);
    if (l->whole) {
        count_whole(c, l, ms);
        return;
    }
    if (!no_time.cause && isnan(ms))
        no_time = FAILED;
    else if (!no_time.cause && !(ms > 0))
        no_time = TOO_SHORT;
    l->record.doubt_ms = no_time.cause ? 0 : doubt(l, ms);
    if (no_time.cause && !l->record.skipped.cause)
        l->record.skipped = no_time;
    const struct gp_record *timed = with_time(c, &l->record, rint(1e6 * ms), no_time);
    const double began = gp_clock_seconds();
    results_launch(timed, l->noted);
    /* Its early line has taken as long; and to unpack code has a price of its own. */
    const double lines = (1 + l->noted) * (gp_clock_seconds() - began);
    within_limit_learn(timed, true, timed->overhead_ms / 1e3 - l->unpacked + lines, -1);
    atomic_fetch_sub(&noted, l->noted);
    timed_launch_give_back(&c->under_way, l);
}

void timed_read_stream(struct gp_timed_context *c, struct gp_timed_stream *stream)
{
    struct gp_timed_launch *l;
    bool failed;
    while ((l = timed_stream_ended(stream, &failed)))
        record(c, l, failed ? FAILED : GP_NO_REASON);
}

bool timed_push(struct gp_timed_context *c)
{
    CUcontext current = NULL, handle = atomic_load(&c->handle);
    return handle && gp_cuda.cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != handle &&
           gp_cuda.cuCtxPushCurrent_v2(handle) == CUDA_SUCCESS;
}

static void read_all(struct gp_timed_context *c)
{
    for (struct gp_timed_stream *s = c->under_way.streams; s; s = s->hh.next)
        timed_read_stream(c, s);
}

/* Records the launches that have ended by now. */
static void collect(void *unused)
{
    (void)unused;
    if (atomic_load_explicit(&under_way, memory_order_relaxed) == 0 || !gp_session_measures() ||
        !gp_captures_hold_off())
        return;
    for (struct gp_timed_context *c = timed_contexts(); c; c = atomic_load(&c->next)) {
        if (pthread_mutex_trylock(&c->lock) != 0)
            continue; /* a launch is at it */
        const bool pushed = timed_push(c);
        read_all(c);
        if (pushed)
            gp_context_pop();
        pthread_mutex_unlock(&c->lock);
    }
    gp_captures_let_begin();
}

void gp_timed_waited(void)
{
    if (atomic_load_explicit(&under_way, memory_order_relaxed) > 0)
        gp_run_internal_work(collect, NULL);
}

void timed_record_untimed(struct gp_timed_context *c, struct gp_record *record,
                          struct gp_reason no_time)
{
    if (!record->skipped.cause)
        record->skipped = no_time;
    results_launch(with_time(c, record, 0, no_time), false);
}

void timed_launch_begun(struct gp_timed_context *c, struct gp_timed_stream *s,
                        struct gp_timed_launch *l)
{
    timed_launch_enter(s, l);
    atomic_fetch_add(&under_way, 1);
    if (!l->whole)
        note_early(c, l);
}

static bool is_any_under_way(const struct gp_timed_context *c)
{
    const struct gp_timed_stream *s = c->under_way.streams;
    while (s && !s->first)
        s = s->hh.next;
    return s != NULL;
}

/* As long as they end, within the limit of waits, and nothing is captured. */
static void wait_for_all(struct gp_timed_context *c)
{
    const struct timespec nap = {.tv_nsec = 100000};
    const double began = gp_clock_seconds(), most = gp_wait_limit();
    double waited = 0;
    while (gp_captures_hold_off()) {
        read_all(c);
        gp_captures_let_begin();
        waited = gp_clock_seconds() - began;
        if (!is_any_under_way(c))
            break;
        if (waited > most) {
            gp_wait_was_in_vain(waited);
            break;
        }
        nanosleep(&nap, NULL);
    }
    gp_added_less(waited); /* the program would have waited for them, too */
}

void timed_record_all(struct gp_timed_context *c)
{
    struct gp_timed_launch *l;
    wait_for_all(c);
    while ((l = under_way_drop_first(&c->under_way)))
        record(c, l, NOT_ENDED);
}
