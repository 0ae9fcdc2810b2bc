/* Signals that a whole process group gets, as those of the terminal, reach the program by
 * themselves; others reach the command alone. A small process in the group tells which: it gets all
 * that the group gets, and nobody knows it by its number. Owns that process. */
#ifndef GPUPROF_CLI_GROUP_H
#define GPUPROF_CLI_GROUP_H

#include <stdbool.h>

/* Starts it. All signals are blocked. Where it cannot be started no signal is known to be the
 * group's. */
void cli_group_watch(void);

/* Whether the signal, which has just come to this process, came to the group. */
bool cli_group_got(int signal_number);

/* Ends it. */
void cli_group_leave(void);

/* Closes all descriptors from that one on, but for one; -1: all. */
void cli_close_from(int first, int but);

#endif
