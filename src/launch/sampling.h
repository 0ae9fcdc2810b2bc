/* Which launches are measured: GPUPROF_SAMPLE, for each kernel and launch configuration. Owns the
 * way from a launch to its counts, which is short: most launches go no further. From any thread. */
#ifndef GPUPROF_LAUNCH_SAMPLING_H
#define GPUPROF_LAUNCH_SAMPLING_H

#include "base/sample.h"
#include "launch/launch.h"
#include "launch/tallies.h"

#include <stdint.h>

/* Until this is said, every launch is measured. Before the first launch. */
void sampling_start(const struct gp_sample *sample);

/* Counts a launch that is about to be made, in the context that is current. True when it is to be
 * measured; *turn (may be NULL) is then how many launches of the same kernel and configuration were
 * to be measured before it. */
bool gp_sampling_takes(const struct gp_launch *call, uint64_t *turn);

/* One that was to be measured could not be, and has no record. */
void gp_sampling_passed_over(const struct gp_launch *call, enum gp_passed_over why);

/* Handles of functions or contexts are about to be given to others. The counts stay. */
void sampling_forget(void);

#endif
