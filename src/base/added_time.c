#include "base/added_time.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How many threads are held up now, and since when at least one has been, in one word: the last
 * thread to go on must see the time that belongs to the first. 48 bits of nanoseconds are three
 * days, 16 bits 65535 threads; times are compared modulo the former. */
#define COUNT_BITS 16
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define TIME_MASK (UINT64_MAX >> COUNT_BITS)
static _Atomic uint64_t held;
static _Atomic uint64_t total_ns, less_ns, start_up_ns, beside_ns;

/* Initial-exec: the access allocates nothing, as a hook must not. */
static __thread int depth __attribute__((tls_model("initial-exec")));
static __thread bool paused __attribute__((tls_model("initial-exec")));

static uint64_t now(void)
{
    return gp_clock_ns() & TIME_MASK;
}

/* Another thread may have read the clock later and come first: then it is 0. */
static uint64_t between(uint64_t from, uint64_t to)
{
    uint64_t ns = (to - from) & TIME_MASK;
    return ns > TIME_MASK / 2 ? 0 : ns;
}

/* The clock is read behind the word: a time from before it may lie in another thread's, which has
 * come and gone since, and would count twice. */
static void enter(void)
{
    uint64_t before = atomic_load(&held), after;
    do
        after = (before & COUNT_MASK) == 0 ? now() << COUNT_BITS | 1 : before + 1;
    while (!atomic_compare_exchange_weak(&held, &before, after));
}

static void leave(void)
{
    uint64_t time = now(), before = atomic_fetch_sub(&held, 1);
    if ((before & COUNT_MASK) == 1)
        atomic_fetch_add(&total_ns, between(before >> COUNT_BITS, time));
}

void gp_added_begins(void)
{
    if (depth++ == 0)
        enter();
}

void gp_added_ends(void)
{
    if (--depth == 0)
        leave();
}

void gp_added_pauses(void)
{
    if (depth == 0)
        return;
    paused = true;
    leave();
}

void gp_added_resumes(void)
{
    if (depth == 0)
        return;
    enter();
    paused = false;
}

static void add(_Atomic uint64_t *ns, double seconds)
{
    if (seconds > 0)
        atomic_fetch_add(ns, (uint64_t)(1e9 * seconds));
}

void gp_added_less(double seconds)
{
    add(&less_ns, seconds);
}

void gp_added_start_up(double seconds)
{
    add(&start_up_ns, seconds);
}

void gp_added_beside(double seconds)
{
    add(&beside_ns, seconds);
}

void gp_added_beside_ns(uint64_t ns)
{
    atomic_fetch_add(&beside_ns, ns);
}

struct gp_added_parts gp_added_parts(void)
{
    return (struct gp_added_parts){.start_up = 1e-9 * (double)atomic_load(&start_up_ns),
                                   .awaited = 1e-9 * (double)atomic_load(&less_ns),
                                   .beside = 1e-9 * (double)atomic_load(&beside_ns)};
}

void gp_added_abandon(void)
{
    if (depth > 0 && !paused)
        leave();
    depth = 0;
    paused = false;
}

double gp_added_seconds(void)
{
    uint64_t state = atomic_load(&held), ns = atomic_load(&total_ns), less = atomic_load(&less_ns);
    if ((state & COUNT_MASK) > 0)
        ns += between(state >> COUNT_BITS, now());
    return ns > less ? 1e-9 * (double)(ns - less) : 0;
}
