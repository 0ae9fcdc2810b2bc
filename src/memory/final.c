/* The final state of a launch: memory as the program's own run left it. It is kept aside before the
 * first replay, in whole units (memory/work.h) and only those that the run has changed, and put
 * back after the last one. So memory is the program's own even where two runs of a kernel differ.
 *
 * Owns the room for it, which is kept from launch to launch. Used with the context current, one
 * thread at a time. */
#include "memory/inside.h"

#include "memory/work.h"

#include <string.h>

/* Room is made for this many units at least, 1 MB, where a launch reaches as many. */
#define LEAST_UNITS 64u

static void free_positions(struct gp_final *final)
{
    if (final->positions)
        gp_cuda.cuMemFree_v2(final->positions);
    final->positions = 0;
    final->positions_capacity = 0;
}

static bool make_positions(struct gp_final *final, uint64_t units)
{
    if (units <= final->positions_capacity)
        return true;
    free_positions(final);
    uint64_t wanted = units + units / 2;
    if (own_memory(&final->positions, wanted * sizeof(uint32_t)) != CUDA_SUCCESS)
        return false;
    final->positions_capacity = wanted;
    return true;
}

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static bool make_room(struct gp_final *final, const struct gp_arena *beside, uint32_t kept,
                      struct gp_reason *why)
{
    bool moved;
    if (kept <= final->capacity)
        return true;
    final->on_device = final->capacity = 0;
    /* A unit lies in one piece: where the device's part ends one may not fit. */
    if (!arena_reserve(&final->arena, beside, (uint64_t)kept * GP_UNIT_BYTES, &moved, why) ||
        (final->arena.host_size &&
         !arena_reserve(&final->arena, beside, ((uint64_t)kept + 1) * GP_UNIT_BYTES, &moved, why)))
        return false;
    uint64_t on_device = final->arena.device_size / GP_UNIT_BYTES;
    final->on_device = least(on_device, UINT32_MAX);
    final->capacity = least(on_device + final->arena.host_size / GP_UNIT_BYTES, UINT32_MAX);
    return true;
}

bool final_prepare(struct gp_final *final, const struct gp_arena *beside, uint64_t units,
                   uint32_t kept, CUstream stream, struct gp_reason *why)
{
    uint32_t guess = least(units, LEAST_UNITS);
    *why = GP_REASON(NO_ROOM);
    if (!make_positions(final, units))
        return false;
    if ((kept >= guess || !make_room(final, beside, guess, why)) &&
        !make_room(final, beside, kept, why))
        return false;
    if (!units)
        return true;
    CUresult result = gp_cuda.cuMemsetD32Async(final->positions, 0, units, stream);
    if (result != CUDA_SUCCESS)
        *why = gp_cuda_reason(result);
    return result == CUDA_SUCCESS;
}

bool final_lend(struct gp_final *final, const struct gp_arena *beside, uint64_t bytes,
                struct gp_reason *why)
{
    bool moved = false;
    bool lent = arena_reserve(&final->arena, beside, bytes, &moved, why);
    if (moved || !lent)
        final->on_device = final->capacity = 0;
    arena_clear(&final->arena);
    return lent;
}

void final_release(struct gp_final *final)
{
    arena_free(&final->arena);
    final->on_device = final->capacity = 0;
}

void final_free(struct gp_final *final, bool context_alive)
{
    if (context_alive) {
        final_release(final);
        free_positions(final);
    }
    memset(final, 0, sizeof(*final));
}

uint64_t final_held(const struct gp_final *final)
{
    return final->arena.device_size;
}
