/* The report a person reads: overview, details per kernel, what was not measured, advice. Owns
 * nothing; calls base/, metrics/ and report/summary. No line is longer than 120 columns. */
#ifndef GPUPROF_REPORT_TABLE_H
#define GPUPROF_REPORT_TABLE_H

#include "report/summary.h"

struct gp_table_options {
    size_t top; /* most lines in the overview and kernels in the details; 0: all */
};

/* Appends the report. Check out->failed afterwards. */
void gp_table_report(const struct gp_summary *s, const struct gp_table_options *options,
                     struct gp_text *out);

#endif
