/* The first screen of a report: the run, the program as a whole, kernels by time with the bound of
 * each, the changes worth most, missing values. */
#ifndef GPUPROF_REPORT_SCREEN_H
#define GPUPROF_REPORT_SCREEN_H

#include "report/sources.h"
#include "report/whole.h"

struct gp_screen_options {
    const char *profile; /* for the line that says how to see more: "" is none, NULL no line */
    size_t kernels;      /* most of them in the table; 0: as many as fit */
    size_t width;        /* columns of a line; 0: 120 */
    const struct gp_sources *sources; /* the samples of instructions; or NULL */
};

/* Appends it: at most 60 lines, unless more kernels are asked for. */
void gp_screen(const struct gp_rows *rows, const struct gp_findings *findings,
               const struct gp_whole *whole, const struct gp_screen_options *options,
               struct gp_text *out);

/* "GPU 0: NVIDIA H200, ..." and so on, in lines of `width` columns: also without any launch. */
void gp_screen_headline(const struct gp_summary *summary, size_t width, struct gp_text *out);

/* The columns that a screen has for a width that was asked for. */
size_t gp_screen_width(size_t width);

#endif
