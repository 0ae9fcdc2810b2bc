/* The source of one kernel as text: lines, or machine instructions under their lines, with counts.
 */
#ifndef GPUPROF_CLI_SOURCE_TEXT_H
#define GPUPROF_CLI_SOURCE_TEXT_H

#include "report/lines.h"

#include <stdbool.h>

/* `folder` is searched for source files as well, NULL for none. Returns the answer of the command.
 */
int cli_print_source(const struct gp_lines *lines, const char *folder, bool sass);

#endif
