/* The report in Markdown, for the summary of a CI job and for coding agents: the program, its
 * kernels, and for each piece of advice the kernel, the line, the evidence, the change, and the
 * command that shows whether it helped. */
#ifndef GPUPROF_REPORT_VIEW_MARKDOWN_H
#define GPUPROF_REPORT_VIEW_MARKDOWN_H

#include "report/sources.h"
#include "report/whole.h"

struct gp_markdown_options {
    const char *command; /* of the program; NULL: not named */
    const char *profile; /* the file, for the commands; NULL: not named */
    const char *notes;   /* lines on the profile, of missing parts say; NULL: none */
    size_t kernels;      /* most of them, and most pieces of advice; 0: as many as fit */
    size_t bytes;        /* the most of the whole text; 0: no limit */
    const struct gp_sources *sources; /* the samples of instructions; or NULL */
};

/* Appends it. Parts that would make it longer than `bytes` are left out, which is said. */
void gp_report_markdown(const struct gp_rows *rows, const struct gp_findings *findings,
                        const struct gp_whole *whole, const struct gp_markdown_options *options,
                        struct gp_text *out);

#endif
