/* Binds the metrics that formulas name, and drops the definitions for which that cannot be done. */
#ifndef GPUPROF_METRICS_RESOLVE_H
#define GPUPROF_METRICS_RESOLVE_H

#include "metrics/metrics.h"

/* After it every metric that is left can be computed: none names one that is not there, or leads
 * back to itself, or is too deep. Each that is dropped adds one line to `problems`. */
void gp_metrics_resolve(struct gp_metrics *m, struct gp_text *problems);

#endif
