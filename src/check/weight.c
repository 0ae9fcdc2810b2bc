#include "check/weight.h"

#include "metrics/weight.h"

double gp_weight_of(const struct gp_metrics *m, const struct gp_metric *metric,
                    const struct gp_device *device, const struct gp_record *launch)
{
    double weight;
    return gp_metric_weight(m, metric, device, launch, &weight) ? weight : 0;
}
