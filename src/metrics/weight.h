/* The weight of a launch in the mean of a metric over several launches.
 *
 * A mean is the sum of value times weight, over the sum of weights. An amount (bytes, instructions,
 * seconds) has the weight 1, so that the mean is that of a launch. A ratio of two amounts has its
 * denominator as weight, so that the mean is the sum of the numerators over the sum of the
 * denominators. Any other ratio has the duration as weight. A definition may name its weight itself
 * (`weight = ...`). */
#ifndef GPUPROF_METRICS_WEIGHT_H
#define GPUPROF_METRICS_WEIGHT_H

#include "metrics/formula.h"
#include "metrics/metrics.h"

enum gp_weighting {
    GP_BY_LAUNCHES, /* each launch counts alike */
    GP_BY_TIME,     /* the weight is the launch's duration */
    GP_BY_FORMULA,  /* the weight is the value of a formula */
};

/* The way in which a metric is weighted on that device, with the formula in *formula where there
 * is one, else NULL. The formula belongs to the metric. */
enum gp_weighting gp_metric_weighting(const struct gp_metric *metric,
                                      const struct gp_device *device,
                                      const struct gp_node **formula);

/* Appends the same for people: "launches", "time", or the formula. */
void gp_metric_weighting_text(const struct gp_metric *metric, const struct gp_device *device,
                              struct gp_text *out);

/* Computes the weight of the metric's value in one launch, which is above 0. False where it is not
 * known: the launch was not timed, or lacks a counter. */
bool gp_metric_weight(const struct gp_metrics *m, const struct gp_metric *metric,
                      const struct gp_device *device, const struct gp_record *launch,
                      double *weight);

#endif
