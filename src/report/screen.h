/* The first screen of a report: the run, kernels by time with the bound of each, the changes worth
 * most, missing values. */
#ifndef GPUPROF_REPORT_SCREEN_H
#define GPUPROF_REPORT_SCREEN_H

#include "report/advice.h"
#include "report/rows.h"

/* Appends it: at most 60 lines of 120 columns, unless more kernels are asked for: `kernels` of
 * them, 0: as many as fit. */
void gp_screen(const struct gp_rows *rows, const struct gp_findings *findings, const char *profile,
               size_t kernels, struct gp_text *out);

/* "GPU 0: NVIDIA H200, ..." and so on: also without any launch. */
void gp_screen_headline(const struct gp_summary *summary, struct gp_text *out);

#endif
