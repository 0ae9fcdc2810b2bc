/* The run: a program with all processes that it starts. Its id stands in the environment
 * (GPUPROF_RUN), where `gpuprof` or the first process with the library puts it, and children
 * inherit it. Owns a copy, as a program may clear its environment. */
#ifndef GPUPROF_BASE_RUN_ID_H
#define GPUPROF_BASE_RUN_ID_H

#include <stdbool.h>
#include <time.h>

/* The id of the run that this process belongs to; NULL: of none so far. Where the environment has
 * none, that of an ancestor holds. */
const char *gp_run_id(void);

/* Makes a new run of this process and its children. It changes the environment, so no other thread
 * may run. False when out of memory. */
bool gp_run_begin(void);

/* True where the run had begun by that time, as the id says. */
bool gp_run_had_begun(const char *id, struct timespec time);

#endif
