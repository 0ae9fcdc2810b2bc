/* Which launches the user asks for: by the kernel's name, device, context,
 * stream, the number of the launch. Owns the counts for that. From any thread. */
#ifndef GPUPROF_LAUNCH_SELECTION_H
#define GPUPROF_LAUNCH_SELECTION_H

#include "base/sample.h"
#include "launch/launch.h"

#include <stdbool.h>

/* Asked once for each launch that is about to be made, in the context that is current. */
bool gp_selection_takes(const struct gp_launch *call);

/* Counts a launch that is about to be made, in the context that is current. True when it is to be
 * measured; *turn (may be NULL) is then how many launches of the same kernel and configuration were
 * to be measured before it. */
bool gp_sampling_takes(const struct gp_launch *call, uint64_t *turn);

/* One that was to be measured could not be, and has no record. */
void gp_sampling_passed_over(const struct gp_launch *call, enum gp_passed_over why);

#endif
