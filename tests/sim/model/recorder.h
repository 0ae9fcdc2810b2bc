/* Watches a grid run. Each lane writes down its instructions; lanes of a warp are then read side
 * by side, as the lockstep machine would have run them, and the cost of that is counted on the
 * SM that the block was given to. */
#ifndef GPUSIM_RECORDER_H
#define GPUSIM_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cache.h"
#include "model/chip.h"
#include "model/counters.h"
#include "model/kernel.h"

/* One instruction of one lane. */
struct gpusim_event {
    const struct gpusim_site *site;
    uint64_t iteration;
    uint64_t address;
    uint32_t count;
    uint16_t size;
    bool on;
    bool taken;
};

struct gpusim_lane {
    struct gpusim_event *events;
    uint32_t count, capacity;
    bool lost; /* out of memory: the rest is not recorded, and the result is refused */
};

/* Room for more. */
bool gpusim_lane_grow(struct gpusim_lane *lane);
/* Inline: it is called for each instruction of each lane. */
static inline void gpusim_lane_add(struct gpusim_lane *lane, const struct gpusim_event *event)
{
    if (lane->count < lane->capacity || gpusim_lane_grow(lane))
        lane->events[lane->count++] = *event;
}

struct gpusim_recorder;

/* For one launch of grid on chip; the L2 cache outlives the launch. NULL when memory is out. */
struct gpusim_recorder *gpusim_recorder_new(const struct gpusim_chip *chip,
                                            const struct gpusim_grid *grid,
                                            struct gpusim_cache *l2);
void gpusim_recorder_free(struct gpusim_recorder *r);

void gpusim_recorder_block_begin(struct gpusim_recorder *r, unsigned threads);
struct gpusim_lane *gpusim_recorder_lane(struct gpusim_recorder *r, unsigned thread);
/* Reads and forgets the instructions that the lanes of this warp have written down since the last
 * time. */
void gpusim_recorder_warp(struct gpusim_recorder *r, unsigned warp);
void gpusim_recorder_block_end(struct gpusim_recorder *r);

/* The launch's counts; NULL where it was out of memory. */
struct gpusim_result *gpusim_recorder_result(struct gpusim_recorder *r);

#endif
