/* Bounds and advice as JSON for other programs, with every value that a rule names. */
#ifndef GPUPROF_REPORT_FINDINGS_JSON_H
#define GPUPROF_REPORT_FINDINGS_JSON_H

#include "profile/object.h"
#include "report/whole.h"

struct gp_sources;

/* The bound of a kernel. */
json_t *gp_bound_json(struct gp_object *o, const struct gp_rules *rules, const struct gp_bound *b);

/* All advice, in its order. `sources` may be NULL. */
json_t *gp_advice_json(struct gp_object *o, const struct gp_rows *rows,
                       const struct gp_findings *findings, const struct gp_sources *sources);

/* The configurations that did the same work. */
json_t *gp_tunings_json(struct gp_object *o, const struct gp_rows *rows,
                        const struct gp_tunings *tunings);

/* The program as a whole. */
json_t *gp_whole_json(struct gp_object *o, const struct gp_whole *whole);

#endif
