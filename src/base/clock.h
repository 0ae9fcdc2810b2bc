/* The time that passes. Setting the clock of the system does not change it. */
#ifndef GPUPROF_BASE_CLOCK_H
#define GPUPROF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds, or seconds, since some moment before this process. From any thread; leaves errno as
 * it was. */
uint64_t gp_clock_ns(void);
double gp_clock_seconds(void);

/* The moment `seconds` from now, for waits that end by CLOCK_MONOTONIC. */
struct timespec gp_clock_after(double seconds);

#endif
