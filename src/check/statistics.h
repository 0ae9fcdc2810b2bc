/* Did it change? The runs' medians of two sides, compared so that one odd run does not decide.
 *
 * The shift is Hodges and Lehmann's: the median of all differences between a run of one side and
 * one of the other. It is held to how far runs of an unchanged program lie apart. That is estimated
 * from the runs themselves, robustly (median distances from the median), and moderated: the scatter
 * that is expected beforehand counts as much as GP_PRIOR_FREEDOM further degrees of freedom. So a
 * comparison of one run with one is possible, and is a blunt one. A run that is still to come is
 * expected in the same way. */
#ifndef GPUPROF_CHECK_STATISTICS_H
#define GPUPROF_CHECK_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#define GP_PRIOR_FREEDOM 4
#define GP_SIGNIFICANCE 0.002 /* two-sided */

struct gp_runs {
    const double *medians;
    size_t count;
};

struct gp_shift {
    double from, to;   /* medians of the runs' medians */
    double shift;      /* Hodges-Lehmann */
    double deviation;  /* of one run, moderated */
    unsigned freedom;  /* degrees of freedom behind it */
    double detectable; /* a shift beyond this, either way, is significant */
};

/* `expected` is the standard deviation of one run's median that is expected beforehand. Both sides
 * have a run at least. False when out of memory. */
bool gp_shift_find(struct gp_runs a, struct gp_runs b, double expected, struct gp_shift *shift);

/* Student's t that is exceeded, either way, with GP_SIGNIFICANCE. */
double gp_student(unsigned freedom);

/* One more run of an unchanged program, expected by those at hand. Their scatter is that of
 * squares, as an odd run among them says that such runs come. */
struct gp_next {
    double middle;    /* their mean */
    double deviation; /* of one run, moderated as that of a shift */
    unsigned freedom;
    double margin; /* it lies further than that from the middle, one way, in GP_RARE of all cases */
};
#define GP_RARE 1e-4

/* There is a run at least; `expected` as for gp_shift_find. */
void gp_next_find(struct gp_runs runs, double expected, struct gp_next *next);

/* Theil and Sen's slope of values in order, per step, and whether Mann and Kendall's test finds
 * that they rise or fall (1, -1; 0: neither) with a significance of 0.01, two-sided. Needs 4 values
 * at least, else 0 and no trend. False when out of memory. */
bool gp_trend_find(const double *values, size_t count, double *slope, int *trend);

/* The change over all of these values that a slope has to make so that it is none of chance, with
 * the same significance. They scatter around `slope` as they do, moderated with the expected
 * deviation of one. Needs 3 values at least. False when out of memory. */
bool gp_trend_detectable(const double *values, size_t count, double slope, double expected,
                         double *detectable);

#endif
