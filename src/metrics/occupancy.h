/* Theoretical occupancy: how many warps of a kernel an SM can hold, and the limit that stops it
 * from holding more. */
#ifndef GPUPROF_METRICS_OCCUPANCY_H
#define GPUPROF_METRICS_OCCUPANCY_H

#include "profile/record.h"

#include <stdbool.h>

struct gp_occupancy {
    int blocks_per_sm;
    int warps_per_sm, max_warps_per_sm;
    double ratio;     /* warps_per_sm / max_warps_per_sm */
    char limiter[64]; /* "registers", "threads/warps and shared memory", ... */
    /* Blocks that an SM would hold by each alone; INT_MAX where it sets no limit. */
    int by_warps, by_registers, by_shared, by_blocks;
};

/* Returns true, or false with the reason in `why` (a fact is not known, or cuda_occupancy.h does
 * not know the device's compute capability). */
bool gp_occupancy_of(const struct gp_device *device, const struct gp_record *launch,
                     struct gp_occupancy *occupancy, char *why, size_t why_size);

#endif
