/* Manual pages (as scdoc's text) and the shells' completion, out of the tables of commands and
 * options. */
#ifndef GPUPROF_CLI_MANUAL_H
#define GPUPROF_CLI_MANUAL_H

#include "cli/cli.h"

/* The page of a command up to its options and, of `run`, the tables from nvprof and ncu; the part
 * written by hand follows (man/COMMAND.scd). NULL: the page of gpuprof itself. */
void cli_add_manual(const struct cli_command *command, struct gp_text *out);

/* Scripts that complete commands and options. */
void cli_add_bash_completion(struct gp_text *out);
void cli_add_zsh_completion(struct gp_text *out);

#endif
