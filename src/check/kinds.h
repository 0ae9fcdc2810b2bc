/* The kind of a metric, as a comparison sees it: how well it repeats, whether it depends on the
 * GPU, and which way is better. */
#ifndef GPUPROF_CHECK_KINDS_H
#define GPUPROF_CHECK_KINDS_H

#include "metrics/metrics.h"

#include <stdbool.h>

enum gp_better { GP_BETTER_LESS, GP_BETTER_MORE, GP_BETTER_NEITHER };

enum gp_kind {
    GP_KIND_COUNT,    /* of instructions and their work: the same from run to run */
    GP_KIND_HARDWARE, /* of caches, memory and warps: varies a little */
    GP_KIND_TIME,     /* times and rates */
};

struct gp_nature {
    enum gp_kind kind;
    bool any_counter;  /* it is computed from counters, not from facts alone */
    bool instrumented; /* all its counters are of instrumented code: no hardware is in it */
    bool dram;         /* it counts traffic of device memory */
    enum gp_better better;
    const char *unit;
};

struct gp_nature gp_nature_of(const struct gp_metric *metric, const struct gp_device *device);

/* How far the median of a run of `launches` launches is expected to lie off by itself, as a
 * standard deviation, and below which change nothing is worth a word; both in the metric's unit.
 * `spread` is that of the launches within a run, `seconds` the kernel's duration (0: not known). */
struct gp_expected {
    double deviation;
    double least; /* absolute */
};
struct gp_expected gp_expected_of(const struct gp_nature *n, double value, double spread,
                                  double launches, double seconds);

/* The standard deviation, in seconds, that is expected of a time of which a run has one number:
 * that of `launches` launches of `seconds` each. The clock ticks by `tick`. `error` is the
 * deviation of the number by the launches themselves, `blur` that by the clock: see GP_BLUR. */
double gp_expected_time(double seconds, double launches, double error, double blur, double tick);

/* Seconds by which the time of a launch is blurred: a standard deviation. */
#define GP_BLUR 0.25e-6

/* The standard deviation, relative, that is expected of a count of which a run has one number,
 * where it varies at all. */
#define GP_VARYING_COUNT 0.002

/* The relative change that is let pass where no rule says otherwise. */
double gp_usual_tolerance(const struct gp_nature *n);

#endif
