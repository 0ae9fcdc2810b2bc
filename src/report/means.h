/* The mean of each counter over those launches of a group that have it. A launch that is not
 * replayed has a part of the counters only, and a metric that needs more than one part is computed
 * from these means. Owns them. */
#ifndef GPUPROF_REPORT_MEANS_H
#define GPUPROF_REPORT_MEANS_H

#include "metrics/metrics.h"

#include <stdbool.h>

/* True when others of its kind have counters that this launch does not have. */
bool gp_launch_is_in_part(const struct gp_record *launch);

/* The counters that the selected metrics need on one device. */
struct gp_wanted {
    const char **names;
    size_t count;
    struct gp_counter *means; /* scratch, as many */
};

/* All zero is a mean of nothing. */
struct gp_mean {
    double sum;
    uint64_t count;          /* launches that have the counter */
    struct gp_reason absent; /* why none has it; none while nothing but the turns is against it */
};

/* Returns true, or false when out of memory; free in both cases. */
bool gp_wanted_find(struct gp_wanted *wanted, const struct gp_metrics *m,
                    const struct gp_device *device);
void gp_wanted_free(struct gp_wanted *wanted);

/* Takes a launch in. There is one mean for each wanted counter. `keep` gives a copy of a reason
 * that lives as long as the means. */
void gp_means_add(struct gp_mean *means, const struct gp_wanted *wanted,
                  const struct gp_record *launch,
                  struct gp_reason (*keep)(void *user, struct gp_reason why), void *user);

/* A launch like `launch` that has the means as its counters. They are valid until the next call. */
struct gp_record gp_means_launch(const struct gp_mean *means, const struct gp_wanted *wanted,
                                 const struct gp_record *launch);

#endif
