/* How far the reach of a kernel can be relied upon: when to verify whether it wrote elsewhere. That
 * costs two readings of all memory the program has, so a kernel is watched closely at first and now
 * and then afterwards. */
#ifndef GPUPROF_LAUNCH_VERIFY_SCHEDULE_H
#define GPUPROF_LAUNCH_VERIFY_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

/* The first launches of a kernel are verified in any case. */
#define GP_VERIFY_FIRST 3

struct gp_verify_schedule {
    uint64_t launches; /* that were copied for, and have ended */
    uint64_t next;     /* the one to verify next, once the first are over; 0: not set */
    unsigned grid[3];  /* of the last */
    unsigned changes;  /* of the grid that were verified */
    bool broken;       /* it wrote outside its reach: all memory is copied from then on */
};

/* True when a launch with that grid, if it is the next, is to be verified: the first three of a
 * kernel, its 10th, 30th, 100th, 300th and so on, and the first few whose grid is not that of the
 * last. */
bool verify_is_due(const struct gp_verify_schedule *schedule, const unsigned grid[3]);
/* True when a launch with that grid is among the first three, or among the first few whose grid is
 * not that of the last: it may do something else than the launches before it. */
bool verify_is_needed(const struct gp_verify_schedule *schedule, const unsigned grid[3]);
/* A launch with that grid has ended, and was verified if it was to be. */
void verify_count(struct gp_verify_schedule *schedule, const unsigned grid[3]);

#endif
