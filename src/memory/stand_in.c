#include "memory/inside.h"

#define NO_STAND_IN \
    GP_REASON_TEXT(NO_ROOM, "there is no room for the memory that the graph's second run needs")

void snapshot_free_stand_in(struct gp_snapshot *s)
{
    free_device_memory(&s->stand_in);
    s->stand_in_size = 0;
}

bool gp_snapshot_has_stand_in(const struct gp_snapshot *s, uint64_t bytes)
{
    return s->stand_in && bytes <= s->stand_in_size;
}

/* True where so many bytes fit into the room that copies leave. */
static bool is_in_budget(struct gp_snapshot *s, uint64_t bytes)
{
    size_t free = 0, total = 0;
    snapshot_note_beside(s);
    uint64_t taken = s->arena.device_size + s->final.arena.device_size + s->arena.device_elsewhere;
    return gp_cuda.cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS &&
           bytes + taken <= memory_budget(free + taken, 0).device;
}

CUdeviceptr gp_snapshot_stand_in(struct gp_snapshot *s, uint64_t bytes, struct gp_reason *why)
{
    *why = NO_STAND_IN;
    snapshot_use_stand_in(s, true);
    if (gp_snapshot_has_stand_in(s, bytes))
        return s->stand_in;
    if (s->held)
        return 0;
    snapshot_free_stand_in(s);
    if (is_in_budget(s, bytes) && own_memory(&s->stand_in, bytes) == CUDA_SUCCESS)
        s->stand_in_size = bytes;
    return s->stand_in;
}

void gp_snapshot_stand_in_done(struct gp_snapshot *s)
{
    snapshot_use_stand_in(s, false);
}
