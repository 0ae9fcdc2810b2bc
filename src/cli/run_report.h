/* The report of processes that did not come to print theirs, at the end of `gpuprof run`. */
#ifndef GPUPROF_CLI_RUN_REPORT_H
#define GPUPROF_CLI_RUN_REPORT_H

#include "cli/parent.h"
#include "cli/run_folder.h"
#include "profile/run_files.h"

/* `profiles`: of all processes of the run. `named`: the user has asked for them, so they stay. The
 * settings are those of the library (GPUPROF_*). */
void cli_report_end(const struct cli_end *end, const struct gp_run_files *profiles, bool named,
                    const struct cli_run_folder *folder);

/* Writes the report so far of the program, which runs, to the log; the log's name is for that
 * process. */
void cli_report_so_far(pid_t program);

#endif
