/* A line for each launch, as nvprof's --print-gpu-trace has it, as text or CSV. Owns the numbers it
 * gives contexts and streams. */
#ifndef GPUPROF_REPORT_TRACE_H
#define GPUPROF_REPORT_TRACE_H

#include "metrics/metrics.h"
#include "report/name_slots.h"
#include "report/view.h"

struct gp_trace;

/* The metrics selected in `m` are columns where the view asks for metrics; else times are, and the
 * launch's shape. Both must outlive the trace. NULL when out of memory. */
struct gp_trace *gp_trace_new(const struct gp_metrics *m, const struct gp_view *view);
void gp_trace_free(struct gp_trace *trace);

void gp_trace_device(struct gp_trace *trace, const struct gp_device *device);

/* Names in lines with metrics then get their columns in `names`, to be written later; else each is
 * cut by itself. It must outlive the trace. */
void gp_trace_defer_names(struct gp_trace *trace, struct gp_name_slots *names);

/* Times count from this one, or from an earlier one that was said before; where none was said, from
 * the first launch that has a time. 0 is no time. */
void gp_trace_begins(struct gp_trace *trace, double start_ms);

/* The lines in front of the first launch. */
void gp_trace_heading(const struct gp_trace *trace, long pid, struct gp_text *out);

/* Appends the launch's line. */
void gp_trace_launch(struct gp_trace *trace, const struct gp_record *launch, struct gp_text *out);

/* The meaning of the columns, behind the last line; nothing in CSV. */
void gp_trace_footing(const struct gp_trace *trace, struct gp_text *out);

#endif
