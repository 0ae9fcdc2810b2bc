/* The program as a whole: how long it ran, the share of that time in which the GPU worked, its
 * operations and bytes, and how the GPU's time is divided. */
#ifndef GPUPROF_REPORT_WHOLE_H
#define GPUPROF_REPORT_WHOLE_H

#include "report/advice.h"
#include "report/host.h"
#include "report/origin.h"

/* Values that were counted in launches with less than GP_LEAST_COVERED of the GPU time are not
 * reported; from GP_WELL_COVERED on they stand for all. */
#define GP_LEAST_COVERED 0.5
#define GP_WELL_COVERED 0.97

/* A sum over all launches. */
struct gp_whole_sum {
    double value;   /* as far as it was counted */
    double share;   /* of the peak, over gp_whole.base_seconds; NAN: not known */
    double covered; /* the share of the GPU time of the launches in which it was counted */
};

/* A part of the GPU time. */
struct gp_whole_part {
    const char *title;
    double seconds;
};

#define GP_PRECISIONS 9
#define GP_WHOLE_BOUNDS (GP_MOST_UNITS + 4)

struct gp_whole {
    unsigned processes;
    double run_seconds;  /* of all processes together without measuring, where they have a window
                          * while it was open; 0: not known */
    double gpu_seconds;  /* of all kernels that are not kept apart; 0: not known */
    double busy_seconds; /* of these, too */
    struct gp_apart apart;
    double copy_seconds; /* of copies and fills; 0: not timed */
    double gpu_share;    /* busy_seconds over base_seconds, at most 1; NAN: not known */
    double copy_share;   /* the same of copy_seconds */
    bool estimated;      /* some launches were not timed: others stand for them */
    uint64_t untimed;    /* launches of kernels of which none was timed: gpu_seconds lacks them */
    bool side_by_side;   /* kernels of several streams may have run at the same time */
    struct gp_windows window;
    struct gp_limits limit;
    struct gp_whole_times graphs; /* that were timed as a whole; no other member has their time */
    struct gp_host host;
    double idle_share;           /* gp_host_idle_share */
    uint64_t launches, measured; /* of all kernels */
    double covered;              /* the share of the GPU time of groups with a measurement; NAN */
    double base_seconds; /* of shares: run_seconds, each process counted once for each GPU that it
                          * used; gpu_seconds where that is unknown */
    struct gp_whole_sum flop, dram_bytes;
    struct gp_whole_part precisions[GP_PRECISIONS]; /* FLOP instead of seconds: the largest first */
    struct gp_whole_part bounds[GP_WHOLE_BOUNDS];   /* the largest first; NULL behind the last */
    struct gp_whole_part origins[GP_ORIGINS];
};

/* `f`: NULL where nobody asks for the bounds. `copies`: of each kind, or NULL. `lines` as in
 * gp_findings_make. */
void gp_whole_make(struct gp_whole *w, const struct gp_rows *rows, const struct gp_findings *f,
                   const struct gp_copies *copies,
                   const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                   void *user);

/* The summary for people has so many lines. */
#define GP_WHOLE_LINES 10

/* Returns the name of a line ("Arithmetic"), and appends its text; nothing where nothing is known.
 */
const char *gp_whole_line(const struct gp_whole *w, size_t line, struct gp_text *out);

/* Appends the line on the window, with its name, where there is one: by itself for a report without
 * a kernel. */
void gp_whole_window_text(const struct gp_windows *window, size_t width, struct gp_text *out);

/* Appends the lines with their names, of at most `width` columns. */
void gp_whole_text(const struct gp_whole *w, size_t width, struct gp_text *out);

#endif
