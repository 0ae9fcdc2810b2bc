/* Metrics whose counters CUPTI counts with no others: those of NVLink and PCIe. */
#ifndef GPUPROF_CLI_APART_H
#define GPUPROF_CLI_APART_H

#include "metrics/metrics.h"

#include <stdbool.h>

#define CLI_APART "NVLink's and PCIe's counters are counted with no others"

/* Whether the counter is one of those. */
bool cli_counter_is_apart(const char *counter);

/* Whether one of the metric's counters on that device is. */
bool cli_metric_is_apart(const struct gp_metric *metric, const struct gp_device *device);

/* Whether the metric needs counters that those of NVLink and PCIe bar. A kernel's time needs none:
 * events around the program's own run take it. */
bool cli_metric_bars_apart(const struct gp_metric *metric, const struct gp_device *device);

#endif
