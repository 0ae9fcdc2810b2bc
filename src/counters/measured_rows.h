/* The hardware's counters of launches that were alike, as each of them was measured: a few rows,
 * of which the others take one after the other. So counters that differ a little from run to run
 * scatter among those as they did among the first. Now and then one more is measured, ever more
 * rarely. */
#ifndef GPUPROF_COUNTERS_MEASURED_ROWS_H
#define GPUPROF_COUNTERS_MEASURED_ROWS_H

#include "counters/recall.h"

#include <stddef.h>

/* So many launches are measured before others take their counters. */
#define GP_LEAST_MEASURED 4

/* Begins as all zero. */
struct gp_measured_rows {
    double *values; /* GP_LEAST_MEASURED rows */
    unsigned measured;
    unsigned taken; /* since the last one was measured */
    unsigned most;  /* that may be */
};

/* Adds a row of `count` values; where there are enough it replaces the oldest. */
void measured_add(struct gp_measured_rows *rows, const double *values, size_t count);

/* So many rows stand for the next launch: one less than enough where it is time to measure one
 * more. */
unsigned measured_count(const struct gp_measured_rows *rows);

/* The next row; NULL where there is none. */
const double *measured_take(struct gp_measured_rows *rows, size_t count);

void measured_free(struct gp_measured_rows *rows);

/* The rows of many launches, by a fingerprint; when there are more fingerprints all are forgotten.
 * Begins as all zero but for `count`. */
#define GP_MOST_MEASURED 16384
struct gp_measured_table {
    size_t count; /* of the values of a row */
    struct gp_measured_of *of;
};

/* NULL where there are none, or when out of memory. */
struct gp_measured_rows *measured_find(const struct gp_measured_table *table,
                                       const struct gp_fingerprint *which);
struct gp_measured_rows *measured_find_or_make(struct gp_measured_table *table,
                                               const struct gp_fingerprint *which);
void measured_forget(struct gp_measured_table *table);

#endif
