/* `gpuprof report --html FILE`: profiles as one page. */
#ifndef GPUPROF_CLI_REPORT_HTML_H
#define GPUPROF_CLI_REPORT_HTML_H

#include "cli/report_views.h"

/* Writes the page: of each profile, or of all together where the options say so. Returns CLI_OK,
 * or the answer of the command after a message; of a damaged profile the page has the readable
 * part. */
int cli_report_html(const char *file, const struct cli_views *views, struct gp_metrics *m,
                    char **paths, int count);

#endif
