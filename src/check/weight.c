#include "check/weight.h"

double gp_weight_of(const struct gp_metric *metric, const struct gp_device *device,
                    const struct gp_record *launch)
{
    (void)metric;
    (void)device;
    (void)launch;
    return 1; /* launches count alike */
}
