/* Names of files and folders that the library is given. */
#ifndef GPUPROF_CLI_PATHS_H
#define GPUPROF_CLI_PATHS_H

#include <stdbool.h>

/* Whether the file can be written, as far as that shows without touching it; where not, the option
 * and the reason are reported. */
bool cli_check_file(const char *option, const char *pattern);

/* False, having said so, where writing to `output` would overwrite one of the files that are read.
 * Names may be NULL, or "-" for a standard stream. */
bool cli_check_spared(const char *option, const char *output, const char *const *inputs, int count);

/* False, having said so, where the file that a pattern names would overwrite one of the files that
 * are read. True where the pattern is wrong or NULL. */
bool cli_check_pattern_spared(const char *option, const char *pattern, const char *const *inputs,
                              int count);

/* One line for each profile that is named again, by any spelling or link: it counts once more. */
void cli_say_repeated(char *const *profiles, int count);

/* Moves files out of the list that are read with another one of it, as they are of the same run
 * (profile/run_files.h). Returns how many are left. */
int cli_leave_out_members(char **profiles, int count);

/* False, having said so, where the log would be written into the profile; the names are those of
 * the options or variables. */
bool cli_check_apart(const char *log_name, const char *log, const char *output_name,
                     const char *output);

/* The library opens files when the program first uses CUDA, and by then the program may have
 * changed its folder: has relative names in GPUPROF_OUTPUT, _LOG, _CUPTI and _METRICS_PATH begin
 * here. False when out of memory. */
bool cli_fix_paths(void);

#endif
