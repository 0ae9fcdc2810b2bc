/* Which code a launch runs. The modules of a program may hold kernels that have one name and
 * different code: static functions of two files, or all that a program compiles while it runs. */
#ifndef GPUPROF_COUNTERS_RUN_CODE_H
#define GPUPROF_COUNTERS_RUN_CODE_H

#include "counters/collector.h"

/* The launch's shape with its kernel's code: equal for two launches of kernels of one name only
 * where the code is the same, for compute capability cc / 10. Where that is not known, only for
 * launches of one loaded kernel. To find the code a module's image is unpacked: `reads_code` says
 * whether it may be. */
uint64_t gp_run_shape_and_code(const struct gp_run *run, int cc, bool reads_code);

#endif
