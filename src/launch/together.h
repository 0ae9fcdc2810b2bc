/* Held launches that are counted together (counters/batch.h). Used in a drain. */
#ifndef GPUPROF_LAUNCH_TOGETHER_H
#define GPUPROF_LAUNCH_TOGETHER_H

#include "launch/measurement.h"

/* Makes a step of the bundle of which this launch is the first, or its blank. False where it was
 * not made; the reason is in that launch. */
bool count_together(struct gp_measurement *first, const struct gp_step *step);

#endif
