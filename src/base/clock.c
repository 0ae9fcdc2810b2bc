#include "base/clock.h"

#include <stdatomic.h>

/* Readings of which the quickest tells the cost: others were interrupted. */
#define READINGS 32

static struct timespec read_clock(clockid_t clock)
{
    struct timespec t = {0};
    (void)clock_gettime(clock, &t); /* fails for an unknown clock or a bad address only */
    return t;
}

static struct timespec now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static double in_seconds(struct timespec t)
{
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t gp_clock_ns(void)
{
    struct timespec t = now();
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double gp_clock_seconds(void)
{
    return in_seconds(now());
}

uint64_t gp_clock_cost_ns(void)
{
    static atomic_uint_fast64_t known; /* and 1; 0: not yet */
    uint64_t least = UINT64_MAX;
    if (atomic_load_explicit(&known, memory_order_relaxed))
        return atomic_load_explicit(&known, memory_order_relaxed) - 1;
    for (uint64_t i = 0, last = gp_clock_ns(); i < READINGS; i++) {
        const uint64_t next = gp_clock_ns();
        least = next - last < least ? next - last : least;
        last = next;
    }
    atomic_store_explicit(&known, least + 1, memory_order_relaxed);
    return least;
}

static double seconds_on_cpu(void)
{
    return in_seconds(read_clock(CLOCK_THREAD_CPUTIME_ID));
}

struct timespec gp_clock_after(double seconds)
{
    struct timespec t = now();
    long ns = t.tv_nsec + (long)(1e9 * (seconds - (double)(time_t)seconds));
    t.tv_sec += (time_t)seconds + ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

struct gp_spin gp_spin_begins(void)
{
    return (struct gp_spin){.began = gp_clock_seconds(), .ran = seconds_on_cpu()};
}

bool gp_spin_is_over(const struct gp_spin *spin, double seconds)
{
    double passed = gp_clock_seconds() - spin->began;
    if (passed < seconds)
        return false;
    return GP_SPIN_SHARE * passed >= seconds || seconds_on_cpu() - spin->ran >= seconds;
}
