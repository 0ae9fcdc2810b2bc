/* The metrics that a profile can give: those with counters that it has recorded. */
#ifndef GPUPROF_CLI_RECORDED_H
#define GPUPROF_CLI_RECORDED_H

#include "base/text.h"
#include "metrics/metrics.h"

/* Selects every metric that the profile has the counters for. A profile that cannot be read twice,
 * or holds none, gets the default set. False with lines in `problems`. */
bool cli_select_recorded(struct gp_metrics *m, const char *path, struct gp_text *problems);

#endif
