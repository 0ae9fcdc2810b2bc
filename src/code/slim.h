/* A cubin of one function: its code and, where there is one, the line table, without anything else.
 */
#ifndef GPUPROF_CODE_SLIM_H
#define GPUPROF_CODE_SLIM_H

#include "code/cubin.h"

/* A cubin of *size bytes, to be freed; NULL where the function is not in it, where it would be
 * larger than `most`, or when out of memory. */
void *gp_cubin_slim(const struct gp_cubin *cubin, const char *function, size_t most, size_t *size);

#endif
