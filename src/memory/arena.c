/* The memory that copies lie in: on the device while the budget has room there, the rest in
 * page-locked host memory. Room is given out from the front; all are taken back at once, but for
 * those on the device that are held for launches to be replayed later. Owns that memory. Used with
 * the context current, one thread at a time. */
#include "memory/inside.h"

#include "base/host_memory.h"
#include "memory/work.h"

/* Memory is had in pieces of this size, so that a little more is not a new allocation each time. */
#define STEP_BYTES ((uint64_t)2 << 20)
/* Where copies of many launches are to lie in it, it is made for so many like the one that asks, or
 * for more of them up to so many bytes or a part of the room. Where that was too little it becomes
 * twice as large. */
#define FIRST_LAUNCHES 16
#define MOST_LAUNCHES 64
#define FIRST_BYTES ((uint64_t)1 << 30)
#define FIRST_PART 4

/* Each buffer's changes take whole units. */
#define LEAST_BESIDE ((uint64_t)4 << 20)

uint64_t arena_need(uint64_t bytes)
{
    return bytes + 2 * GP_COPY_ALIGNMENT;
}

void arena_clear(struct gp_arena *arena)
{
    arena->device_used = arena->device_held;
    arena->host_used = 0;
}

bool arena_hold(struct gp_arena *arena)
{
    if (arena->host_used)
        return false;
    arena->device_held = arena->device_used;
    return true;
}

void arena_release(struct gp_arena *arena)
{
    arena->device_held = 0;
}

void arena_free(struct gp_arena *arena)
{
    if (arena->device)
        gp_cuda.cuMemFree_v2(arena->device);
    if (arena->host_memory)
        gp_cuda.cuMemFreeHost(arena->host_memory);
    *arena = (struct gp_arena){.for_many = arena->for_many,
                               .device_elsewhere = arena->device_elsewhere,
                               .host_elsewhere = arena->host_elsewhere,
                               .refused = arena->refused};
}

static uint64_t free_on_device(void)
{
    size_t free = 0, total = 0;
    return gp_cuda.cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS ? free : 0;
}

bool arena_suits_batch(const struct gp_arena *arena, uint64_t bytes)
{
    return bytes <= arena->device_size / GP_LEAST_BATCH;
}

bool arena_fits(const struct gp_arena *arena, uint64_t bytes)
{
    return bytes <= arena->device_size - arena->device_held && arena_suits_batch(arena, bytes) &&
           !arena->too_small;
}

bool arena_has_room(uint64_t bytes)
{
    return free_on_device() >= bytes + GP_DEVICE_RESERVE;
}

static void get_device_memory(struct gp_arena *arena, uint64_t bytes)
{
    if (bytes && own_memory(&arena->device, bytes) == CUDA_SUCCESS)
        arena->device_size = bytes;
}

static bool get_host_memory(struct gp_arena *arena, uint64_t bytes)
{
    if (gp_cuda.cuMemHostAlloc(&arena->host_memory, bytes,
                               CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE) !=
        CUDA_SUCCESS) {
        arena->host_memory = NULL;
        return false;
    }
    arena->host_size = bytes;
    return gp_cuda.cuMemHostGetDevicePointer_v2(&arena->host, arena->host_memory, 0) ==
           CUDA_SUCCESS;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The arena's part of the budget that it shares. */
static struct gp_room room_for(const struct gp_arena *arena, const struct gp_arena *beside)
{
    uint64_t device = beside->device_size + arena->device_elsewhere;
    uint64_t host = beside->host_size + arena->host_elsewhere;
    struct gp_room room = memory_budget(free_on_device() + arena->device_size + device,
                                        gp_host_free() + arena->host_size + host);
    room.device -= least(room.device, device);
    room.host -= least(room.host, host);
    return room;
}

bool arena_may_have(const struct gp_arena *arena, const struct gp_arena *beside, uint64_t bytes)
{
    return bytes <= arena->device_size || bytes <= arena_most(arena, beside);
}

uint64_t arena_most(const struct gp_arena *arena, const struct gp_arena *beside)
{
    return room_for(arena, beside).device;
}

static void note_too_large(struct gp_arena *arena, uint64_t bytes)
{
    if (!arena->too_large || bytes < arena->too_large)
        arena->too_large = bytes;
}

/* True where the changes of a launch with so many bytes fit beside the copies, or hardly better if
 * these had less room. */
static bool leaves_room(const struct gp_arena *arena, uint64_t bytes)
{
    uint64_t half = (arena->device_size + arena->left) / 2;
    return !arena->for_many || bytes <= arena->left ||
           arena->device_size <= (bytes <= half ? half : bytes + bytes / 4);
}

bool arena_reserve(struct gp_arena *arena, const struct gp_arena *beside, uint64_t bytes,
                   bool *moved, struct gp_reason *why)
{
    *moved = false;
    /* Where the device's part ends and the host's begins one copy may be cut in two. */
    uint64_t cut = arena->host_size ? 2 * GP_COPY_ALIGNMENT : 0;
    bool fits = bytes + cut <= arena->device_size - arena->device_held + arena->host_size;
    bool suits = !arena->for_many || arena_suits_batch(arena, bytes) ||
                 (arena->too_large && bytes >= arena->too_large);
    bool leaves = leaves_room(arena, bytes);
    if (fits && suits && leaves && (arena->device_held || !arena->too_small))
        return true;
    if (arena->device_held) {
        if (!fits || !suits)
            arena->too_small = arena->device_size;
        *why = GP_REASON(ROOM_HELD);
        return false;
    }
    struct gp_room room = room_for(arena, beside);
    /* Memory that is not needed now is left to the arena beside it: where copies of many launches
     * lie here, that one holds the changes of a single one. */
    uint64_t spare = room.device / 2, of_one = bytes + bytes / 2 + LEAST_BESIDE;
    leaves = leaves || bytes > room.device;
    arena->halved = arena->halved || !leaves;
    if (arena->for_many && !arena->halved && of_one < spare)
        spare = room.device - of_one;
    uint64_t needed = suits ? 2 * arena->too_small : bytes * GP_LEAST_BATCH;
    if (fits && leaves && (!needed || needed > spare)) {
        arena->too_small = 0;
        if (!suits)
            note_too_large(arena, bytes);
        return true;
    }
    if (bytes > room.device + room.host) {
        uint64_t others = beside->device_size + beside->host_size;
        *why = memory_budget_exceeded(bytes + others, room.device + room.host + others);
        arena->refused = true;
        return false;
    }
    /* Half as much again, so that a growing need does not make it anew at each launch. */
    uint64_t wanted = bytes + bytes / 2;
    if (arena->for_many) {
        wanted = least(bytes * MOST_LAUNCHES, most(FIRST_BYTES, room.device / FIRST_PART));
        wanted = most(most(wanted, bytes * FIRST_LAUNCHES), 2 * arena->too_small);
    }
    wanted += STEP_BYTES - wanted % STEP_BYTES;
    *moved = true;
    const struct gp_arena before = *arena;
    arena_free(arena);
    arena->too_large = before.too_large;
    arena->halved = before.halved;
    get_device_memory(arena, least(least(wanted, room.device), spare > bytes ? spare : bytes));
    if (!arena->device && bytes <= room.device)
        get_device_memory(arena, bytes);
    arena->left = room.device + beside->device_size - least(room.device, arena->device_size);
    if (!arena_suits_batch(arena, bytes))
        note_too_large(arena, bytes);
    uint64_t rest = bytes - least(bytes, arena->device_size);
    if (rest == 0)
        return true;
    rest += 2 * GP_COPY_ALIGNMENT;
    if (rest <= room.host && get_host_memory(arena, rest))
        return true;
    /* Memory that would not be enough is left to the program. */
    arena->refused = true;
    arena_free(arena);
    *why = GP_REASON(NO_ROOM);
    return false;
}

/* The first offset not before `used` at which a copy may lie. */
static uint64_t offset_for(uint64_t base, uint64_t used, uint64_t live)
{
    return used + (live - base - used) % GP_COPY_ALIGNMENT;
}

uint64_t arena_take(struct gp_arena *arena, uint64_t live, uint64_t *bytes)
{
    uint64_t offset = offset_for(arena->device, arena->device_used, live);
    if (offset < arena->device_size) {
        uint64_t left = arena->device_size - offset;
        /* A part ends at a cache line of the original. */
        if (*bytes > left)
            left -= least(left, (live + left) % GP_COPY_ALIGNMENT);
        if (left) {
            *bytes = least(*bytes, left);
            arena->device_used = offset + *bytes;
            return arena->device + offset;
        }
    }
    offset = offset_for(arena->host, arena->host_used, live);
    if (offset >= arena->host_size || *bytes > arena->host_size - offset)
        return 0;
    arena->host_used = offset + *bytes;
    return arena->host + offset;
}
