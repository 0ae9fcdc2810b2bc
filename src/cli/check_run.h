/* gpuprof --check FILE PROGRAM: the program runs, and its kernels are judged. Owns the folder where
 * its profiles lie meanwhile. */
#ifndef GPUPROF_CLI_CHECK_RUN_H
#define GPUPROF_CLI_CHECK_RUN_H

#include <stdbool.h>

/* A file that the library writes: the option or variable that names it, its pattern or NULL. */
struct cli_written {
    const char *name, *pattern;
};

/* Whether the thresholds and formats (commas between them; NULL: text to standard error) can be
 * used beside the files that the library writes; else false, having said why. */
bool cli_check_usable(const char *thresholds, const char *formats,
                      const struct cli_written *written, int count);

/* Goes on twice: false in the process that is to become the program, its environment set; true in
 * the one that waited for it, with the status to end with. `output` is the pattern of the profiles'
 * names that the user gave, NULL for none. Where something fails beforehand it is true as well. */
bool cli_check_run(const char *thresholds, const char *formats, const char *output, int *status);

#endif
