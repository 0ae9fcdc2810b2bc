/* The memory that copies lie in: on the device while the budget has room there, the rest in
 * page-locked host memory. Room is given out from the front; all are taken back at once, but for
 * those on the device that are held for launches to be replayed later. Owns that memory. Used with
 * the context current, one thread at a time. */
#ifndef GPUPROF_MEMORY_ARENA_H
#define GPUPROF_MEMORY_ARENA_H

#include "cuda/driver.h"

#include <stdint.h>

struct gp_arena {
    CUdeviceptr device, host; /* as kernels see it; 0 where there is none */
    void *host_memory;
    uint64_t device_size, host_size; /* bytes */
    uint64_t device_used, host_used;
    uint64_t device_held; /* of the used room: not taken back before it is released */
    /* The bytes of other memory that shares the budget; its owner sets them before the arena is
     * used. */
    uint64_t device_elsewhere, host_elsewhere;
    bool refused;       /* the budget, or the memory, did not allow for it */
    bool for_many;      /* copies of many launches lie in it at once */
    uint64_t too_small; /* it was, with so many bytes on the device; 0: it was not */
    uint64_t too_large; /* there is no batch of launches with so many bytes each; 0: not known */
    uint64_t left;      /* on the device to the arena beside it, when it was made */
    bool halved;        /* that was too little once: since then both have as much */
};

/* To drain a batch takes tens of milliseconds: launches are not held where copies of fewer fit. A
 * launch with large copies takes long itself, and a pass that compares it many times as long: so
 * few are enough. */
#define GP_LEAST_BATCH 4

/* True where so many bytes, those of one launch, leave room for a batch of such launches. */
bool arena_suits_batch(const struct gp_arena *arena, uint64_t bytes);

/* Bytes to count on for the copy of a buffer of so many. */
uint64_t arena_need(uint64_t bytes);

/* Makes room for copies that need `bytes` together (the sum of arena_need), beside those that
 * are held; where copies of many launches lie in it, for a batch of such launches if the budget
 * allows. *moved becomes true when room given out before is gone. False, with the reason in
 * *why, where the budget or the memory does not allow for it; with the cause ROOM_HELD where it may
 * without those that are held. The budget is for this arena and `beside` together. */
bool arena_reserve(struct gp_arena *arena, const struct gp_arena *beside, uint64_t bytes,
                   bool *moved, struct gp_reason *why);

/* True where copies that need so many bytes fit beside those that are held, on the device and as it
 * is. */
bool arena_fits(const struct gp_arena *arena, uint64_t bytes);

/* Takes all room back that is not held. */
void arena_clear(struct gp_arena *arena);

/* Holds all room given out, until they are released together. False where some are on the host:
 * a copy there costs the launch as long as the bus takes, each time. */
bool arena_hold(struct gp_arena *arena);
void arena_release(struct gp_arena *arena);

/* Room for the copy of the memory at `live`, equal to it modulo GP_COPY_ALIGNMENT. *bytes becomes
 * less where only a part fits there: then the rest gets room of its own. 0 where there is none
 * left, which arena_reserve excludes. */
uint64_t arena_take(struct gp_arena *arena, uint64_t live, uint64_t *bytes);

void arena_free(struct gp_arena *arena);

/* True when the current device has so many bytes to spare. */
bool arena_has_room(uint64_t bytes);

#endif
