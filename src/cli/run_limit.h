/* `gpuprof run --timeout`: a process of its own that ends the program when its time is over. Owns
 * that process. */
#ifndef GPUPROF_CLI_RUN_LIMIT_H
#define GPUPROF_CLI_RUN_LIMIT_H

#include <stdbool.h>

/* Starts it, where `seconds` (checked) is not NULL: for this process, which the program
 * takes. It is no child of the program's, and ends with it. False after saying why not. */
bool run_limit(const char *seconds, const char *program);

#endif
