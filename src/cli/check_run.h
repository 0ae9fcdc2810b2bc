/* gpuprof --check FILE PROGRAM: the program runs, and its kernels are judged. */
#ifndef GPUPROF_CLI_CHECK_RUN_H
#define GPUPROF_CLI_CHECK_RUN_H

#include "profile/run_files.h"

#include <stdbool.h>

/* A file that the library writes: the option or variable that names it, its pattern or NULL. */
struct cli_written {
    const char *name, *pattern;
};

/* Whether the thresholds and formats (commas between them; NULL: text to standard error) can be
 * used beside the files that the library writes; else false, having said why. */
bool cli_check_usable(const char *thresholds, const char *formats,
                      const struct cli_written *written, int count);

/* Before the program starts: the library measures for the rules, and leaves the verdict to this
 * process. `named`: the user has asked for the profiles. False after a message. */
bool cli_check_prepare(const char *thresholds, bool named);

/* Afterwards: judges the run by its profiles, and says the verdict; `read` is called before that,
 * whose reader may let us wait. Returns the status. */
int cli_check_judge(const char *thresholds, const char *formats,
                    const struct gp_run_files *profiles, bool named, void (*read)(void));

#endif
