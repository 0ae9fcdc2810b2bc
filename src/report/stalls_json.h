/* The samples of a kernel's instructions as JSON, by reason and by line (docs/report-json.md). */
#ifndef GPUPROF_REPORT_STALLS_JSON_H
#define GPUPROF_REPORT_STALLS_JSON_H

#include "profile/object.h"
#include "report/lines.h"

/* The object of a kernel; null where no samples are known. `lines` may be NULL. */
json_t *gp_stalls_json(struct gp_object *o, const struct gp_lines *lines);

#endif
