/* The first table of a report: kernels by time, with the bound of each and its efficiencies. */
#ifndef GPUPROF_REPORT_KERNEL_TABLE_H
#define GPUPROF_REPORT_KERNEL_TABLE_H

#include "report/advice.h"
#include "report/row_names.h"
#include "report/sources.h"

/* How many columns the name of a kernel has in a table of the first `count` rows. It has a line of
 * its own, or in wide terminals stands behind the numbers. */
size_t gp_kernel_table_name_width(const struct gp_rows *rows, size_t count, size_t width);

/* Appends the table of the first `count` rows, in lines of at most `width` columns; in narrow ones
 * the numbers of a kernel take two lines. `names` are of gp_kernel_table_name_width. A kernel of
 * `sources` (or NULL) that was sampled has a line on the reasons why its warps wait. */
void gp_kernel_table(const struct gp_rows *rows, const struct gp_findings *findings,
                     const struct gp_row_names *names, const struct gp_sources *sources,
                     size_t count, size_t width, struct gp_text *out);

#endif
