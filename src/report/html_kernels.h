/* The parts of a page's data: devices with their roofs, metrics, kernels with all their data,
 * advice. Each appends one key of a JSON object. */
#ifndef GPUPROF_REPORT_HTML_KERNELS_H
#define GPUPROF_REPORT_HTML_KERNELS_H

#include "report/advice.h"
#include "report/rows.h"
#include "report/sources.h"

void gp_html_devices(const struct gp_summary *s, struct gp_text *out);
void gp_html_metrics(const struct gp_summary *s, struct gp_text *out);
void gp_html_kernels(const struct gp_rows *r, const struct gp_rules *rules,
                     const struct gp_findings *findings, const struct gp_sources *sources,
                     struct gp_text *out);
void gp_html_changes(const struct gp_rows *r, const struct gp_advice_list *advice,
                     struct gp_text *out);

/* Appends the demangled name as a JSON string. */
void gp_html_name(const char *mangled, struct gp_text *out);

#endif
