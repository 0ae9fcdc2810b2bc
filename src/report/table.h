/* The report a person reads: one screen, and on demand the details of every kernel; or the same in
 * Markdown. */
#ifndef GPUPROF_REPORT_TABLE_H
#define GPUPROF_REPORT_TABLE_H

#include "report/sources.h"
#include "report/summary.h"

struct gp_table_options {
    size_t top;          /* most kernels in the details; 0: all */
    size_t kernels;      /* most of them on the first screen; 0: as many as fit there */
    size_t width;        /* columns of the screen's lines; 0: 120 */
    bool markdown;       /* instead of the screen; details are for the screen alone */
    size_t most_bytes;   /* of Markdown; 0: no limit */
    const char *command; /* of the program, in the heading of Markdown; NULL: not named */
    const char *notes;   /* lines on the profile itself, for Markdown */
    bool details;        /* behind the screen, the metrics of each kernel */
    bool every_metric;   /* all that are selected: helpers of other metrics and zeros as well */
    const char
        *profile; /* of which the report is, for the line that says how to see more; or NULL */
    const struct gp_sources *sources; /* the counts of instructions, and their code; or NULL */
    const struct gp_copies *copies;   /* of each kind; NULL: not counted */
};

/* Appends the report. Check out->failed afterwards. */
void gp_table_report(const struct gp_summary *s, const struct gp_table_options *options,
                     struct gp_text *out);

/* Appends the lines that it begins with: how much was measured, and on which GPUs. */
void gp_table_headline(const struct gp_summary *s, size_t width, struct gp_text *out);

#endif
