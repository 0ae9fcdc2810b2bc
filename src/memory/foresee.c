#include "memory/snapshot_parts.h"

#include <string.h>

/* True where the copy finds the memory there when the stream comes to it: a free waits for the GPU.
 * Pooled and mapped memory may be gone by then, if the kernel does not use it, and variables of
 * other modules. */
static bool stays_until_copied(const struct gp_reached *r, const void *module)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct gp_range_facts *facts = &r->ranges.facts[r->list[i]];
        bool is_own = facts->kind == GP_BUFFER_GLOBAL && facts->owner == module && !facts->managed;
        if (facts->kind != GP_BUFFER_DEVICE && !is_own)
            return false;
    }
    return true;
}

static bool reach_roots(struct gp_snapshot *s, const struct gp_reach *launch)
{
    const char *why;
    struct gp_reached *r = &s->reached;
    gp_reached_clear(r);
    return launch->parameters_known && !launch->everything &&
           gp_arrays_list(&s->arrays, s->context, &why) && !s->arrays.count &&
           gp_reached_update(r, s->context, s->device) &&
           gp_reach_from_parameters(r, launch, s->pageable, &why) &&
           gp_reach_from_modules(r, launch) && gp_reached_is_ours(r, &why) && !r->out_of_memory &&
           r->count <= GP_FEW_SEGMENTS && stays_until_copied(r, launch->module);
}

static bool take_room(struct gp_snapshot *s)
{
    gp_arena_clear(&s->arena);
    gp_segments_clear(&s->restored);
    gp_segments_clear(&s->watched);
    if (!gp_arena_fits(&s->arena, s->reached.needed))
        return false;
    for (size_t i = 0; i < s->reached.count; i++) {
        const struct gp_range *range = &s->reached.ranges.ranges[s->reached.list[i]];
        uint64_t bytes = range->end - range->start;
        uint64_t saved = gp_arena_take(&s->arena, range->start, &bytes);
        if (!saved || bytes < range->end - range->start ||
            !gp_segments_add(&s->restored, range->start, saved, bytes, range->start))
            return false;
    }
    return true;
}

struct gp_held_copy *gp_snapshot_foresee(struct gp_snapshot *s, const struct gp_reach *launch)
{
    bool foreseen = reach_roots(s, launch) && take_room(s);
    return foreseen ? gp_snapshot_hold(s) : NULL;
}

CUresult gp_held_copy_make_on(const struct gp_snapshot *s, const struct gp_held_copy *copy,
                              CUstream stream, bool per_thread)
{
    const struct gp_own_kernel *kernel = &s->own.copy_few;
    struct gp_few_segments few;
    uint32_t count = (uint32_t)copy->segments.count;
    uint64_t units = copy->segments.units;
    void *arguments[] = {&few, &count, &units};
    if (!count)
        return CUDA_SUCCESS;
    memset(&few, 0, sizeof(few));
    memcpy(few.of, copy->segments.list, count * sizeof(*few.of));
    unsigned blocks = units < kernel->blocks ? (unsigned)units : kernel->blocks;
    return gp_own_kernel_start_on(stream, per_thread, kernel->function, blocks, GP_UNIT_THREADS,
                                  arguments);
}

/* The copies, to be searched where they lie. The search copies as well: each onto itself. */
static bool list_copies(struct gp_segments *list, const struct gp_held_copy *copy)
{
    gp_segments_clear(list);
    for (size_t i = 0; i < copy->segments.count; i++) {
        const struct gp_segment *segment = &copy->segments.list[i];
        uint64_t before = segment->live - segment->start;
        if (!gp_segments_add(list, segment->saved, segment->saved, segment->bytes,
                             segment->saved - before))
            return false;
    }
    return true;
}

/* Copies that were found to point to themselves are no news. */
static bool is_all_copied(const struct gp_snapshot *s, const struct gp_held_copy *copy)
{
    const struct gp_answer *answer = s->own.host_answer;
    if (answer->found > GP_FOUND_AT_ONCE)
        return false;
    for (uint32_t i = 0; i < answer->found; i++) {
        uint32_t found = answer->at_once[i];
        if (found >= s->reached.ranges.count) /* it cannot be right */
            return false;
        const struct gp_range *range = &s->reached.ranges.ranges[found];
        if (!gp_held_copy_reaches(copy, range->start, range->end - range->start))
            return false;
    }
    return true;
}

bool gp_held_copy_is_whole(struct gp_snapshot *s, const struct gp_held_copy *copy, bool *whole,
                           const char **why)
{
    struct gp_segments *list = &s->watched;
    gp_snapshot_set_in_use(s, true);
    gp_reached_clear(&s->reached);
    *why = GP_OUT_OF_MEMORY;
    bool searched =
        gp_reached_update(&s->reached, s->context, s->device) && list_copies(list, copy) &&
        gp_worked(gp_answer_clear(&s->own), why) &&
        gp_worked(gp_lookup_update(&s->lookup, &s->reached.ranges, s->own.stream), why) &&
        gp_worked(gp_snapshot_copy_new(s, list, true), why);
    CUresult answered = gp_answer_fetch(&s->own);
    gp_segments_clear(list);
    if (!searched || !gp_worked(answered, why))
        return false;
    *whole = is_all_copied(s, copy);
    return true;
}
