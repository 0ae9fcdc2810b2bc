/* A cubin without what is of no use to who looks up source lines: one function's code, the line
 * table and the symbols stay, all other sections are there in name only. Owns nothing; calls
 * code/cubin. */
#ifndef GPUPROF_CODE_SLIM_H
#define GPUPROF_CODE_SLIM_H

#include "code/cubin.h"

/* A cubin of *size bytes, to be freed; NULL where the function is not in it, where it would be
 * larger than `most`, or where memory runs out. */
void *gp_cubin_slim(const struct gp_cubin *cubin, const char *function, size_t most, size_t *size);

#endif
