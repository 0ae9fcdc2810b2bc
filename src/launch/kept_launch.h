/* A launch that can be made again when the program's own call has long returned: with its
 * parameters, and through cuLaunchKernelEx, which takes every kind of launch. */
#ifndef GPUPROF_LAUNCH_KEPT_LAUNCH_H
#define GPUPROF_LAUNCH_KEPT_LAUNCH_H

#include "launch/launch.h"

#include <stddef.h>

/* The launch as cuLaunchKernelEx takes it, with none of the attributes yet. */
CUlaunchConfig gp_launch_config(const struct gp_launch *call, CUlaunchAttribute *attributes);

/* A copy of the call with `size` bytes of parameters as the device sees them; to be freed. NULL
 * where it has an attribute that cannot be repeated later (an event of the program's, say), or
 * out of memory. */
struct gp_launch *launch_keep(const struct gp_launch *call, const void *parameters, size_t size);

/* Adds the attributes on which it depends how much a launch finds in the caches. */
uint64_t launch_hash_caches(const struct gp_launch *call, uint64_t hash);

#endif
