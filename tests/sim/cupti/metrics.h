/* Counters by CUPTI's names: which exist, in which pass they can be counted, and their values. */
#ifndef GPUSIM_CUPTI_METRICS_H
#define GPUSIM_CUPTI_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"
#include "model/counters.h"

enum gpusim_unit {
    GPUSIM_UNIT_GPU,
    GPUSIM_UNIT_SM,
    GPUSIM_UNIT_SMSP,
    GPUSIM_UNIT_L1TEX,
    GPUSIM_UNIT_LTS,
    GPUSIM_UNIT_DRAM,
    GPUSIM_UNITS
};

/* The parts of a name like smsp__inst_executed.avg.per_cycle_active. */
enum gpusim_rollup { GPUSIM_SUM, GPUSIM_AVG, GPUSIM_MIN, GPUSIM_MAX, GPUSIM_PCT, GPUSIM_RATIO_OF };
enum gpusim_rate {
    GPUSIM_PLAIN,
    GPUSIM_PER_SECOND,
    GPUSIM_PER_CYCLE_ACTIVE,
    GPUSIM_PER_CYCLE_ELAPSED,
    GPUSIM_PCT_OF_PEAK_ACTIVE,
    GPUSIM_PCT_OF_PEAK_ELAPSED,
    GPUSIM_PEAK
};

struct gpusim_metric {
    unsigned base; /* index of the counter that it is made of */
    enum gpusim_rollup rollup;
    enum gpusim_rate rate;
};

/* Understands the name; false when there is no such metric. */
bool gpusim_metric_parse(const char *name, struct gpusim_metric *metric);

enum gpusim_unit gpusim_metric_unit(unsigned base);
bool gpusim_metric_is_instrumented(unsigned base);

/* One counter of one range, as a counter data image keeps it. */
struct gpusim_sample {
    uint64_t present;
    double sum, avg, min, max;                     /* of a ratio: sum over, avg under */
    double active_cycles, elapsed_cycles, seconds; /* of the same pass, per instance */
    double peak, full;
};

struct gpusim_sample gpusim_metric_sample(unsigned base, const struct gpusim_result *r,
                                          const struct gpusim_chip *chip);
/* Another launch in the same range. */
void gpusim_sample_add(struct gpusim_sample *sum, const struct gpusim_sample *more);

/* NaN when the counter was not collected, or there is nothing to divide by. */
double gpusim_metric_value(const struct gpusim_metric *metric, const struct gpusim_sample *sample);

#endif
