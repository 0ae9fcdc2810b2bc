/* How much memory is free on the host. */
#ifndef GPUPROF_BASE_HOST_MEMORY_H
#define GPUPROF_BASE_HOST_MEMORY_H

#include <stdint.h>

/* Bytes that this process may still take: the free memory of the machine, or the rest within the
 * limits of its control groups, whichever is least. Page-locked memory beyond these ends the
 * program. */
uint64_t gp_host_free(void);

/* The part of `most` bytes that control groups leave. `groups` is a file as /proc/self/cgroup; the
 * hierarchies are mounted at `root`: version 2 there, version 1 in `root`/memory. */
uint64_t gp_host_free_in_groups(uint64_t most, const char *groups, const char *root);

#endif
