/* Which launches of the selected kernels the user asks for: by device, context, stream, the number
 * of the launch. Owns the counts for that. From any thread. */
#ifndef GPUPROF_LAUNCH_SELECTION_H
#define GPUPROF_LAUNCH_SELECTION_H

#include "base/kernel_filter.h"
#include "launch/launch.h"

#include <stdbool.h>

/* Reads GPUPROF_DEVICES and GPUPROF_LAUNCHES; context, stream and invocation are the filter's.
 * Until this is called every launch is taken. Before the first launch. */
void gp_selection_read(const struct gp_kernel_filter *filter);

/* Asked once for each launch that is about to be made, in the context that is current. */
bool gp_selection_takes(const struct gp_launch *call);

#endif
