/* Several profiles side by side: a line for each kernel, a column for each profile. */
#ifndef GPUPROF_REPORT_SIDE_H
#define GPUPROF_REPORT_SIDE_H

#include "report/summary.h"
#include "report/view.h"

/* Summaries of the same metrics, with a name for each. Time and launches of every kernel, then the
 * mean of every selected metric; `top`: most kernels, 0: all. */
void gp_side_by_side(const struct gp_summary *const *summaries, const char *const *names,
                     size_t count, const struct gp_view *view, size_t top, struct gp_text *out);

#endif
