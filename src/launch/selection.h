/* Which launches the user asks for: by the kernel's name, device, context,
 * stream, the number of the launch. Owns the counts for that. From any thread. */
#ifndef GPUPROF_LAUNCH_SELECTION_H
#define GPUPROF_LAUNCH_SELECTION_H

#include "launch/launch.h"

#include <stdbool.h>

/* Reads GPUPROF_KERNELS, GPUPROF_DEVICES and GPUPROF_LAUNCHES, and reports mistakes in them. Until
 * this is called every launch is taken. Before the first launch. */
void selection_read(void);

/* True when the user wants this kernel (its mangled or its demangled name matches GPUPROF_KERNELS).
 */
bool selection_wants(const char *kernel);

/* Asked once for each launch that is about to be made, in the context that is current. */
bool gp_selection_takes(const struct gp_launch *call);

/* At the end: says so where no kernel was wanted of those that were launched. */
void selection_end(void);

#endif
