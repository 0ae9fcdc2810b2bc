/* The time that passes. Setting the clock of the system does not change it. */
#ifndef GPUPROF_BASE_CLOCK_H
#define GPUPROF_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds, or seconds, since some moment before this process. From any thread; leaves errno as
 * it was. */
uint64_t gp_clock_ns(void);
double gp_clock_seconds(void);

/* Nanoseconds that one reading of the clock takes at least, from one to the next; measured at the
 * first question. From any thread. */
uint64_t gp_clock_cost_ns(void);

/* The moment `seconds` from now, for waits that end by CLOCK_MONOTONIC. */
struct timespec gp_clock_after(double seconds);

/* A short wait of a thread that does not sleep in it, but asks again and again. On a busy host
 * other threads have the CPU in between, perhaps the one that the answer hangs on: that time does
 * not count, but for the share of it below, so that the wait has a bound. */
#define GP_SPIN_SHARE (1.0 / 20)
struct gp_spin {
    double began, ran; /* seconds, by the clock and on a CPU */
};
struct gp_spin gp_spin_begins(void);
/* True when it has lasted that long. By the thread that began it. */
bool gp_spin_is_over(const struct gp_spin *spin, double seconds);

#endif
