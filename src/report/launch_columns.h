/* Every launch of a profile as columns of numbers, for charts over time. Memory is bounded: of more
 * than GP_COLUMNS_MOST launches every second, fourth, ... is kept. Owns the columns. */
#ifndef GPUPROF_REPORT_LAUNCH_COLUMNS_H
#define GPUPROF_REPORT_LAUNCH_COLUMNS_H

#include "base/text.h"
#include "metrics/metrics.h"

#include <stdbool.h>
#include <stdint.h>

#define GP_COLUMNS_MOST 262144
#define GP_COLUMNS_STREAMS 254 /* launches of further streams share number 255 */

struct gp_launch_columns;

/* Columns for those of the usual metrics that are selected in `m`. NULL when out of memory. */
struct gp_launch_columns *gp_launch_columns_new(const struct gp_metrics *m);
void gp_launch_columns_free(struct gp_launch_columns *c);

/* The next launch is of another process. */
void gp_launch_columns_begin(struct gp_launch_columns *c);

/* Takes a launch in. `device` may be NULL: then it has no metrics. False when out of memory; the
 * launch is then left out. */
bool gp_launch_columns_add(struct gp_launch_columns *c, const struct gp_device *device,
                           const struct gp_record *launch);

/* Appends the columns as a JSON object, in the order in which the launches were made. A launch
 * belongs to the row for which `row_of` answers its number; -1: to none. Sorts the columns. */
void gp_launch_columns_json(struct gp_launch_columns *c,
                            int (*row_of)(const void *user, const struct gp_record *launch),
                            const void *user, struct gp_text *out);

#endif
