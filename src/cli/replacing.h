/* Files that the command writes anew: one that is there is whole, or as it was. */
#ifndef GPUPROF_CLI_REPLACING_H
#define GPUPROF_CLI_REPLACING_H

#include <sys/types.h>

/* Writes to the descriptor; 0 or an errno value. */
typedef int cli_writes(void *user, int fd);

/* Has a file with these rights written beside `path`, and gives it that name. 0 or an errno value:
 * then nothing has changed. */
int cli_replace(const char *path, mode_t mode, cli_writes *writes, void *user);

#endif
