/* Which code a launch runs. The modules of a program may hold kernels that have one name and
 * different code: static functions of two files, or all that a program compiles while it runs. */
#ifndef GPUPROF_COUNTERS_RUN_CODE_H
#define GPUPROF_COUNTERS_RUN_CODE_H

#include "counters/collector.h"

/* The launch's shape with its kernel's code: equal for two launches of kernels of one name only
 * where the code is the same, for compute capability cc / 10. Where that cannot be found out, only
 * for launches of one loaded kernel. */
uint64_t gp_run_shape_and_code(const struct gp_run *run, int cc);

#endif
