#include "launch/timed.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "code/unpacked.h"
#include "gate/captures.h"
#include "launch/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Launches of a stream with events behind work that may hold it up. Each takes three entries of the
 * stream's queue, of some 1000, where the program's takes one: it may have to launch hundreds
 * before it ends that, and must not be held up by ours. */
#define MOST_BEHIND 12

/* The pause in front of a launch into an idle stream: nanoseconds, and times of the host's usual
 * time for the launch. */
#define LEAST_PAUSE 4000.0
#define MOST_PAUSE 30000.0
#define PAUSE_FACTOR 2
#define USUAL_WEIGHT 0.1
/* Some launches behind a pause have an event more, which shows how long an event takes: the first
 * ones, and then one of so many. */
#define FIRST_EMPTY 8
#define EVERY_EMPTY 64

#define NO_EVENT GP_REASON(NO_TIME)
#define CAPTURED GP_REASON(IN_CAPTURE)
#define MANY GP_REASON_TEXT(NO_TIME, "more launches were under way than are timed at once")
#define STANDS_STILL \
    GP_REASON_TEXT(  \
        NO_TIME,     \
        "the launch's stream may stand still, and has no room for events behind so many launches")
#define FEW_QUEUES                                                                            \
    GP_REASON_TEXT(NO_TIME,                                                                   \
                   "streams share queues of the hardware (CUDA_DEVICE_MAX_CONNECTIONS), and " \
                   "where work may wait for other work an event with a time would hold that up")

/* ---- whether a launch can be timed; locked --------------------------------------------------- */

static void mark(struct gp_timed_context *c)
{
    if (c->marked || c->green || !gp_cuda.cuCtxRecordEvent ||
        (!c->mark && !gp_event_make(&c->mark, CU_EVENT_DISABLE_TIMING)))
        return;
    for (int kind = 0; kind < GP_BLOCKING_KINDS; kind++)
        c->before_mark[kind] = gp_blocking_count((enum gp_blocking)kind);
    c->marked = gp_cuda.cuCtxRecordEvent(atomic_load(&c->handle), c->mark) == CUDA_SUCCESS;
}

/* No work of that kind is under way, as far as is known: all that there was stood in front of a
 * mark that has been reached. */
static bool is_without(struct gp_timed_context *c, enum gp_blocking kind)
{
    unsigned long now = gp_blocking_count(kind);
    if (c->ended[kind] == now)
        return true;
    if (c->marked && gp_cuda.cuEventQuery(c->mark) != CUDA_ERROR_NOT_READY) {
        c->marked = false;
        memcpy(c->ended, c->before_mark, sizeof(c->ended));
    }
    if (c->ended[kind] == now)
        return true;
    mark(c);
    return false;
}

/* *behind becomes true for a launch that may stand behind work that holds its stream up. */
static struct gp_reason why_not_timed(struct gp_timed_context *c, const struct gp_timed_stream *s,
                                      bool may_wait, bool *behind)
{
    *behind = false;
    if (user_settings.few_queues)
        return may_wait || !is_without(c, GP_MAY_WAIT) ? FEW_QUEUES : GP_NO_REASON;
    *behind = !is_without(c, GP_MAY_HOLD);
    return *behind && s->behind >= MOST_BEHIND ? STANDS_STILL : GP_NO_REASON;
}

/* In front of a launch into a stream that has nothing else to do, as far as is known: else the GPU
 * would wait for the host between the event and the launch. To load it may be to wait for the
 * context. */
static bool is_to_be_paused(struct gp_timed_context *c, const struct gp_timed_stream *s)
{
    if (s->first || user_settings.few_queues || c->green || tool_at_work())
        return false;
    if (!c->pause_tried && is_without(c, GP_MAY_WAIT)) {
        c->pause_tried = true;
        gp_pause_load(&c->pause);
    }
    return c->pause.function != NULL;
}

/* ---- one launch ------------------------------------------------------------------------------ */

/* Locked. Takes the record over. */
static void prepare(struct gp_timing *t, struct gp_timed_stream *s, bool behind)
{
    struct gp_timed_context *c = t->context;
    struct gp_timed_launch *l = timed_launch_take(&c->under_way);
    if (!l) {
        t->not_timed = MANY;
        return;
    }
    l->record = t->record;
    l->whole = t->whole;
    l->behind = behind;
    l->may_load = t->may_load;
    t->launch = l;
    if (!is_to_be_paused(c, s))
        return;
    t->pause_ns = (uint64_t)fmin(fmax(PAUSE_FACTOR * c->usual_ns, LEAST_PAUSE), MOST_PAUSE);
    l->has_before = c->pauses < FIRST_EMPTY || c->pauses % EVERY_EMPTY == 0;
    c->pauses++;
}

static void begin_beside_no_capture(struct gp_timing *t)
{
    struct gp_timed_context *c = t->context;
    struct gp_timed_stream *s = timed_stream_of(&c->under_way, t->call), *other;
    if (!s) {
        t->not_timed = GP_REASON(NO_MEMORY);
        return;
    }
    t->opened = true;
    t->met = timed_stream_opens(s);
    timed_read_stream(c, s);
    if ((other = timed_stream_next(&c->under_way)))
        timed_read_stream(c, other);
    bool behind;
    t->not_timed = why_not_timed(c, s, t->may_wait, &behind);
    if (!t->not_timed.cause)
        prepare(t, s, behind);
}

/* To ask an event would end a capture. */
static void begin(struct gp_timing *t)
{
    if (!gp_captures_hold_off()) {
        t->not_timed = CAPTURED;
        return;
    }
    begin_beside_no_capture(t);
    gp_captures_let_begin();
}

/* Fills in the launch's facts. Locked; false where the kernel's are not known. */
static bool describe(struct gp_timing *t)
{
    struct gp_timed_context *c = t->context;
    const struct gp_launch *call = t->call;
    struct gp_timed_facts *f = timed_facts_of(c, call->function, false);
    char *name = f ? strdup(f->kernel.name) : NULL;
    if (!name)
        return false;
    t->record = f->described;
    t->record.kernel = name;
    t->record.index = session_next_launch();
    t->record.device = c->device.ordinal;
    t->record.context = (uint64_t)(uintptr_t)atomic_load(&c->handle);
    t->record.stream = (uint64_t)(uintptr_t)call->stream;
    t->record.configuration = call->configuration;
    t->record.passes = 1;
    t->record.graph = call->of_graph;
    t->record.start_ms = rint(1e6 * t->began) / 1e3;
    t->record.skipped = c->why;
    t->may_load = f->may_load;
    f->may_load = false;
    t->may_wait = f->kernel.may_wait;
    t->may_hold = f->kernel.may_poll && is_one_warp(&call->configuration);
    return true;
}

/* Locks its context; NULL where there is none, and nothing is locked. */
static struct gp_timed_context *enter_context(struct gp_timing *t, const struct gp_launch *call,
                                              enum gp_passed_over *why)
{
    *t = (struct gp_timing){.call = call,
                            .began = gp_clock_seconds(),
                            .added_before = gp_added_seconds(),
                            .unpacked_before = gp_unpacked_seconds()};
    t->context = timed_context_of(call->stream, why);
    if (!t->context)
        return NULL;
    *why = gp_captures() > 0 ? GP_BESIDE_CAPTURE : GP_FAILED;
    pthread_mutex_lock(&t->context->lock);
    t->life = t->context->life;
    return t->context;
}

bool gp_timing_begins(struct gp_timing *t, const struct gp_launch *call, enum gp_passed_over *why)
{
    struct gp_timed_context *c = enter_context(t, call, why);
    bool described = c && describe(t);
    if (described)
        begin(t);
    if (c)
        pthread_mutex_unlock(&c->lock);
    return described;
}

bool gp_timing_prepare(const struct gp_launch *call, bool needs_code)
{
    struct gp_timing t;
    enum gp_passed_over why;
    struct gp_timed_context *c = enter_context(&t, call, &why);
    if (!c)
        return false;
    const struct gp_timed_facts *f = timed_facts_of(c, call->function, needs_code);
    const bool is_read = f && f->kernel.code_read;
    pthread_mutex_unlock(&c->lock);
    return is_read;
}

bool gp_timing_begins_whole(struct gp_timing *t, const struct gp_launch *call)
{
    enum gp_passed_over why;
    struct gp_timed_context *c = enter_context(t, call, &why);
    t->is_whole = t->may_wait = true; /* its kernels' code is not asked */
    if (c)
        begin(t);
    if (c)
        pthread_mutex_unlock(&c->lock);
    return c != NULL;
}

int gp_timing_device(const struct gp_timing *t)
{
    return t->context->device.ordinal;
}

void gp_timing_is_of(struct gp_timing *t, struct gp_whole_times *whole)
{
    t->whole = whole;
    if (t->launch)
        t->launch->whole = whole;
}

static bool record_event(const struct gp_timing *t, CUevent event)
{
    return gp_event_record(event, t->call->stream, t->call->per_thread_stream) == CUDA_SUCCESS;
}

/* CUDA_ERROR_UNKNOWN beside a capture, which a question would end. */
static CUresult query(CUevent event)
{
    if (!gp_captures_hold_off())
        return CUDA_ERROR_UNKNOWN;
    const CUresult result = gp_cuda.cuEventQuery(event);
    gp_captures_let_begin();
    return result;
}

static void note_blocking(const struct gp_timing *t)
{
    if (t->may_hold)
        gp_blocking_noted(GP_MAY_HOLD);
    else if (t->may_wait)
        gp_blocking_noted(GP_MAY_WAIT);
}

void gp_timing_starts(struct gp_timing *t)
{
    struct gp_timed_launch *l = t->launch;
    note_blocking(t);
    if (!l)
        return;
    if (t->pause_ns &&
        !gp_pause_on(&t->context->pause, t->call->stream, t->call->per_thread_stream, t->pause_ns))
        t->pause_ns = 0;
    gp_added_beside(1e-9 * (double)t->pause_ns);
    t->launching = gp_clock_seconds();
    l->has_before = l->has_before && t->pause_ns && record_event(t, l->before);
    t->started = record_event(t, l->start);
    /* The GPU may have waited for a host that was held up between the two. */
    l->has_before = l->has_before && query(l->before) == CUDA_ERROR_NOT_READY;
}

void gp_timing_stops(struct gp_timing *t, CUresult result)
{
    struct gp_timed_launch *l = t->launch;
    note_blocking(t);
    if (!l)
        return;
    l->host_ms = 1e3 * (gp_clock_seconds() - t->launching);
    if (!t->started || result != CUDA_SUCCESS) {
        t->not_timed = NO_EVENT;
        return;
    }
    /* Asked before the other event is recorded: the GPU goes on meanwhile. */
    l->late = query(l->start) == CUDA_SUCCESS;
    if (!record_event(t, l->end))
        t->not_timed = NO_EVENT;
}

/* Locked. A host that is held up by others is not the usual one. */
static void learn_pause(const struct gp_timing *t)
{
    struct gp_timed_context *c = t->context;
    if (!t->pause_ns)
        return;
    double ns = fmin(1e6 * t->launch->host_ms, MOST_PAUSE);
    c->usual_ns += USUAL_WEIGHT * (ns - c->usual_ns);
}

/* Locked. The launch has been made, and is not timed. */
static void record_untimed(struct gp_timing *t)
{
    struct gp_timed_context *c = t->context;
    if (t->is_whole) {
        if (t->whole)
            whole_times_add(t->whole, 0);
        return;
    }
    timed_record_untimed(c, t->launch ? &t->launch->record : &t->record, t->not_timed);
}

/* Locked. It stays until the launch ends. NULL where it was never there. */
static struct gp_timed_stream *stream_of(const struct gp_timing *t)
{
    return t->opened ? timed_stream_of(&t->context->under_way, t->call) : NULL;
}

/* Locked. Of a launch whose events are in no stream, or of no use. */
static void give_back(struct gp_timing *t)
{
    if (t->launch)
        timed_launch_give_back(&t->context->under_way, t->launch);
    else
        free((char *)t->record.kernel);
}

void gp_timing_ends(struct gp_timing *t, CUresult result)
{
    struct gp_timed_context *c = t->context;
    pthread_mutex_lock(&c->lock);
    struct gp_record *r = t->launch ? &t->launch->record : &t->record;
    r->overhead_ms = 1e3 * (gp_added_seconds() - t->added_before);
    const bool gone = t->life != c->life; /* its context, meanwhile */
    struct gp_timed_stream *s = gone ? NULL : stream_of(t);
    const bool shared = s && timed_stream_closes(s, t->met);
    if (gone && t->launch) {
        timed_launch_free(t->launch, false);
    } else if (result != CUDA_SUCCESS || (t->is_whole && !t->whole)) {
        give_back(t);
    } else if (t->not_timed.cause) {
        record_untimed(t);
        give_back(t);
    } else {
        t->launch->shared = shared;
        t->launch->unpacked = gp_unpacked_seconds() - t->unpacked_before;
        learn_pause(t);
        timed_launch_begun(c, s, t->launch);
    }
    pthread_mutex_unlock(&c->lock);
}

bool gp_timed_describe(const struct gp_launch *call, enum gp_passed_over *why)
{
    struct gp_timing t;
    struct gp_timed_context *c = enter_context(&t, call, why);
    bool described = c && describe(&t);
    t.not_timed = GP_WHOLE_GRAPH;
    if (described) {
        record_untimed(&t);
        give_back(&t);
    }
    if (c)
        pthread_mutex_unlock(&c->lock);
    return described;
}
