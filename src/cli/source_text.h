/* The source of one kernel as text: lines, or machine instructions under their lines, with counts.
 */
#ifndef GPUPROF_CLI_SOURCE_TEXT_H
#define GPUPROF_CLI_SOURCE_TEXT_H

#include "report/lines.h"

#include <stdbool.h>

struct cli_source_options {
    const char *folder; /* is searched for source files as well; NULL: none */
    bool sass;          /* instructions instead of lines */
    bool by_heat;       /* those with the most samples first */
};

/* Returns the answer of the command. */
int cli_print_source(const struct gp_lines *lines, const struct cli_source_options *options);

#endif
