/* The values of launches that were left out by choice: by the limit to the added time, or by
 * --sample. Launches of one kernel that differ in their grid alone stand for each other, by the law
 * that their values follow (report/laws.h). */
#ifndef GPUPROF_REPORT_LEFT_OUT_H
#define GPUPROF_REPORT_LEFT_OUT_H

#include "report/laws.h"
#include "report/summary.h"

#include <stdbool.h>

/* Whether no launch of the group has a value of the metric, as it was left out by choice. */
bool gp_left_out_is(const struct gp_group *g, size_t metric);

/* The mean seconds of launches of the group that were not timed, NAN where none was; `duration`:
 * the index of that metric. The first launch finds neither its code nor its data in caches and is
 * no example of the others, where there are any. */
double gp_left_out_seconds(const struct gp_group *g, size_t duration);

/* The seconds of all launches of a group, some of which were timed. */
double gp_left_out_total(const struct gp_group *g, size_t duration);

/* The mean seconds of launches that were not timed, of each group that was left out, or whose time
 * is in doubt, by the law of the groups with other times; NAN for the other groups, and where no
 * law is known. `means` has an entry for each group. False when out of memory. */
bool gp_left_out_times(double *means, const struct gp_group *const *groups, size_t count,
                       size_t duration);

/* The number of the group of a row that stands for this one, where it was left out: the one with
 * counters of the hardware whose blocks are nearest. The group itself where none has less than
 * twice as many blocks, or more than half as many. */
size_t gp_left_out_stands_for(const struct gp_group *const *groups, size_t count, size_t group);

/* How the mean of a metric follows from the blocks, by the groups of a row; `points` has room for
 * all of these, and outlives the law. */
struct gp_law gp_law_of(const struct gp_group *const *groups, size_t count, size_t metric,
                        struct gp_law_point *points);

/* Adds to the stats of the row, one for each metric, the launches of groups without a value that
 * were left out. False when out of memory. */
bool gp_left_out_add(struct gp_stat *stats, size_t metrics, const struct gp_group *const *groups,
                     size_t count);

#endif
