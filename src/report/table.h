/* The report a person reads: one screen, and on demand the details of every kernel. No line is
 * longer than 120 columns. */
#ifndef GPUPROF_REPORT_TABLE_H
#define GPUPROF_REPORT_TABLE_H

#include "report/sources.h"
#include "report/summary.h"

struct gp_table_options {
    size_t top;     /* most kernels in the details; 0: all */
    size_t kernels; /* most of them on the first screen; 0: as many as fit there */
    bool details;   /* behind the screen, all metrics of each kernel */
    const char
        *profile; /* of which the report is, for the line that says how to see more; or NULL */
    const struct gp_sources *sources; /* the counts of instructions, and their code; or NULL */
};

/* Appends the report. Check out->failed afterwards. */
void gp_table_report(const struct gp_summary *s, const struct gp_table_options *options,
                     struct gp_text *out);

/* Appends the lines that it begins with: how much was measured, and on which GPUs. */
void gp_table_headline(const struct gp_summary *s, struct gp_text *out);

#endif
