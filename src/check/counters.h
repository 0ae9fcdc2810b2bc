/* Gives the counters of a launch the names that evaluation finds quickest. Owns copies of the
 * names. */
#ifndef GPUPROF_CHECK_COUNTERS_H
#define GPUPROF_CHECK_COUNTERS_H

#include "metrics/metrics.h"

#include <stdbool.h>

struct gp_renamed {
    char *given;
    const char *known; /* NULL: no metric uses it */
};

/* All zero to begin with. */
struct gp_renaming {
    struct gp_renamed *names; /* by index: launches of a profile have their counters in one order */
    struct gp_counter *counters;
    size_t capacity;
};

/* `renamed` becomes the launch with its counters renamed, those that no metric uses left out. It
 * lives until the next call. False when out of memory. */
bool gp_rename_counters(struct gp_renaming *r, const struct gp_metrics *m,
                        const struct gp_record *launch, struct gp_record *renamed);
void gp_renaming_free(struct gp_renaming *r);

#endif
