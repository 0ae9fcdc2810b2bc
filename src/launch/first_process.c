/* The first process with the library begins the run, where `gpuprof` did not: its children have to
 * know that their files belong together. */
#include "base/run_id.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool is_set(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value;
}

__attribute__((constructor)) static void begin(void)
{
    const int saved = errno;
    const bool writes = is_set("GPUPROF_OUTPUT") || is_set("GPUPROF_LOG");
    /* The id is noted, as the program may change its environment. */
    const bool has_run = (writes || is_set("GPUPROF_RUN")) && gp_run_id();
    if (writes && !has_run)
        gp_run_begin(); /* out of memory: then its processes seem to be of several runs */
    errno = saved;
}
