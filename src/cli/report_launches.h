/* `gpuprof report --print launches`: the profile as JSON Lines with all that is known of a launch
 * in one object, which is format 1 of a profile. */
#ifndef GPUPROF_CLI_REPORT_LAUNCHES_H
#define GPUPROF_CLI_REPORT_LAUNCHES_H

#include "cli/report_views.h"
#include "report/filter.h"

/* Writes to standard output as it reads. Returns the answer of the command. */
int cli_print_launches(const char *path, struct gp_filter *filter, const struct cli_views *views);

#endif
