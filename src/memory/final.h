/* The final state of a launch: memory as the program's own run left it. It is kept aside before the
 * first replay, in whole units (memory/work.h) and only those that the run has changed, and put
 * back after the last one. So memory is the program's own even where two runs of a kernel differ.
 *
 * Owns the room for it, which is kept from launch to launch. Used with the context current, one
 * thread at a time. */
#ifndef GPUPROF_MEMORY_FINAL_H
#define GPUPROF_MEMORY_FINAL_H

#include "memory/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_final {
    CUdeviceptr positions; /* uint32_t by unit: 1 + where its content is kept, 0: it is not */
    size_t positions_capacity;
    struct gp_arena arena;        /* the contents */
    uint32_t on_device, capacity; /* units that have room on the device, and in all */
};

/* Makes room for `kept` of `units` units and forgets the units that were kept, in the order of the
 * stream. False, with the reason in *why, where there is none. `beside`: the arena that shares the
 * budget. */
bool final_prepare(struct gp_final *final, const struct gp_arena *beside, uint64_t units,
                   uint32_t kept, CUstream stream, struct gp_reason *why);

/* Makes room for contents of the caller's, `bytes` together (the sum of arena_need), which it
 * takes from the arena. They stay until the next launch is prepared. False with the reason. */
bool final_lend(struct gp_final *final, const struct gp_arena *beside, uint64_t bytes,
                struct gp_reason *why);

/* Gives the contents' memory back: the next launch makes room anew. */
void final_release(struct gp_final *final);
/* And all else, if the context still lives. */
void final_free(struct gp_final *final, bool context_alive);

/* Bytes of device memory that a release gives back. */
uint64_t final_held(const struct gp_final *final);

#endif
