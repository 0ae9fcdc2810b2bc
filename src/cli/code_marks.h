/* The machine code of kernels, by the code in a profile, as comparisons need it. */
#ifndef GPUPROF_CLI_CODE_MARKS_H
#define GPUPROF_CLI_CODE_MARKS_H

#include "check/side.h"
#include "report/sources.h"

/* Calls `take` for each kernel (mangled) whose machine code is there. */
void cli_visit_code_marks(const struct gp_sources *sources,
                          void (*take)(void *user, const char *kernel,
                                       const struct gp_code_mark *mark),
                          void *user);

#endif
