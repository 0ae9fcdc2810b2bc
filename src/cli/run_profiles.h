/* The profiles that the processes of a run have written. Owns their names. */
#ifndef GPUPROF_CLI_RUN_PROFILES_H
#define GPUPROF_CLI_RUN_PROFILES_H

#include "profile/run_files.h"

#include <stdbool.h>

/* Finds those of the run in the files that a pattern stands for (base/pattern.h, where %p is any
 * process). To be freed by gp_run_files_free in any case. */
void cli_find_profiles(const char *pattern, const char *run, struct gp_run_files *files);

/* True while a process is writing it. */
bool cli_is_being_written(const char *path);

#endif
