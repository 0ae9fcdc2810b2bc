/* Launches that were not (fully) measured, in words: reasons that are alike once, for all kernels.
 */
#ifndef GPUPROF_REPORT_SKIPS_H
#define GPUPROF_REPORT_SKIPS_H

#include "report/summary.h"

/* Appends "176 launches of k and 52 more kernels: reason" for the first reason, and those like it,
 * at or behind *next, which is 0 to begin with and goes on behind it; of the reason the first
 * `most` bytes, 0: all. Returns the number of launches, or 0 where there is no further reason. */
uint64_t gp_skips_next(const struct gp_summary *s, size_t *next, size_t most, struct gp_text *out);

#endif
