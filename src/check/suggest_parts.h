/* Bounds from within: suggest_bounds.c makes a bound of the numbers of runs, suggest_time.c finds
 * those of a kernel's time. Only for these. */
#ifndef GPUPROF_CHECK_SUGGEST_PARTS_H
#define GPUPROF_CHECK_SUGGEST_PARTS_H

#include "check/suggest_bounds.h"

/* A rule's value in each run that has one, and the scatter to expect of one more. */
struct gp_run_numbers {
    double *of_runs;
    size_t count;
    double least_margin; /* absolute */
    double expected;     /* the deviation of one run, as far as it is known beforehand */
};

/* Without a number, and with memory for one of each run. False when out of memory. */
bool gp_suggest_begin(struct gp_run_numbers *n, const struct gp_suggest_kernel *k);

/* Makes a bound of the numbers, of which there is one at least, and frees them. `b` has its
 * direction, and whether it is exact, already. */
void gp_suggest_settle(struct gp_run_numbers *n, struct gp_suggested_bound *b);

/* Whether a run launched several configurations of the kernel; whether a rule that has no 'if
 * present' behind it would be broken in a run. */
bool gp_suggest_several(const struct gp_suggest_kernel *k);
bool gp_suggest_absent(const struct gp_suggest_kernel *k, size_t rule);

#endif
