#include "memory/inside.h"

#include <stdlib.h>

bool gp_snapshot_reaches_managed(const struct gp_snapshot *s)
{
    for (size_t i = 0; i < s->reached.count; i++)
        if (s->reached.ranges.facts[s->reached.list[i]].managed)
            return true;
    return false;
}

bool gp_snapshot_reaches_direct(const struct gp_snapshot *s)
{
    for (size_t i = 0; i < s->reached.count; i++)
        if (s->reached.ranges.facts[s->reached.list[i]].direct)
            return true;
    return false;
}

bool gp_snapshot_reaches_host(const struct gp_snapshot *s)
{
    return s->watched.count != 0;
}

bool gp_snapshot_may_host_write(const struct gp_snapshot *s)
{
    return gp_snapshot_reaches_host(s) || gp_snapshot_reaches_managed(s);
}

/* Divided memory that other GPUs can write: its digests show whether they did before the launch is
 * replayed. Memory of another GPU is not held, as its access may end. */
static bool may_gpus_write_meanwhile(const struct gp_snapshot *s)
{
    const struct gp_reached *r = &s->reached;
    bool foreign = false;
    for (size_t i = 0; i < r->count; i++)
        foreign = foreign || r->ranges.facts[r->list[i]].kind == GP_BUFFER_FOREIGN;
    return s->divided_count && !foreign;
}

struct gp_reason gp_snapshot_not_to_be_held(const struct gp_snapshot *s)
{
    if (!arena_suits_batch(&s->arena, s->reached.needed))
        return GP_REASON_TEXT(ROOM_HELD, "copies of a few such launches would fit at once");
    if (s->watched.count)
        return GP_REASON_TEXT(HOST_MEMORY, "the launch reaches page-locked host memory");
    if (s->arrays.count)
        return GP_REASON_TEXT(ARRAYS, "arrays can be written through surfaces");
    if (gp_snapshot_reaches_other_gpus(s) && !may_gpus_write_meanwhile(s))
        return GP_REASON_TEXT(SHARED_MEMORY, "other GPUs may write the launch's memory meanwhile");
    if (gp_snapshot_reaches_direct(s))
        return GP_REASON_TEXT(SHARED_MEMORY,
                              "the launch reaches memory that other devices access directly");
    return gp_snapshot_reaches_managed(s)
               ? GP_REASON_TEXT(HOST_MEMORY, "the launch reaches managed memory")
               : GP_NO_REASON;
}

/* Room on the device alone; other room is given back. */
static bool lend(struct gp_snapshot *s, uint64_t bytes)
{
    struct gp_reason why;
    const bool lent = final_lend(&s->final, &s->arena, bytes, &why) && !s->final.arena.host_size;
    if (!lent)
        final_release(&s->final);
    return lent;
}

/* Room for the present contents of all that the copies replace, that of the launch at hand too. Of
 * divided memory all copies replace some at once. */
static uint64_t present_room(const struct gp_snapshot *s)
{
    return s->reached.needed + (s->divided_count ? s->versions.bytes + guard_room(s) : 0);
}

bool held_copy_has_room(const struct gp_snapshot *s)
{
    return arena_fits(&s->arena, s->reached.needed) && !s->final.arena.host_size &&
           s->final.arena.device_size >= present_room(s);
}

/* As much as there are copies, or as there may be, from the first one on: to make gigabytes of room
 * anew for each launch takes tens of milliseconds. Where that is not to be had it is not asked for
 * again. */
static bool lend_all(struct gp_snapshot *s, uint64_t needed, uint64_t most)
{
    const uint64_t wanted = s->arena.device_size + guard_room(s);
    const uint64_t all = most < wanted ? most : wanted;
    const uint64_t short_of = s->versions.short_of;
    if (needed > all || (short_of && all >= short_of))
        return false;
    if (lend(s, all))
        return true;
    s->versions.short_of = all;
    return false;
}

/* In the drain there may be no room any more for the memory that the copy replaces. */
static bool lend_room(struct gp_snapshot *s)
{
    const uint64_t needed = present_room(s);
    struct gp_reason why;
    if (!s->divided_count)
        return final_lend(&s->final, &s->arena, s->reached.needed, &why) &&
               !s->final.arena.host_size;
    if (s->final.arena.host_size)
        final_release(&s->final);
    if (needed <= s->final.arena.device_size)
        return true;
    const uint64_t most = arena_most(&s->final.arena, &s->arena);
    return lend_all(s, needed, most) || (needed <= most && lend(s, needed));
}

struct gp_held_copy *gp_snapshot_hold(struct gp_snapshot *s)
{
    return lend_room(s) ? held_copy_make(s) : NULL;
}

struct gp_held_copy *held_copy_make(struct gp_snapshot *s)
{
    struct gp_held_copy *copy = calloc(1, sizeof(*copy));
    if (!copy)
        return NULL;
    copy->number = ++s->versions.made;
    bool ok = segments_copy(&copy->segments, &s->restored) && guard_list(s, &copy->guarded) &&
              divide_note_copy(s, copy) && arena_hold(&s->arena) &&
              (!copy->divided_count || versions_enter(s, copy));
    if (!ok) {
        held_copy_free(copy);
        return NULL;
    }
    copy->bytes = s->reached.bytes;
    copy->of_gpus = gp_snapshot_reaches_other_gpus(s);
    copy->made = s->freed.now;
    snapshot_set_held(s, s->held + 1);
    return copy;
}

uint64_t gp_held_copy_bytes(const struct gp_held_copy *copy)
{
    return copy->bytes;
}

bool gp_held_copy_reaches(const struct gp_held_copy *copy, CUdeviceptr address, uint64_t bytes)
{
    for (size_t i = 0; i < copy->divided_count; i++)
        if (address < copy->divided[i]->end && copy->divided[i]->start < address + bytes)
            return true;
    return segments_reach(&copy->segments, address, bytes);
}

void gp_snapshot_release(struct gp_snapshot *s, struct gp_held_copy *copy)
{
    if (!copy)
        return;
    if (copy->order)
        copy->released = true; /* launches before it need it */
    else
        held_copy_free(copy);
    snapshot_set_held(s, s->held - 1);
    if (s->held)
        return;
    versions_clear(s);
    arena_release(&s->arena);
}
