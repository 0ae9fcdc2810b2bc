/* The weight of a launch in a mean over launches. */
#ifndef GPUPROF_CHECK_WEIGHT_H
#define GPUPROF_CHECK_WEIGHT_H

#include "metrics/metrics.h"

/* The weight that a report gives to the metric's value in that launch, which has one (see
 * metrics/weight.h); 0 where it is not known. */
double gp_weight_of(const struct gp_metrics *m, const struct gp_metric *metric,
                    const struct gp_device *device, const struct gp_record *launch);

#endif
