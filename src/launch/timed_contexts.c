#include "base/clock.h"
#include "base/log.h"
#include "counters/collector.h"
#include "cuda/green.h"
#include "gate/captures.h"
#include "launch/inside.h"
#include "launch/timed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds until counters are asked for again that could not be had, doubled each time. */
#define FIRST_RETRY 10.0
#define LAST_RETRY 300.0

/* Nanoseconds: the host's time for a launch, before it is known. */
#define USUAL_NS 4000.0

/* Seconds that a thread which ends the process waits for another one that is at work here. */
#define MOST_LOCKED 1

#define IN_GREEN GP_REASON(GREEN_CONTEXT)
#define BY_LIMIT                                                                               \
    GP_REASON_TEXT(ADDED_LIMIT, "only timed, as measuring it would have added more time than " \
                                "the limit (GPUPROF_OVERHEAD)")

/* The next launch in the context may be measured. */
static bool is_for_this_launch(struct gp_reason why)
{
    return why.cause == GP_CAUSE_PROGRAMS_TOOL || why.cause == GP_CAUSE_ADDED_LIMIT;
}

static struct {
    bool all; /* no counter is wanted anywhere */
    struct gp_timed_context *_Atomic contexts;
    pthread_mutex_t making; /* of contexts */
} timed = {.making = PTHREAD_MUTEX_INITIALIZER};

bool timed_counters_are_wanted(void)
{
    int devices = 0;
    bool wanted = gp_cuda.cuDeviceGetCount(&devices) != CUDA_SUCCESS;
    for (int i = 0; i < devices && !wanted; i++) {
        struct gp_device device = {0};
        const char **names;
        size_t count;
        device_describe(i, &device);
        wanted = !gp_metrics_counters(results_metrics(), &device, &names, &count);
        for (size_t n = 0; !wanted && n < count; n++)
            wanted = strcmp(names[n], GP_DURATION_COUNTER) != 0;
        free(names);
    }
    timed.all = !wanted && devices > 0;
    return !timed.all;
}

struct gp_timed_context *timed_contexts(void)
{
    return atomic_load(&timed.contexts);
}

bool timed_any(void)
{
    return atomic_load_explicit(&timed.contexts, memory_order_relaxed) != NULL;
}

static struct gp_timed_context *find(CUcontext handle, bool green)
{
    struct gp_timed_context *c = atomic_load(&timed.contexts);
    while (c && (atomic_load(&c->handle) != handle || c->green != green))
        c = atomic_load(&c->next);
    return c;
}

/* Gives the reason to the counters that are not there. */
static void give_reason(struct gp_timed_context *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->counters[i].absent = i == c->time ? GP_NO_REASON : c->why;
}

static void set_reason(struct gp_timed_context *c, struct gp_reason why)
{
    pthread_mutex_lock(&c->lock);
    if (c->why.cause != why.cause || c->why.text != why.text) {
        c->why = why;
        give_reason(c);
    }
    pthread_mutex_unlock(&c->lock);
}

/* The counters of its records: those that are asked for, and the time in any case. */
static bool list_counters(struct gp_timed_context *c)
{
    const struct gp_metrics *metrics = results_metrics();
    const char **names = NULL;
    size_t count = 0, time = 0;
    if (!gp_metrics_counters(metrics, &c->device, &names, &count))
        return false;
    while (time < count && strcmp(names[time], GP_DURATION_COUNTER) != 0)
        time++;
    struct gp_counter *counters = calloc(count + 1, sizeof(*counters));
    for (size_t i = 0; counters && i < count; i++)
        counters[i] = (struct gp_counter){.name = names[i], .value = NAN};
    if (counters && time == count) {
        const char *name = gp_metrics_counter_name(metrics, GP_DURATION_COUNTER);
        counters[count++].name = name ? name : GP_DURATION_COUNTER;
    }
    free(names);
    free(c->counters);
    c->counters = counters;
    c->count = count;
    c->time = time;
    if (counters)
        give_reason(c);
    return counters != NULL;
}

/* One that is nobody's, or a new one. NULL when out of memory. */
static struct gp_timed_context *unused_or_new(void)
{
    struct gp_timed_context *c = find(NULL, false);
    if (!c)
        c = find(NULL, true);
    if (c)
        return c;
    c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    pthread_mutex_init(&c->lock, NULL);
    atomic_store(&c->next, atomic_load(&timed.contexts));
    atomic_store(&timed.contexts, c);
    return c;
}

/* The device's facts are asked for where they are not handed in. */
static struct gp_timed_context *make(CUcontext handle, bool green, const struct gp_device *device,
                                     struct gp_reason why)
{
    CUdevice ordinal;
    pthread_mutex_lock(&timed.making);
    struct gp_timed_context *c = find(handle, green);
    if (!c && (device || gp_cuda.cuCtxGetDevice(&ordinal) == CUDA_SUCCESS) &&
        (c = unused_or_new())) {
        pthread_mutex_lock(&c->lock);
        c->green = green;
        c->why = why;
        c->device = device ? *device : (struct gp_device){0};
        if (!device)
            device_describe(ordinal, &c->device);
        c->device.event_counters = 0; /* the time is not one of theirs */
        c->usual_ns = USUAL_NS;
        memset(c->ended, 0, sizeof(c->ended));
        bool listed = list_counters(c);
        if (listed)
            results_device(&c->device);
        pthread_mutex_unlock(&c->lock);
        atomic_store(&c->ask_at, 0);
        atomic_store(&c->is_only_timed, !is_for_this_launch(why));
        if (listed)
            atomic_store(&c->handle, handle);
        else
            c = NULL;
    }
    pthread_mutex_unlock(&timed.making);
    return c;
}

void timed_only_in(CUcontext handle, const struct gp_device *device, struct gp_reason why,
                   bool for_now)
{
    struct gp_timed_context *c = make(handle, false, device, why);
    say_without_hardware(false, why);
    if (!c)
        return;
    set_reason(c, why);
    if (!for_now) {
        atomic_store(&c->ask_at, 0);
    } else {
        c->ask_after = c->ask_after > 0 ? fmin(2 * c->ask_after, LAST_RETRY) : FIRST_RETRY;
        atomic_store(&c->ask_at, gp_clock_ns() + (unsigned long long)(1e9 * c->ask_after));
    }
    atomic_store(&c->is_only_timed, true);
}

void timed_only_until(CUcontext handle, const struct gp_device *device, struct gp_reason why,
                      double until)
{
    struct gp_timed_context *c = make(handle, false, device, why);
    if (!c)
        return;
    set_reason(c, why);
    atomic_store(&c->ask_at, (unsigned long long)(1e9 * until));
    atomic_store(&c->is_only_timed, true);
}

bool gp_is_only_timed(CUstream stream)
{
    CUcontext current;
    if (timed.all || tool_at_work() || (gp_green_context_was_made() && gp_stream_is_green(stream)))
        return true;
    if (!timed_any() || gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return false;
    struct gp_timed_context *c = find(current, false);
    if (!c || !atomic_load(&c->is_only_timed))
        return false;
    unsigned long long ask_at = atomic_load(&c->ask_at);
    if (ask_at == 0 || gp_clock_ns() < ask_at)
        return true;
    atomic_store(&c->is_only_timed, false);
    return false;
}

struct gp_timed_context *timed_context_of(CUstream stream, enum gp_passed_over *why)
{
    static struct gp_say_limit once;
    CUcontext current = NULL;
    bool green = gp_green_context_was_made() && gp_stream_is_green(stream);
    *why = GP_FAILED;
    if (gp_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return NULL;
    *why = GP_OTHER_CONTEXT;
    if (!green && !stream_is_in_context(stream, current))
        return NULL;
    if (green && !timed.all)
        gp_say_limited(&once, 1,
                       "launches in green contexts are only timed: CUPTI counts nothing there");
    *why = GP_FAILED;
    struct gp_reason reason = timed.all        ? GP_NO_REASON
                              : green          ? IN_GREEN
                              : tool_at_work() ? GP_REASON(PROGRAMS_TOOL)
                                               : BY_LIMIT;
    struct gp_timed_context *c = find(current, green);
    if (!c)
        return make(current, green, NULL, reason);
    /* Counters may have been absent there for another reason, which has passed. */
    if (is_for_this_launch(reason) && !atomic_load(&c->is_only_timed))
        set_reason(c, reason);
    return c;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void leave(struct gp_timed_context *c, CUcontext handle)
{
    pthread_mutex_lock(&c->lock);
    bool alive = gp_cuda.cuCtxPushCurrent_v2(handle) == CUDA_SUCCESS;
    timed_record_all(c);
    timed_facts_forget(c);
    bool held_off = gp_captures_hold_off(), at_rest = alive && held_off;
    if (at_rest)
        gp_pause_unload(&c->pause);
    if (at_rest && c->mark)
        gp_cuda.cuEventDestroy_v2(c->mark);
    under_way_free(&c->under_way, at_rest);
    if (held_off)
        gp_captures_let_begin();
    c->pause = (struct gp_pause){0};
    c->pause_tried = c->marked = false;
    c->mark = NULL;
    c->empty_ms = 0;
    c->pauses = 0;
    c->ask_after = 0;
    c->life++;
    atomic_store(&c->handle, NULL);
    if (alive)
        gp_context_pop();
    pthread_mutex_unlock(&c->lock);
}

void gp_timed_leave(CUcontext handle)
{
    struct gp_timed_context *c;
    while (handle && ((c = find(handle, false)) || (c = find(handle, true))))
        leave(c, handle);
}

void timed_end(void)
{
    for (struct gp_timed_context *c = atomic_load(&timed.contexts); c; c = atomic_load(&c->next)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += MOST_LOCKED;
        if (pthread_mutex_timedlock(&c->lock, &until) != 0)
            continue;
        const bool pushed = timed_push(c);
        if (atomic_load(&c->handle))
            timed_record_all(c);
        if (pushed)
            gp_context_pop();
        pthread_mutex_unlock(&c->lock);
    }
}
