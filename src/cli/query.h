/* nvprof's --query-metrics and --query-events. */
#ifndef GPUPROF_CLI_QUERY_H
#define GPUPROF_CLI_QUERY_H

#include <stdbool.h>

/* The metrics or the events that the GPU has, or both; `chip`: that of --chip, or NULL. Returns the
 * answer of the command. */
int cli_query(bool metrics, bool events, const char *chip);

#endif
