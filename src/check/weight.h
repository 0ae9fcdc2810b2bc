/* The weight of a launch in a mean over launches. */
#ifndef GPUPROF_CHECK_WEIGHT_H
#define GPUPROF_CHECK_WEIGHT_H

#include "metrics/metrics.h"

/* Of the metric's value in that launch, which has one: 0 or more. Only its share in the sum of all
 * weights counts. */
double gp_weight_of(const struct gp_metric *metric, const struct gp_device *device,
                    const struct gp_record *launch);

#endif
