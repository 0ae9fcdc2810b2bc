/* A summary as JSON for other programs; docs/report-json.md describes it. */
#ifndef GPUPROF_REPORT_VIEW_JSON_H
#define GPUPROF_REPORT_VIEW_JSON_H

#include "profile/reader.h"
#include "report/rows.h"
#include "report/sources.h"

/* Rises when programs that read it would misread. */
#define GP_REPORT_JSON_VERSION 1

struct json_t;

/* One element of "profiles": `about` has `file` and the header's values, and is taken over.
 * `copies`: GP_COPY_KINDS of them. `sources`: the counts of instructions, or NULL. `top`: most
 * kernels, 0: all. NULL when out of memory. */
struct json_t *gp_report_json(struct json_t *about, const struct gp_summary *s,
                              const struct gp_copies *copies, struct gp_sources *sources,
                              size_t top);

/* The content of a header: program, process, host, time. NULL when out of memory. */
struct json_t *gp_report_json_header(const char *file, const struct gp_profile_header *header);

#endif
