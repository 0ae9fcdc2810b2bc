#include "profile/launch_queue.h"

#include <stdlib.h>
#include <string.h>

struct gp_queued_launch {
    struct gp_record launch;
    uint64_t order; /* among those with one number */
    struct gp_counter counters[];
};

static bool is_before(const struct gp_queued_launch *a, const struct gp_queued_launch *b)
{
    return a->launch.index != b->launch.index ? a->launch.index < b->launch.index
                                              : a->order < b->order;
}

static void swap(struct gp_launch_queue *q, size_t a, size_t b)
{
    struct gp_queued_launch *kept = q->launches[a];
    q->launches[a] = q->launches[b];
    q->launches[b] = kept;
}

bool gp_launch_queue_is_full(const struct gp_launch_queue *q)
{
    return q->count == GP_QUEUE_MOST;
}

bool gp_launch_queue_add(struct gp_launch_queue *q, const struct gp_record *launch)
{
    size_t size = launch->counter_count * sizeof(struct gp_counter);
    if (!q->launches && !(q->launches = calloc(GP_QUEUE_MOST, sizeof(struct gp_queued_launch *))))
        return false;
    struct gp_queued_launch *queued = malloc(sizeof(*queued) + size);
    if (!queued)
        return false;
    queued->launch = *launch;
    queued->order = q->added++;
    if (size > 0)
        memcpy(queued->counters, launch->counters, size);
    queued->launch.counters = queued->counters;
    size_t at = q->count++;
    q->launches[at] = queued;
    for (; at > 0 && is_before(q->launches[at], q->launches[(at - 1) / 2]); at = (at - 1) / 2)
        swap(q, at, (at - 1) / 2);
    return true;
}

const struct gp_record *gp_launch_queue_first(const struct gp_launch_queue *q)
{
    return q->count > 0 ? &q->launches[0]->launch : NULL;
}

void gp_launch_queue_drop(struct gp_launch_queue *q)
{
    free(q->launches[0]);
    q->launches[0] = q->launches[--q->count];
    for (size_t at = 0, next; (next = 2 * at + 1) < q->count; at = next) {
        if (next + 1 < q->count && is_before(q->launches[next + 1], q->launches[next]))
            next++;
        if (!is_before(q->launches[next], q->launches[at]))
            break;
        swap(q, at, next);
    }
}

void gp_launch_queue_free(struct gp_launch_queue *q)
{
    while (q->count > 0)
        free(q->launches[--q->count]);
    free(q->launches);
    memset(q, 0, sizeof(*q));
}
