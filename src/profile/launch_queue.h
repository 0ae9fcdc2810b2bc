/* Launches of one process put into the order of their numbers. A profile has them in the order in
 * which they were read from the GPU. Owns copies of those that wait; the strings are the reader's.
 */
#ifndef GPUPROF_PROFILE_LAUNCH_QUEUE_H
#define GPUPROF_PROFILE_LAUNCH_QUEUE_H

#include "profile/record.h"

#include <stdbool.h>

/* So many wait at most: a launch that comes later than these may come out of order. */
#define GP_QUEUE_MOST 4096

struct gp_queued_launch;

/* All zero to begin with: a heap, the launch with the least number first. */
struct gp_launch_queue {
    struct gp_queued_launch **launches;
    size_t count;
    uint64_t added;
};

/* False when out of memory. The queue must not be full. */
bool gp_launch_queue_add(struct gp_launch_queue *q, const struct gp_record *launch);
bool gp_launch_queue_is_full(const struct gp_launch_queue *q);

/* The launch with the least number, NULL where none waits; it lives until gp_launch_queue_drop. */
const struct gp_record *gp_launch_queue_first(const struct gp_launch_queue *q);
void gp_launch_queue_drop(struct gp_launch_queue *q);

void gp_launch_queue_free(struct gp_launch_queue *q);

#endif
