/* nvprof's --query-metrics and --query-events. */
#ifndef GPUPROF_CLI_QUERY_H
#define GPUPROF_CLI_QUERY_H

#include <stdbool.h>

/* Prints the names and their meaning. Returns the answer of the command. */
int cli_query(bool metrics, bool events);

#endif
