/* The lines or the instructions of a kernel by their samples, the most samples first. */
#ifndef GPUPROF_CLI_SOURCE_HEAT_H
#define GPUPROF_CLI_SOURCE_HEAT_H

#include "cli/source_columns.h"

/* Appends each line with samples of its own. `folder` as in cli_source_text_read. */
void cli_add_hot_lines(const struct cli_source_columns *columns, const struct gp_by_line *by_line,
                       const char *folder, struct gp_text *out);

/* Appends each instruction with samples; with `all` false only those whose line is not known. */
void cli_add_hot_instructions(const struct cli_source_columns *columns, bool all,
                              struct gp_text *out);

#endif
