/* The metrics that a profile can give: those with counters that it has recorded. */
#ifndef GPUPROF_CLI_RECORDED_H
#define GPUPROF_CLI_RECORDED_H

#include "base/text.h"
#include "metrics/metrics.h"

#include <stdbool.h>

/* Selects every metric that the profile has the counters for. A profile that cannot be read twice,
 * or holds none, gets the default set. False with lines in `problems`. */
bool cli_select_recorded(struct gp_metrics *m, const char *path, struct gp_text *problems);

/* Bytes that come through a pipe are gone once they were read. */
bool cli_can_be_read_twice(const char *path);

/* The counters and devices that a profile begins with. */
struct cli_recorded;

/* Selects as cli_select_recorded does, by the first launches alone; nearly every profile goes on
 * like them, and reading a large one twice takes long. *begin has their counters and is to be
 * freed; NULL where the selection is by the whole profile. */
bool cli_select_begin(struct gp_metrics *m, const char *path, struct cli_recorded **begin,
                      struct gp_text *problems);
void cli_recorded_free(struct cli_recorded *begin);

/* Whether the profile began with that counter, and with a device like that. */
bool cli_began_with_counter(const struct cli_recorded *begin, const char *name);
bool cli_began_with_device(const struct cli_recorded *begin, const struct gp_device *device);

#endif
