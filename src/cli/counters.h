/* Counters that users ask for by their own names, checked before a program starts. */
#ifndef GPUPROF_CLI_COUNTERS_H
#define GPUPROF_CLI_COUNTERS_H

#include "base/text.h"

#include <stdbool.h>

/* Copies the list of metrics into `resolved`, each pattern (sm__inst_executed_pipe_*) replaced by
 * the counters that it stands for. A counter that the chip does not have adds a line to `problems`.
 * The chip is `chip`, else that of this machine's GPU; where neither is known counters are taken at
 * their word. Lists without counters are copied, and nothing is asked. Returns true, or false where
 * there are problems. */
bool cli_resolve_metrics(const char *list, const char *chip, struct gp_text *resolved,
                         struct gp_text *problems);

/* False, having said so, where there is no such chip. */
bool cli_check_chip(const char *chip);

#endif
