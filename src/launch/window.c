#include "launch/window.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/window_rule.h"
#include "gate/captures.h"
#include "gate/gate.h"
#include "gate/internal_work.h"
#include "gate/waits.h"
#include "launch/contexts.h"
#include "launch/inside.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

/* Moments and times are nanoseconds of gp_clock_ns; 0: none. */
static struct {
    /* As the user has it; written before the first launch. */
    struct gp_window_rule rule;
    bool limited, by_clock, numbered;
    uint64_t started, delayed_until, warm_up, duration;

    atomic_bool called; /* the last of the program's calls opened it, or there was none yet */
    atomic_bool over;   /* it has lasted its time */
    atomic_bool open;   /* as the last launch has found it */
    atomic_bool used;   /* a launch lay in it */
    _Atomic uint64_t called_at, warms_since, lasts_until;
    _Atomic uint64_t warmed; /* launches of the warm-up */

    pthread_mutex_t lock; /* of those below */
    uint64_t since, closed_at;
    double added_before;   /* when it opened */
    double seconds, added; /* while it was open before */
} window = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Every launch of every thread writes these: on a cache line of their own. */
static struct {
    _Atomic uint64_t made, outside;
} counts __attribute__((aligned(64)));

/* ---- the rule -------------------------------------------------------------------------------- */

static uint64_t in_ns(double seconds)
{
    return (uint64_t)llrint(seconds * 1e9);
}

void window_start(const struct gp_window_rule *rule)
{
    const uint64_t now = gp_clock_ns(), age = in_ns(gp_process_seconds());
    counts.made = counts.outside = 0;
    window.over = window.open = window.used = false;
    window.called_at = window.warms_since = window.lasts_until = window.warmed = 0;
    window.since = window.closed_at = 0;
    window.seconds = window.added = 0;
    window.rule = *rule;
    window.limited = gp_window_limits(rule);
    window.by_clock = rule->delay > 0 || rule->duration > 0 || rule->warm_up > 0;
    window.numbered = rule->first > 0 || rule->behind != UINT64_MAX;
    window.started = now - age;
    window.delayed_until = rule->delay > 0 ? window.started + in_ns(rule->delay) : 0;
    window.warm_up = in_ns(rule->warm_up);
    window.duration = in_ns(rule->duration);
    atomic_store(&window.called, rule->from_start);
}

bool gp_window_is_limited(void)
{
    return window.limited;
}

/* ---- whether it is open ---------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The moment at which it opened, now that it is found open. */
static uint64_t opening(uint64_t now)
{
    if (window.rule.first > 0 || window.rule.warm_up_launches > 0 || window.warm_up > 0)
        return now;
    return larger(window.started, larger(window.delayed_until, atomic_load(&window.called_at)));
}

/* The moment that is noted there, `now` where there was none. */
static uint64_t noted(_Atomic uint64_t *moment, uint64_t now)
{
    uint64_t before = 0;
    return atomic_compare_exchange_strong(moment, &before, now) ? now : before;
}

/* `launches`: those that are about to be made; the first ones begin the warm-up. */
static bool is_warm(uint64_t now, uint64_t launches)
{
    if (window.rule.warm_up_launches > 0) {
        if (atomic_load_explicit(&window.warmed, memory_order_relaxed) >=
            window.rule.warm_up_launches)
            return true;
        return launches > 0 &&
               atomic_fetch_add(&window.warmed, launches) >= window.rule.warm_up_launches;
    }
    if (window.warm_up == 0)
        return true;
    uint64_t since = atomic_load_explicit(&window.warms_since, memory_order_relaxed);
    if (since == 0 && launches > 0)
        since = noted(&window.warms_since, now);
    return since > 0 && now >= since + window.warm_up; /* another thread may have noted it since */
}

static bool lasts(uint64_t now)
{
    if (window.duration == 0)
        return true;
    uint64_t until = atomic_load_explicit(&window.lasts_until, memory_order_relaxed);
    if (until == 0)
        until = noted(&window.lasts_until, opening(now) + window.duration);
    if (now >= until)
        atomic_store(&window.over, true);
    return now < until;
}

/* Whether so many launches lie in it, the first of which has that number. */
static bool holds(uint64_t number, uint64_t launches)
{
    if (number < window.rule.first || number >= window.rule.behind ||
        atomic_load_explicit(&window.over, memory_order_relaxed) ||
        !atomic_load_explicit(&window.called, memory_order_acquire))
        return false;
    const uint64_t now = window.by_clock ? gp_clock_ns() : 0;
    return now >= window.delayed_until && is_warm(now, launches) && lasts(now);
}

/* ---- its opening and closing ----------------------------------------------------------------- */

/* Locked. */
static double seconds_until(uint64_t now)
{
    const uint64_t end = atomic_load(&window.lasts_until);
    const uint64_t until = end > 0 && end < now ? end : now;
    return until > window.since ? 1e-9 * (double)(until - window.since) : 0;
}

static void drain(void *unused)
{
    (void)unused;
    if (!gp_gate_lock_in_time())
        return;
    if (gp_captures() == 0)
        contexts_drain_at_rest();
    gp_gate_unlock();
}

/* Notes that it was found open, or closed. */
static void turn(bool open)
{
    const uint64_t now = gp_clock_ns();
    const double added = gp_added_seconds();
    pthread_mutex_lock(&window.lock);
    /* Another thread may have closed it meanwhile, to which no later launch might testify. */
    const bool closed = window.rule.by_calls && !atomic_load(&window.called);
    const bool changed = atomic_load(&window.open) != open && !(open && closed);
    if (changed && open) {
        window.since = larger(opening(now), window.closed_at);
        window.added_before = added;
    } else if (changed) {
        window.seconds += seconds_until(now);
        window.added += fmax(0, added - window.added_before);
        window.closed_at = now;
    }
    if (changed)
        atomic_store(&window.open, open);
    pthread_mutex_unlock(&window.lock);
    /* Else the copies of held launches would stay until the program ends, as no launch comes that
     * fills their batch. */
    if (changed && !open && gp_any_held() && session_is_here())
        gp_run_internal_work(drain, NULL);
}

/* The number of the first of so many launches, as far as it matters. */
static uint64_t take_number(uint64_t launches)
{
    if (!window.numbered)
        return 0;
    if (atomic_load_explicit(&counts.made, memory_order_relaxed) >= window.rule.behind)
        return window.rule.behind;
    return atomic_fetch_add(&counts.made, launches);
}

static bool take(uint64_t launches)
{
    const uint64_t number = take_number(launches);
    const bool in = holds(number, launches);
    if (in != atomic_load_explicit(&window.open, memory_order_relaxed))
        turn(in);
    if (!in)
        atomic_fetch_add_explicit(&counts.outside, launches, memory_order_relaxed);
    else if (!atomic_load_explicit(&window.used, memory_order_relaxed))
        atomic_store(&window.used, true);
    return in;
}

bool window_is_open(void)
{
    return !window.limited || holds(atomic_load_explicit(&counts.made, memory_order_relaxed), 0);
}

static bool is_captured(CUstream stream, bool per_thread_stream)
{
    if (gp_captures() == 0)
        return false;
    gp_internal_work_begins();
    const bool captured = gp_stream_is_capturing(stream, per_thread_stream, false);
    gp_internal_work_ends();
    return captured;
}

bool gp_window_takes_graph(CUstream stream, bool per_thread_stream, uint64_t kernels)
{
    if (!window.limited || is_captured(stream, per_thread_stream))
        return true;
    return kernels > 0 ? take(kernels) : window_is_open();
}

bool window_takes(const struct gp_launch *call)
{
    return !window.limited || gp_window_takes_graph(call->stream, call->per_thread_stream, 1);
}

void gp_window_opens(void)
{
    if (!window.rule.by_calls)
        return;
    if (!atomic_load(&window.called))
        atomic_store(&window.called_at, gp_clock_ns());
    atomic_store(&window.called, true);
    if (!atomic_load(&window.open) && window_is_open())
        turn(true);
}

void gp_window_closes(void)
{
    if (window.rule.by_calls && atomic_exchange(&window.called, false) && atomic_load(&window.open))
        turn(false);
}

/* ---- the end --------------------------------------------------------------------------------- */

uint64_t window_outside(void)
{
    return atomic_load(&counts.outside);
}

void window_sum_up(struct gp_end *end)
{
    if (!window.limited)
        return;
    pthread_mutex_lock(&window.lock);
    const bool open = atomic_load(&window.open);
    end->has_window = 1;
    end->outside_launches = window_outside();
    end->window_seconds = window.seconds + (open ? seconds_until(gp_clock_ns()) : 0);
    end->window_added_seconds =
        window.added + (open ? fmax(0, gp_added_seconds() - window.added_before) : 0);
    pthread_mutex_unlock(&window.lock);
}

void window_end(const char *text)
{
    if (!window.limited || atomic_load(&window.used) || window_outside() == 0)
        return;
    if (window.rule.by_calls && !window.rule.from_start && atomic_load(&window.called_at) == 0)
        gp_say("no launch was measured: the program did not call cudaProfilerStart, which opens "
               "the window (%s)",
               text);
    else
        gp_say("no launch was measured: all %" PRIu64 " lay outside the window (%s)",
               window_outside(), text);
}
