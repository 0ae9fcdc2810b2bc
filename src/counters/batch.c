#include "counters/batch.h"

#include "counters/measured_rows.h"

#include <string.h>

/* Milliseconds to start the hardware's counters, to stop and to read them; and for one range. */
#define SESSION_MS 45.0
#define RANGE_MS 1.1

static bool are_alike(const struct gp_batch_launch *a, const struct gp_batch_launch *b)
{
    return memcmp(&a->fingerprint, &b->fingerprint, sizeof(a->fingerprint)) == 0;
}

/* Launches before this one in the batch, like it, that are counted one by one. */
static unsigned alone_before(const struct gp_batch_launch *launches, unsigned at)
{
    unsigned alone = 0;
    for (unsigned i = 0; i < at; i++)
        alone += launches[i].counted && launches[i].identified && launches[i].share == GP_ALONE &&
                 are_alike(&launches[i], &launches[at]);
    return alone;
}

/* Rows of earlier batches can be taken at once; the sum of others is judged when they are there. */
static enum gp_share share_of(const struct gp_batch_launch *launches, unsigned at, bool may_share)
{
    const struct gp_batch_launch *l = &launches[at];
    if (!l->identified || l->alone || l->measured + alone_before(launches, at) < GP_LEAST_MEASURED)
        return GP_ALONE;
    if (l->measured && l->tells_all && !l->assumed)
        return GP_NOT_AT_ALL;
    return may_share && l->layout ? GP_TOGETHER : GP_ALONE;
}

void gp_batch_decide(struct gp_batch_launch *launches, unsigned count, bool may_share)
{
    struct gp_batch_launch *last = NULL;
    unsigned together = 0;
    for (unsigned i = 0; i < count; i++) {
        struct gp_batch_launch *l = &launches[i];
        l->share = l->counted ? share_of(launches, i, may_share) : GP_ALONE;
        l->bundle = 0;
        if (!l->counted || l->share != GP_TOGETHER)
            continue;
        l->bundle = 1 + together++ / GP_MOST_TOGETHER;
        last = l;
    }
    /* A range for one launch is as good for it alone. */
    if (together % GP_MOST_TOGETHER == 1) {
        last->share = GP_ALONE;
        last->bundle = 0;
    }
}

bool gp_batch_is_to_be_identified(const struct gp_batch_launch *launches, unsigned count)
{
    double tell = 0, bundles = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct gp_batch_launch *l = &launches[i];
        if (!l->counted || l->share == GP_NOT_AT_ALL)
            continue;
        if (!l->assumed || !l->tells_all || l->alone || l->measured < GP_LEAST_MEASURED)
            return false;
        tell += l->fingerprint_ms;
        bundles += 1.0 / GP_MOST_TOGETHER;
    }
    return tell > 0 && tell < SESSION_MS + RANGE_MS * bundles;
}
