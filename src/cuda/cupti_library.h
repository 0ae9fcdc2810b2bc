/* The files of CUPTI: where they may be, and their loading. Takes no lock of ours. */
#ifndef GPUPROF_CUDA_CUPTI_LIBRARY_H
#define GPUPROF_CUDA_CUPTI_LIBRARY_H

#include "base/cause.h"

#include <stdbool.h>

/* Loads libcupti and the libraries beside it that it needs. `file` and `toolkit` are the values of
 * GPUPROF_CUPTI and CUDA_HOME, NULL or empty where there are none. NULL with the reason in *why. */
void *gp_cupti_open(const char *file, const char *toolkit, struct gp_reason *why);

/* False before the constructors of the program's libraries, where a program may use the driver
 * already. */
bool gp_libraries_have_begun(void);

#endif
