/* A copy of everything a kernel can write, taken before it runs, compared after it has run, written
 * back before it runs again. Owns the memory it copies into: on the device while there is room,
 * else page-locked host memory; kept from launch to launch, given back when the program needs it.
 *
 * Used with the gate closed and the context idle and current; one thread at a time. */
#ifndef GPUPROF_MEMORY_SNAPSHOT_H
#define GPUPROF_MEMORY_SNAPSHOT_H

#include "cuda/driver.h"

#include <stdint.h>

struct gp_snapshot; /* one per context */

/* NULL, with the reason in *why, where our kernels cannot be loaded. */
struct gp_snapshot *gp_snapshot_open(CUcontext context, const char **why);
/* Frees our memory in the context, unless the context is gone already. */
void gp_snapshot_close(struct gp_snapshot *s, bool context_alive);

/* Copies all buffers. False, with the reason in *why, where there is no room or something failed.
 */
bool gp_snapshot_take(struct gp_snapshot *s, const char **why);
uint64_t gp_snapshot_bytes(const struct gp_snapshot *s); /* size of what was copied */

/* Finds what has changed since, in chunks of GP_CHUNK_BYTES. */
bool gp_snapshot_compare(struct gp_snapshot *s, const char **why);
/* Writes that back. */
bool gp_snapshot_restore(struct gp_snapshot *s, const char **why);
uint64_t gp_snapshot_changed_bytes(const struct gp_snapshot *s); /* found by the last compare */

/* True when page-locked host memory was among it. Whether the kernel wrote there or the host did
 * meanwhile cannot be told, so it is never written back, and the kernel must not run again. */
bool gp_snapshot_host_changed(const struct gp_snapshot *s);

/* The launch is over: the copy is of no more use, its memory may be given back. */
void gp_snapshot_done(struct gp_snapshot *s);

/* Empties the L2 cache of all that the program and we have put there. False where there is no
 * memory for it. */
bool gp_snapshot_flush_caches(struct gp_snapshot *s);

/* The program has run out of device memory: gives back all of ours that no replay is using now, in
 * every context. True when that was any. From any thread. */
bool gp_snapshot_release_memory(void);
/* Bytes of device memory that could be given back that way, on the current device. */
size_t gp_snapshot_held_memory(void);

#endif
