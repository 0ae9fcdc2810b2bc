/* The least time that a kernel took on the GPU, for each configuration it was launched with. A
 * launch that took much longer was held up, or has more work than its like: it is timed again,
 * until that was in vain a few times. Pure; part of a kernel. */
#ifndef GPUPROF_LAUNCH_TIMES_H
#define GPUPROF_LAUNCH_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* Configurations of one kernel that are known; launches with others are not timed again. */
#define GP_TIMED_SHAPES 64

struct gp_times {
    unsigned count;
    struct gp_least_time {
        uint64_t shape; /* gp_configuration_hash */
        double ms;
        unsigned in_vain; /* launches that were timed again and took as long */
    } of[GP_TIMED_SHAPES];
};

/* True where a launch that took so long is to be timed again. */
bool times_doubt(const struct gp_times *times, uint64_t shape, double ms);
/* The least time of a configuration, in milliseconds; 0 where none is known. */
double times_least(const struct gp_times *times, uint64_t shape);

/* A launch took `first` milliseconds, and `ms` at the last: less where it was timed again. */
void times_count(struct gp_times *times, uint64_t shape, double first, double ms);

#endif
