/* The groups of a summary as a report shows them: kernels that differ in nothing but their grid are
 * one row, rows are ordered by time. Owns the rows. */
#ifndef GPUPROF_REPORT_ROWS_H
#define GPUPROF_REPORT_ROWS_H

#include "report/summary.h"

#include <stdbool.h>

struct gp_row {
    const struct gp_record *launch; /* of the recorded group with the most launches */
    size_t grids;                   /* as many as groups */
    bool apart;                     /* of an autotuner (report/apart.h) */
    size_t first_group;             /* in the groups of gp_rows */
    unsigned smallest_grid[3], largest_grid[3];
    uint64_t launches, recorded, measured; /* as in struct gp_group */
    size_t measured_grids;                 /* with launches that were */
    uint64_t hardware, instrumented, recalled, recalled_all, of_graphs;
    uint64_t timed; /* launches of the grids that have a time */
    double seconds; /* of all launches; 0 where none was timed */
    char *full_name, *brief_name;
    struct gp_stat *stats; /* one per selected metric */
    bool occupancy_known;
    struct gp_occupancy occupancy;
    char occupancy_why[GP_WHY_SIZE];
};

/* Rows that are kept apart stand behind the others, and are in no sum of these. */
struct gp_apart {
    size_t rows;
    uint64_t kernels, launches; /* kernels: with their configurations */
    double seconds;
    bool of_xla;
};

struct gp_rows {
    const struct gp_summary *summary;
    const struct gp_group **groups; /* those of a row lie next to each other */
    double *group_seconds;          /* of all launches of each group, and 0 where none is known */
    struct gp_row *rows;
    size_t count; /* without those that are kept apart */
    struct gp_apart apart;
    bool timed;     /* some launch's duration was measured */
    double seconds; /* of all rows */
    int devices;    /* how many had launches */
};

/* Returns true, or false when out of memory; free in both cases. */
bool gp_rows_make(struct gp_rows *r, const struct gp_summary *s);
void gp_rows_free(struct gp_rows *r);

/* How many rows there are, those that are kept apart included. */
static inline size_t gp_rows_all(const struct gp_rows *r)
{
    return r->count + r->apart.rows;
}

/* A row of one group alone, as part of `row`: its names and occupancy are those of the row. Where
 * none of its launches was timed (timed) its seconds follow from the other groups. It lives as
 * long as the rows do. */
struct gp_row gp_rows_of_group(const struct gp_rows *r, const struct gp_row *row, size_t group);

/* Whether two launches are of one row: they may differ in their grid. */
bool gp_rows_alike(const struct gp_record *a, const struct gp_record *b);

/* The average over all launches, those that were not timed included: `seconds` by `launches`.
 * Returns true, or false when none was timed. */
bool gp_rows_average_time(const struct gp_row *row, double *seconds);

/* The numbers of a metric, NULL when it is not selected. */
const struct gp_stat *gp_rows_stat(const struct gp_rows *r, const struct gp_row *row,
                                   const char *metric);

/* gp_stat_mean of the metric. False also where it is not selected. */
bool gp_rows_mean(const struct gp_rows *r, const struct gp_row *row, const char *metric,
                  double *mean);

/* Adds all metrics of a group. Its launches that have a value stand for those that have none. */
void gp_stats_add_group(struct gp_stat *stats, size_t count, const struct gp_group *group);

#endif
