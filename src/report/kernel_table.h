/* The first table of a report: kernels by time, with the bound of each and its efficiencies. */
#ifndef GPUPROF_REPORT_KERNEL_TABLE_H
#define GPUPROF_REPORT_KERNEL_TABLE_H

#include "report/advice.h"
#include "report/row_names.h"
#include "report/sources.h"

/* How many columns the name of a kernel has in a table of the first `count` rows. It has a line of
 * its own, or in wide terminals stands behind the numbers. */
size_t gp_kernel_table_name_width(const struct gp_rows *rows, size_t count, size_t width);

struct gp_kernel_table_options {
    const struct gp_row_names *names; /* of gp_kernel_table_name_width */
    const struct gp_sources *sources; /* the samples of instructions; or NULL */
    size_t count;                     /* rows, the first ones */
    size_t width;                     /* columns of a line; in few, a kernel takes three lines */
    size_t more;                      /* most lines on waiting warps and single grids */
};

/* Appends the table. A kernel that was sampled has a line on the reasons why its warps wait, as
 * long as there is room. */
void gp_kernel_table(const struct gp_rows *rows, const struct gp_findings *findings,
                     const struct gp_kernel_table_options *options, struct gp_text *out);

#endif
