/* How often a kernel runs for sets and metrics: `gpuprof metrics --passes`. */
#ifndef GPUPROF_CLI_PASSES_H
#define GPUPROF_CLI_PASSES_H

#include "base/text.h"
#include "metrics/metrics.h"

/* Appends a table for every set, or for the `count` names together. Returns the answer of the
 * command, CLI_OK or another after a message. `chip`: NULL where CUPTI knows none. */
int cli_list_passes(struct gp_metrics *m, const struct gp_device *device, const char *chip,
                    char **names, int count, struct gp_text *out);

#endif
