/* nvprof's --query-metrics and --query-events. */
#ifndef GPUPROF_CLI_QUERY_H
#define GPUPROF_CLI_QUERY_H

#include <stdbool.h>

/* Prints the names and what they mean. Answers what the command does. */
int cli_query(bool metrics, bool events);

#endif
