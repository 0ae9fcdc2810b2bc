/* The values of launches that were left out by choice: by the limit to the added time, or by
 * --sample. Launches of one kernel that differ in their grid alone stand for each other, by the law
 * that their values follow (report/laws.h). */
#ifndef GPUPROF_REPORT_LEFT_OUT_H
#define GPUPROF_REPORT_LEFT_OUT_H

#include "report/laws.h"
#include "report/summary.h"

#include <stdbool.h>

/* How the mean of a metric follows from the blocks, by the groups of a row; `points` has room for
 * all of these, and outlives the law. */
struct gp_law gp_law_of(const struct gp_group *const *groups, size_t count, size_t metric,
                        struct gp_law_point *points);

/* Adds to the stats of the row, one for each metric, the launches of groups without a value that
 * were left out. False when out of memory. */
bool gp_left_out_add(struct gp_stat *stats, size_t metrics, const struct gp_group *const *groups,
                     size_t count);

#endif
