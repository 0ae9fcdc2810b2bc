/* Tunings: a kernel that did the same work in several launch configurations, as people and
 * autotuners try block sizes. Owns the list. */
#ifndef GPUPROF_REPORT_TUNINGS_H
#define GPUPROF_REPORT_TUNINGS_H

#include "report/rows.h"

/* One configuration: a group of a row. */
struct gp_tried {
    const struct gp_row *row;
    size_t group;   /* of the row */
    double seconds; /* of one launch */
};

/* The fastest configuration first. */
struct gp_tuning {
    size_t count;
    struct gp_tried *tried;
    uint64_t launches;
    double seconds; /* of all launches */
};

struct gp_tunings {
    struct gp_tuning *list; /* the one with most time first */
    size_t count;
    const struct gp_tuning **of_group; /* by group of the rows; NULL where it is in none */
};

/* Configurations of one kernel on one device do the same work where operations and bytes asked for
 * differ by at most GP_SAME_WORK. Ready-made kernels are none, but for XLA's. Such that the slowest
 * takes less than GP_SLOWER times as long as the fastest are left out. Returns true, or false when
 * out of memory; free in both cases. */
#define GP_SAME_WORK 0.01
#define GP_SLOWER 1.05
bool gp_tunings_find(struct gp_tunings *tunings, const struct gp_rows *rows);
void gp_tunings_free(struct gp_tunings *tunings);

/* Appends a line: the fastest configuration, and how much longer the others take. `name` is the
 * kernel's. */
void gp_tuning_text(const struct gp_rows *rows, const struct gp_tuning *tuning, const char *name,
                    struct gp_text *out);

#endif
