/* Where kernels begin in their sources, by the code in a profile. */
#ifndef GPUPROF_CLI_SOURCE_LINES_H
#define GPUPROF_CLI_SOURCE_LINES_H

#include "report/sources.h"

/* Calls `take` for each kernel (mangled) whose line is known. A file below this folder has its name
 * from here, as CI systems want it. */
void cli_visit_source_lines(const struct gp_sources *sources,
                            void (*take)(void *user, const char *kernel, const char *file,
                                         int line),
                            void *user);

#endif
