#include "memory/inside.h"

#include <stdlib.h>
#include <string.h>

/* The program's kernels can write our memory on the device, too. */
#define WRONG_ANSWER \
    GP_REASON_TEXT(DRIVER_FAILED, "the answer of gpuprof's own kernel cannot be right")

/* ---- open and close -------------------------------------------------------------------------- */

struct gp_snapshot *gp_snapshot_open(CUcontext context, bool for_many, struct gp_reason *why)
{
    struct gp_snapshot *s = calloc(1, sizeof(*s));
    *why = GP_REASON(NO_MEMORY);
    if (!s)
        return NULL;
    s->context = context;
    s->arena.for_many = for_many;
    s->versions.batch = 1;
    *why = GP_REASON_TEXT(DRIVER_FAILED, "gpuprof's own kernels cannot be loaded");
    if (gp_cuda.cuCtxGetDevice(&s->device) != CUDA_SUCCESS ||
        gp_cuda.cuStreamCreate(&s->own.stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        !gp_event_make(&s->idle, CU_EVENT_DISABLE_TIMING) ||
        !own_kernels_load(&s->own, s->device)) {
        gp_snapshot_close(s, true);
        return NULL;
    }
    s->pageable = gp_device_attribute(s->device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0;
    snapshot_list(s);
    return s;
}

void gp_snapshot_close(struct gp_snapshot *s, bool context_alive)
{
    if (!s)
        return;
    snapshot_unlist(s);
    lookup_free(&s->lookup, context_alive);
    freed_close(&s->freed, context_alive);
    segments_free(&s->restored, context_alive);
    segments_free(&s->watched, context_alive);
    segments_free(&s->hashed, context_alive);
    segments_free(&s->present, context_alive);
    order_free(&s->present_order);
    segments_free(&s->moves, context_alive);
    segments_free(&s->unit_moves, context_alive);
    final_free(&s->final, context_alive);
    if (context_alive) {
        arena_free(&s->arena);
        free_device_memory(&s->hashes);
        free_device_memory(&s->scratch);
        snapshot_free_stand_in(s);
        own_kernels_close(&s->own);
        if (s->idle)
            gp_cuda.cuEventDestroy_v2(s->idle);
    }
    versions_free(s);
    divided_close(s, context_alive);
    digests_free(&s->digests, context_alive);
    writes_free(&s->learned);
    reached_free(&s->reached);
    arrays_free(&s->arrays);
    free(s->divided);
    free(s->found);
    free(s);
}

void gp_snapshot_leave(struct gp_snapshot *s)
{
    if (s)
        snapshot_unlist(s);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Room for memory of one range; it may come in two pieces, but for units with digests. */
static bool take_room(struct gp_snapshot *s, uint64_t from, uint64_t to, CUdeviceptr digests,
                      void *list)
{
    const uint64_t start = from;
    while (from < to) {
        uint64_t bytes = to - from;
        uint64_t saved = arena_take(&s->arena, from, &bytes);
        if (!saved || (digests && bytes < to - from) ||
            !segments_add(list, from, saved, bytes, start))
            return false;
        segments_note_digests(list, digests);
        from += bytes;
    }
    return true;
}

/* Gives the next reached range its room. */
static bool take_room_for_next(struct gp_snapshot *s)
{
    const struct gp_range *range = &s->reached.ranges.ranges[s->reached.list[s->with_room]];
    struct gp_segments *list =
        reached_is_watched(&s->reached, s->with_room) ? &s->watched : &s->restored;
    const struct gp_divided *d = divide_find(s, range);
    bool taken = d ? divide_each_part(s, d, take_room, list)
                   : take_room(s, range->start, range->end, 0, list);
    s->with_room += taken;
    return taken;
}

static bool take_room_for_reached(struct gp_snapshot *s, struct gp_reason *why)
{
    bool moved = false;
    if (!arena_reserve(&s->arena, &s->final.arena, s->reached.needed, &moved, why))
        return false;
    if (moved || s->with_room == 0) {
        arena_clear(&s->arena);
        segments_clear(&s->restored);
        segments_clear(&s->watched);
        s->with_room = 0;
        s->arrays_saved = false;
        *why = GP_REASON(NO_ROOM);
        if (!arrays_take(&s->arrays, &s->arena))
            return false;
    }
    *why = GP_REASON(NO_MEMORY);
    while (s->with_room < s->reached.count)
        if (!take_room_for_next(s))
            return false;
    return true;
}

/* Copies the segments of the list that were not copied yet, and follows the pointers in them to the
 * ranges of a table; NULL: follows none. */
static CUresult copy_new(struct gp_snapshot *s, struct gp_segments *list,
                         const struct gp_lookup *follow)
{
    if (list->units_done == list->units)
        return CUDA_SUCCESS;
    CUresult result = segments_upload(list, s->own.stream);
    if (result != CUDA_SUCCESS)
        return result;
    uint32_t count = (uint32_t)list->count;
    uint64_t begin = list->units_done;
    CUdeviceptr table = follow ? follow->table : 0;
    void *arguments[] = {&list->table, &count,         &begin,           &list->units,
                         &table,       &s->own.answer, &s->reached.round};
    list->units_done = list->units;
    return own_kernel_start(&s->own, follow ? &s->own.copy_and_follow : &s->own.copy,
                            list->units - begin, arguments);
}

bool snapshot_search(struct gp_snapshot *s, struct gp_segments *list, struct gp_lookup *lookup,
                     struct gp_ranges *ranges, bool goes_on, struct gp_reason *why)
{
    list->units_done = 0;
    bool searched = (goes_on || driver_worked(answer_clear(&s->own), why)) &&
                    driver_worked(lookup_update(lookup, ranges, s->own.stream), why) &&
                    driver_worked(copy_new(s, list, lookup), why);
    CUresult answered = answer_fetch(&s->own);
    return searched && driver_worked(answered, why);
}

/* Copies parts of divided memory, with an alarm where they are not as their digests say. */
static CUresult save_parts(struct gp_snapshot *s)
{
    struct gp_segments few = {0};
    struct gp_segments *all = &s->restored;
    CUresult result = segments_upload(all, s->own.stream); /* to be put back from */
    for (size_t i = 0; i < all->count && result == CUDA_SUCCESS; i += few.count) {
        const size_t left = all->count - i;
        segments_clear(&few);
        for (size_t k = 0; k < left && k < GP_FEW_SEGMENTS; k++) {
            const struct gp_segment *g = &all->list[i + k];
            if (!segments_add(&few, g->live, g->saved, g->bytes, g->start)) {
                segments_free(&few, false);
                return CUDA_ERROR_OUT_OF_MEMORY;
            }
            segments_note_digests(&few, g->digests);
        }
        result = snapshot_save_few(s, &few, versions_next_number(s), s->own.stream, false);
    }
    segments_free(&few, false);
    all->units_done = all->units;
    return result;
}

/* Copies all that is reached and was not copied yet. */
static bool copy_reached(struct gp_snapshot *s, const struct gp_lookup *follow,
                         struct gp_reason *why)
{
    if (!take_room_for_reached(s, why) ||
        !driver_worked(
            s->parts_known && !follow ? save_parts(s) : copy_new(s, &s->restored, follow), why) ||
        !driver_worked(copy_new(s, &s->watched, follow), why))
        return false;
    if (!s->arrays_saved && !driver_worked(arrays_save(&s->arrays, GP_BEFORE, s->own.stream), why))
        return false;
    s->arrays_saved = true;
    return true;
}

/* Reaches the ranges that were found beyond the first `before`. */
static bool reach_found(struct gp_snapshot *s, uint32_t before, struct gp_reason *why)
{
    uint32_t count = s->own.host_answer->found;
    const uint32_t *found = s->own.host_answer->at_once;
    if (count < before || count > s->reached.ranges.count) {
        *why = WRONG_ANSWER;
        return false;
    }
    if (count > GP_FOUND_AT_ONCE) {
        if (count > s->found_capacity) {
            free(s->found);
            s->found_capacity = 0;
            s->found = malloc(s->reached.ranges.capacity * sizeof(*s->found));
            if (!s->found) {
                *why = GP_REASON(NO_MEMORY);
                return false;
            }
            s->found_capacity = s->reached.ranges.capacity;
        }
        CUresult result =
            gp_cuda.cuMemcpyDtoHAsync_v2(s->found + before, s->lookup.copy.list + 4 * before,
                                         4 * (size_t)(count - before), s->own.stream);
        if (!driver_worked(result, why) ||
            !driver_worked(gp_cuda.cuStreamSynchronize(s->own.stream), why))
            return false;
        found = s->found;
    }
    for (uint32_t i = before; i < count; i++) {
        if (found[i] >= s->reached.ranges.count) {
            *why = WRONG_ANSWER;
            return false;
        }
        reach_range(found[i], &s->reached);
        if (!divide_found(s, found[i], why))
            return false;
    }
    return true;
}

/* Copies reached memory, and the memory that it points to, until nothing new is found. */
static bool copy_and_follow(struct gp_snapshot *s, struct gp_reason *why)
{
    uint32_t before = 0;
    if (!driver_worked(lookup_update(&s->lookup, &s->reached.ranges, s->own.stream), why))
        return false;
    while (s->with_room < s->reached.count) {
        if (!copy_reached(s, &s->lookup, why) || !driver_worked(answer_fetch(&s->own), why) ||
            !reach_found(s, before, why) || !reached_is_ours(&s->reached, why))
            return false;
        before = s->own.host_answer->found;
    }
    return true;
}

/* ---- before the launch ----------------------------------------------------------------------- */

static bool begin(struct gp_snapshot *s, struct gp_reason *why)
{
    s->with_room = 0;
    s->verifies = s->rewound = false;
    snapshot_note_beside(s);
    reached_clear(&s->reached);
    divide_begin(s);
    memset(s->own.host_answer, 0, sizeof(*s->own.host_answer));
    segments_clear(&s->restored);
    segments_clear(&s->watched);
    if (!arrays_list(&s->arrays, s->context, why))
        return false;
    s->reached.needed = s->arrays.needed;
    s->reached.bytes = s->arrays.bytes;
    *why = GP_REASON(NO_MEMORY);
    return reached_update(&s->reached, s->context, s->device) &&
           driver_worked(answer_clear(&s->own), why);
}

/* Where everything will be copied, whether that fits is known before anything is done. */
static bool reserve_for_all(struct gp_snapshot *s, struct gp_reason *why)
{
    bool moved;
    uint64_t all =
        s->reached.ranges.bytes + s->reached.ranges.count * arena_need(0) + s->arrays.needed;
    return arena_reserve(&s->arena, &s->final.arena, all, &moved, why);
}

static bool copy_launch(struct gp_snapshot *s, const struct gp_reach *launch, struct gp_reason *why)
{
    s->reached.others_rest = launch->others_rest;
    /* The memory that the launch may write is not known, so it may be any. */
    if ((launch->everything || !launch->parameters_known) && !reached_all_is_ours(&s->reached, why))
        return false;
    if (launch->everything && !reserve_for_all(s, why))
        return false;
    if (!launch->parameters_known) {
        reach_all(&s->reached);
        divide_rest(s, launch);
    } else {
        if (!reach_from_parameters(&s->reached, launch, s->pageable, why))
            return false;
        *why = GP_REASON(NO_MEMORY);
        if (!reach_from_modules(&s->reached, launch) || !reached_is_ours(&s->reached, why))
            return false;
        s->reached.roots = s->reached.count;
        if (launch->most_bytes && s->reached.bytes > launch->most_bytes) {
            *why = GP_REASON(OVER_LIMIT);
            return false;
        }
        if (!launch->kernel)
            divide_rest(s, launch);
        if (launch->kernel && (!divide(s, launch, false) || !divide_check_before(s, why)))
            return false;
        const bool leads_known = launch->leads_no_further || (launch->kernel && s->leads_known);
        if (leads_known ? !copy_reached(s, NULL, why) : !copy_and_follow(s, why))
            return false;
    }
    s->reached.seen = s->reached.count;
    if (launch->everything)
        reach_all(&s->reached);
    *why = GP_REASON(NO_MEMORY);
    return !s->reached.out_of_memory && copy_reached(s, NULL, why);
}

bool gp_snapshot_take(struct gp_snapshot *s, const struct gp_reach *launch, struct gp_reason *why)
{
    gp_snapshot_set_in_use(s, true);
    bool taken = begin(s, why) && copy_launch(s, launch, why) &&
                 (!launch->verify || snapshot_hash_rest(s, why));
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    return taken && driver_worked(waited, why);
}

bool gp_snapshot_reaches_other_gpus(const struct gp_snapshot *s)
{
    return s->reached.of_gpus && !s->reached.barred;
}

bool gp_snapshot_led_further(const struct gp_snapshot *s)
{
    return s->reached.roots < s->reached.count || s->led.count > 0;
}

bool gp_snapshot_is_short(const struct gp_snapshot *s)
{
    return s->arena.refused;
}

uint64_t gp_snapshot_bytes(const struct gp_snapshot *s)
{
    return s->reached.bytes;
}

bool gp_snapshot_reaches(const struct gp_snapshot *s, CUdeviceptr address)
{
    size_t found[2];
    const struct gp_reached *r = &s->reached;
    const unsigned count = ranges_find(&r->ranges, address, found);
    for (unsigned i = 0; i < count; i++)
        if (address < r->ranges.ranges[found[i]].end && r->marks[found[i]] == r->round)
            return true;
    return false;
}

uint64_t gp_snapshot_bytes_behind(const struct gp_snapshot *s, CUdeviceptr address)
{
    size_t found[2];
    const struct gp_ranges *ranges = &s->reached.ranges;
    const unsigned count = ranges_find(ranges, address, found);
    for (unsigned i = 0; i < count; i++)
        if (address < ranges->ranges[found[i]].end)
            return ranges->ranges[found[i]].end - address;
    return 0;
}

bool gp_snapshot_is_address(const struct gp_snapshot *s, CUdeviceptr address)
{
    return gp_snapshot_bytes_behind(s, address) > 0;
}

bool gp_snapshot_find_memory(struct gp_snapshot *s)
{
    return reached_update(&s->reached, s->context, s->device);
}

void gp_snapshot_done(struct gp_snapshot *s)
{
    gp_snapshot_set_in_use(s, false);
}
