/* `gpuprof report --html FILE`: profiles as one page. Owns nothing; calls profile/, metrics/ and
 * report/. */
#ifndef GPUPROF_CLI_REPORT_HTML_H
#define GPUPROF_CLI_REPORT_HTML_H

#include "metrics/metrics.h"

#include <stdbool.h>

/* Writes the page. `select` chooses the metrics to show of a profile, after saying what is wrong
 * where it returns false. Returns CLI_OK, or CLI_FAILED after saying why. */
int cli_report_html(const char *file, struct gp_metrics *m,
                    bool (*select)(struct gp_metrics *m, const char *path, const void *user),
                    const void *user, char **paths, int count);

#endif
