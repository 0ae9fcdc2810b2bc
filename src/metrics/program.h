/* The selected metrics of a device as one list of steps, so that a launch's values are computed
 * quickly: a part of several metrics is one step, and a part that depends on the device alone is
 * computed once. Owns the steps. One thread at a time. */
#ifndef GPUPROF_METRICS_PROGRAM_H
#define GPUPROF_METRICS_PROGRAM_H

#include "metrics/metrics.h"

struct gp_program;

/* For the metrics that are selected now, on that device; both have to outlive it. NULL when out
 * of memory. */
struct gp_program *gp_program_new(const struct gp_metrics *m, const struct gp_device *device);
void gp_program_free(struct gp_program *p);

/* The names of counters of launches so far have gone: others may come at their addresses. */
void gp_program_forget_names(struct gp_program *p);

/* Computes all selected metrics of one launch. `take` is called for each, in the selection's order;
 * absence is NULL where there is a value. The same values and reasons as gp_metric_evaluate; the
 * same weights as gp_metric_weight, NAN where there is none. */
void gp_program_run(struct gp_program *p, const struct gp_record *launch,
                    void (*take)(void *user, size_t i, double value, double weight,
                                 const struct gp_absence *absence),
                    void *user);

#endif
