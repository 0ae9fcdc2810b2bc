/* The bound of a kernel in one launch configuration, and how close it is to it: the unit of the GPU
 * that is nearest to its roof, or none.
 *
 * A kernel is at a roof from GP_AT_ROOF of the rate that the unit reaches in practice, and bound
 * by a unit from GP_BOUND_BY. Below that its warps wait (latency), or its grid is too small to
 * fill the GPU: both only where each unit of the chip was measured. */
#ifndef GPUPROF_REPORT_BOUNDS_H
#define GPUPROF_REPORT_BOUNDS_H

#include "report/rows.h"
#include "report/rules.h"

#define GP_AT_ROOF 0.8
#define GP_BOUND_BY 0.6
/* Busy by so much more than the next unit to be bound by it alone. */
#define GP_CLEARLY 0.1
/* Launches shorter than that are dominated by launching them. */
#define GP_SHORT_LAUNCH 5e-6

enum gp_bound_kind {
    GP_BOUND_UNKNOWN, /* `why` says why */
    GP_BOUND_UNIT,
    GP_BOUND_LATENCY, /* no unit is busy: warps wait */
    GP_BOUND_SMALL,   /* fewer blocks than the SMs have room for */
    GP_BOUND_LAUNCH,  /* it is over before the next can be launched */
};

struct gp_bound {
    enum gp_bound_kind kind;
    const char *name;       /* "dram", "latency", "small", "launch", "unknown": as rules name it */
    const char *title;      /* "DRAM", "latency", ... for people */
    double closeness;       /* of the busiest unit: utilisation over its ceiling; NAN: not known */
    double utilization;     /* of that unit, 0 to 1 */
    const char *unit;       /* its title: also where the kernel is bound by latency */
    const char *next_title; /* the next busiest, NULL: none is known */
    double next_closeness, next_utilization;
    bool at_roof;
    bool complete; /* all units of the chip were measured: the busiest is the busiest */
    bool balanced; /* the next is about as busy */
    double units[GP_MOST_UNITS]; /* closeness of each unit of the rules; NAN: not known */
    double share;          /* of the time of the row that is bound so; 1 for a configuration */
    char why[GP_WHY_SIZE]; /* of an unknown bound */
};

/* The bound of a row that is one configuration (gp_rows_of_group). */
void gp_bound_find(struct gp_bound *bound, const struct gp_rules *rules, const struct gp_rows *rows,
                   const struct gp_row *row);

/* The bound of a row of several configurations: the one under which it spends most of its time,
 * with the use of units in that time. `bounds` has the bounds of all groups of `rows`. */
void gp_bound_of_row(struct gp_bound *bound, const struct gp_rules *rules,
                     const struct gp_rows *rows, const struct gp_row *row,
                     const struct gp_bound *bounds);

#endif
