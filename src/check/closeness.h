/* How close two subjects are by their configurations alone. */
#ifndef GPUPROF_CHECK_CLOSENESS_H
#define GPUPROF_CHECK_CLOSENESS_H

#include "check/side.h"

/* Whether they have as many threads. */
bool gp_same_threads(const struct gp_side_kernel *a, const struct gp_side_kernel *b);

/* How unlike they are, by their threads first, then blocks, grids, memory and registers; 0: not at
 * all. */
double gp_subject_distance(const struct gp_side_kernel *a, const struct gp_side_kernel *b);

#endif
