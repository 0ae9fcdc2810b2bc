/* Shared by the programs of `make bench`: the time of a loop of launches, in a line of its own on
 * standard output; the other lines are results and the same on every run. */
#ifndef GPUPROF_TESTS_BENCH_H
#define GPUPROF_TESTS_BENCH_H

#include "check.h"
#include <time.h>

/* Status of a program whose case needs a larger GPU; the reason is its last line on stderr. */
#define BENCH_SKIPPED 77

static inline double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Before a limit changes gpuprof measures the launches that it holds. Changed here, though to the
 * same value, the time of a loop has all passes of its own launches, and none of earlier ones. */
static inline void settle(void)
{
    size_t bytes;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, bytes));
}

/* Begins a loop of launches; the time. */
static inline double start_loop(void)
{
    settle();
    return seconds_now();
}

/* Ends a loop of launches that began at `start`: waits for the GPU first. */
static inline void print_loop(double start, long launches)
{
    settle();
    printf("loop: %.9f s, %ld launches\n", seconds_now() - start, launches);
}

#endif
