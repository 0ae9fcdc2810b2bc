/* The least time that a kernel took on the GPU, for each configuration it was launched with. A
 * launch that took much longer was held up, or has more work than its like: it is timed again,
 * until that was in vain a few times. Pure; part of a kernel. */
#include "launch/inside.h"

#include <math.h>
#include <stddef.h>

/* Times of launches with the same work differ by less. */
#define USUAL_PART 0.05
#define USUAL_MS 0.001
/* The work of the configuration's launches is known to vary then. */
#define MOST_IN_VAIN 4

static const struct gp_least_time *find(const struct gp_times *times, uint64_t shape)
{
    for (unsigned i = 0; i < times->count; i++)
        if (times->of[i].shape == shape)
            return &times->of[i];
    return NULL;
}

double times_least(const struct gp_times *times, uint64_t shape)
{
    const struct gp_least_time *least = find(times, shape);
    return least ? least->ms : 0;
}

static bool is_long(const struct gp_least_time *least, double ms)
{
    return ms > least->ms + fmax(USUAL_PART * least->ms, USUAL_MS);
}

bool times_doubt(const struct gp_times *times, uint64_t shape, double ms)
{
    const struct gp_least_time *least = find(times, shape);
    return least && least->in_vain < MOST_IN_VAIN && is_long(least, ms);
}

void times_count(struct gp_times *times, uint64_t shape, double first, double ms)
{
    const struct gp_least_time *known = find(times, shape);
    if (!known && times->count == GP_TIMED_SHAPES)
        return;
    struct gp_least_time *least = &times->of[known ? known - times->of : times->count];
    if (!known) {
        *least = (struct gp_least_time){.shape = shape, .ms = ms};
        times->count++;
    }
    least->in_vain += times_doubt(times, shape, first) && is_long(least, ms);
    least->ms = fmin(least->ms, ms);
}
