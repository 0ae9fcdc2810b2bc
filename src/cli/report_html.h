/* `gpuprof report --html FILE`: profiles as one page. Owns nothing; calls profile/, metrics/ and
 * report/. */
#ifndef GPUPROF_CLI_REPORT_HTML_H
#define GPUPROF_CLI_REPORT_HTML_H

#include "metrics/metrics.h"

/* Writes the page. `select` chooses the metrics to show of a profile and returns CLI_OK, or after
 * saying what is wrong what the command answers. Returns the same. */
int cli_report_html(const char *file, struct gp_metrics *m,
                    int (*select)(struct gp_metrics *m, const char *path, const void *user),
                    const void *user, char **paths, int count);

#endif
