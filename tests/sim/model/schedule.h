/*
 * Which SM a block runs on and when: the next block goes to the SM that has room first. From that
 * come the cycles an SM was busy, and how many warps it held in them.
 */
#ifndef GPUSIM_SCHEDULE_H
#define GPUSIM_SCHEDULE_H

#include <stdint.h>

#include "model/chip.h"

struct gpusim_schedule {
    const struct gpusim_chip *chip;
    unsigned slots; /* blocks of this kernel that an SM holds */
    unsigned sm;    /* of the block that begins */
    uint64_t start; /* of that block */
    uint64_t slot_free[GPUSIM_MAX_SMS][64];
    unsigned first_free[GPUSIM_MAX_SMS]; /* the slot of an SM that has room first */
    uint64_t next_start[GPUSIM_MAX_SMS];
    uint64_t busy_until[GPUSIM_MAX_SMS];
    uint64_t end;
};

void gpusim_schedule_init(struct gpusim_schedule *s, const struct gpusim_chip *chip,
                          unsigned slots);

/* Chooses the SM (s->sm) for the next block. */
void gpusim_schedule_add_block(struct gpusim_schedule *s);

/* The block that was added last takes so many cycles; answers how many of them add to the busy time
 * of its SM. */
uint64_t gpusim_schedule_finish(struct gpusim_schedule *s, uint64_t cycles);

#endif
