/* Metrics made of one formula, as a threshold or a comparison asks for them, beside those of the
 * definition files; and the operands of a metric. The metrics belong to struct gp_metrics. */
#ifndef GPUPROF_METRICS_DEFINE_H
#define GPUPROF_METRICS_DEFINE_H

#include "metrics/metrics.h"

#include <stdbool.h>

/* The metric of that name, or a new one that is this formula (its name is the formula, it has no
 * unit). NULL with "column N: the mistake" in `why`. Before gp_metrics_select's threads begin. */
const struct gp_metric *gp_metrics_define(struct gp_metrics *m, const char *formula, char *why,
                                          size_t why_size);

/* Adds a metric to the selection, behind the others. False when out of memory. */
bool gp_metrics_select_also(struct gp_metrics *m, const struct gp_metric *metric);

/* Visits the names of the counters that a metric is computed from on that device. A name may come
 * up several times. */
void gp_metric_visit_counters(const struct gp_metric *metric, const struct gp_device *device,
                              void (*visit)(void *user, const char *counter), void *user);

/* Whether the metric can be computed for that device from records with some counters: `has` says
 * whether a counter is among them. */
bool gp_metric_can_be_given(const struct gp_metric *metric, const struct gp_device *device,
                            bool (*has)(void *user, const char *counter), void *user);

#endif
