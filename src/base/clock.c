#include "base/clock.h"

static struct timespec now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t); /* fails for an unknown clock or a bad address only */
    return t;
}

uint64_t gp_clock_ns(void)
{
    struct timespec t = now();
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

double gp_clock_seconds(void)
{
    struct timespec t = now();
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct timespec gp_clock_after(double seconds)
{
    struct timespec t = now();
    long ns = t.tv_nsec + (long)(1e9 * (seconds - (double)(time_t)seconds));
    t.tv_sec += (time_t)seconds + ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}
