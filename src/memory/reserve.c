#include "memory/inside.h"

/* True where the copy finds the memory there when the stream comes to it: a free waits for the GPU.
 * Pooled and mapped memory may be gone by then, if the kernel does not use it, and variables of
 * other modules. Nor is memory to be replayed later that other devices may access then. */
static bool may_be_copied_there(const struct gp_reached *r, const void *module)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct gp_range_facts *facts = &r->ranges.facts[r->list[i]];
        bool is_own = facts->kind == GP_BUFFER_GLOBAL && facts->owner == module && !facts->managed;
        if ((facts->kind != GP_BUFFER_DEVICE && !is_own) || facts->direct)
            return false;
    }
    return true;
}

static bool reach_roots(struct gp_snapshot *s, const struct gp_reach *launch)
{
    struct gp_reason why;
    struct gp_reached *r = &s->reached;
    reached_clear(r);
    divide_begin(s);
    /* A copy of the whole that knows of no digests is none of a batch with parts. */
    return (launch->kernel || !divided_any(s)) && launch->parameters_known && !launch->everything &&
           arrays_list(&s->arrays, s->context, &why) && !s->arrays.count &&
           reached_update(r, s->context, s->device) &&
           reach_from_parameters(r, launch, s->pageable, &why) && reach_from_modules(r, launch) &&
           reached_is_ours(r, &why) && !r->out_of_memory &&
           may_be_copied_there(r, launch->module) && (!launch->kernel || divide(s, launch, true));
}

static bool take_part(struct gp_snapshot *s, uint64_t from, uint64_t to, CUdeviceptr digests,
                      void *data)
{
    (void)data;
    uint64_t bytes = to - from;
    uint64_t saved = arena_take(&s->arena, from, &bytes);
    if (!saved || bytes < to - from || s->restored.count == GP_FEW_SEGMENTS ||
        !segments_add(&s->restored, from, saved, bytes, from))
        return false;
    segments_note_digests(&s->restored, digests);
    return true;
}

static bool take_room(struct gp_snapshot *s)
{
    bool taken = true;
    arena_clear(&s->arena);
    segments_clear(&s->restored);
    segments_clear(&s->watched);
    if (!held_copy_has_room(s))
        return false;
    for (size_t i = 0; i < s->reached.count && taken; i++) {
        const struct gp_range *range = &s->reached.ranges.ranges[s->reached.list[i]];
        const struct gp_divided *d = divide_find(s, range);
        taken = d ? divide_each_part(s, d, take_part, NULL)
                  : take_part(s, range->start, range->end, 0, NULL);
    }
    return taken;
}

struct gp_held_copy *gp_snapshot_reserve_copy(struct gp_snapshot *s, const struct gp_reach *launch)
{
    bool reserved = reach_roots(s, launch) && take_room(s);
    return reserved ? held_copy_make(s) : NULL;
}

CUresult gp_held_copy_make_on(struct gp_snapshot *s, struct gp_held_copy *copy, CUstream stream,
                              bool per_thread)
{
    held_copy_note_stream(copy, stream, per_thread);
    if (!copy->divided_count)
        return snapshot_copy_few(s, &copy->segments, stream, per_thread);
    CUresult result = snapshot_save_few(s, &copy->segments, copy->number, stream, per_thread);
    if (result != CUDA_SUCCESS)
        versions_spoil_all(s); /* launches before it may need the copy */
    return result;
}

/* The copies, to be searched where they lie. */
static bool list_copies(struct gp_segments *list, const struct gp_held_copy *copy)
{
    segments_clear(list);
    for (size_t i = 0; i < copy->segments.count; i++) {
        const struct gp_segment *segment = &copy->segments.list[i];
        uint64_t before = segment->live - segment->start;
        if (!segments_add(list, segment->saved, segment->saved, segment->bytes,
                          segment->saved - before))
            return false;
    }
    return true;
}

/* Copies that were found to point to themselves are no news, nor is memory that was freed before.
 */
static bool is_all_copied(const struct gp_snapshot *s, const struct gp_held_copy *copy,
                          const struct gp_ranges *ranges, bool is_freed)
{
    const struct gp_answer *answer = s->own.host_answer;
    if (answer->found > GP_FOUND_AT_ONCE)
        return false;
    for (uint32_t i = 0; i < answer->found; i++) {
        uint32_t found = answer->at_once[i];
        if (found >= ranges->count) /* it cannot be right */
            return false;
        const struct gp_range *range = &ranges->ranges[found];
        if ((!is_freed || ranges->facts[found].freed_at > copy->made) &&
            !gp_held_copy_reaches(copy, range->start, range->end - range->start))
            return false;
    }
    return true;
}

/* The memory to which the copies led may have been freed since. */
static bool leads_nowhere(struct gp_snapshot *s, struct gp_segments *copies,
                          const struct gp_held_copy *copy, bool *nowhere, struct gp_reason *why)
{
    struct gp_ranges *freed = &s->freed.ranges;
    bool known, any = freed_after(&s->freed, copy->made, &known);
    *nowhere = known;
    if (!any || !known || !freed->count)
        return true;
    if (!snapshot_search(s, copies, &s->freed.lookup, freed, false, why))
        return false;
    *nowhere = is_all_copied(s, copy, freed, true);
    return true;
}

bool gp_held_copy_is_whole(struct gp_snapshot *s, const struct gp_held_copy *copy, bool *whole,
                           struct gp_reason *why)
{
    struct gp_segments *list = &s->watched;
    gp_snapshot_set_in_use(s, true);
    reached_clear(&s->reached);
    *why = GP_REASON(NO_MEMORY);
    bool searched = reached_update(&s->reached, s->context, s->device) && list_copies(list, copy) &&
                    snapshot_search(s, list, &s->lookup, &s->reached.ranges, false, why);
    *whole = searched && is_all_copied(s, copy, &s->reached.ranges, false);
    searched = searched && (!*whole || leads_nowhere(s, list, copy, whole, why));
    segments_clear(list);
    return searched;
}

void gp_snapshot_note_freed(struct gp_snapshot *s, CUdeviceptr address, uint64_t bytes)
{
    if (buffer_may_concern(address, s->context, s->device))
        freed_add(&s->freed, address, bytes);
}

void gp_snapshot_forget_freed(struct gp_snapshot *s)
{
    freed_clear(&s->freed);
}
