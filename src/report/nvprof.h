/* A summary in nvprof's tables: time by kernel, metrics and events by kernel, as text or CSV. */
#ifndef GPUPROF_REPORT_NVPROF_H
#define GPUPROF_REPORT_NVPROF_H

#include "report/summary.h"
#include "report/view.h"

/* Whose summary it is, for the lines in front of the tables. */
struct gp_nvprof_run {
    long pid;
    const char *command;            /* NULL: not known */
    const struct gp_copies *copies; /* GP_COPY_KINDS, or NULL */
};

/* Appends the tables that the view's `times` and `metrics` ask for. Check out->failed
 * afterwards. */
void gp_nvprof_tables(const struct gp_summary *s, const struct gp_view *view,
                      const struct gp_nvprof_run *run, struct gp_text *out);

#endif
