/* Options and operands in any order, as the commands about checks take them: an option may stand
 * behind a profile, and may be given several times. */
#ifndef GPUPROF_CLI_ARGUMENTS_H
#define GPUPROF_CLI_ARGUMENTS_H

#include "cli/cli.h"

#include <stdbool.h>

/* Calls `take` for each option, in order, with its index and its value ("" where it takes none);
 * false from it ends the reading, with a message. The operands move to argv[1] and on. Returns how
 * many there are, or -1 with *status, the answer of the command. */
int cli_parse_mixed(const struct cli_command *command, int argc, char **argv,
                    bool (*take)(void *user, int option, const char *value), void *user,
                    int *status);

#endif
