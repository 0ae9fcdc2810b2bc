/* The present contents of memory, kept while copies of launches that are replayed lie there, one
 * after the other; then they are put back. Each piece is kept once, when the first copy comes. The
 * room is the final state's (memory/final.c): no launch is measured meanwhile.
 *
 * Our own kernels copy, at once; to put copies of one layout there is always the same work. Where
 * CUPTI's code is in place that would be instrumented: then the driver does, piece by piece. */
#include "base/mix.h"
#include "memory/inside.h"

#include <string.h>

/* Copies lie as their originals modulo this, so the work to copy them depends on no more. */
static uint64_t layout_of(const struct gp_segments *copy)
{
    uint64_t layout = 1;
    for (size_t i = 0; i < copy->count; i++) {
        layout = gp_mix(layout, copy->list[i].live % GP_COPY_ALIGNMENT);
        layout = gp_mix(layout, copy->list[i].bytes);
    }
    return layout ? layout : 1;
}

uint64_t gp_held_copy_layout(const struct gp_held_copy *copy)
{
    return copy->divided_count ? 0 : layout_of(&copy->segments);
}

uint64_t gp_snapshot_layout(const struct gp_snapshot *s)
{
    return s->divided_count ? 0 : layout_of(&s->restored);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Each copy becomes the memory to be copied. It lies as its original modulo 16, so the units stay.
 */
static void reverse(struct gp_segments *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct gp_segment *segment = &list->list[i];
        uint64_t live = segment->live;
        segment->live = segment->saved;
        segment->saved = live;
        segment->start += segment->live - live;
    }
}

static CUresult move_by_driver(const struct gp_segments *moves, CUstream stream)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < moves->count && result == CUDA_SUCCESS; i++) {
        const struct gp_segment *m = &moves->list[i];
        result = gp_cuda.cuMemcpyDtoDAsync_v2(m->saved, m->live, m->bytes, stream);
    }
    return result;
}

/* Starts a kernel of few segments; the last of its arguments is not for each of them. */
static CUresult start_few(const struct gp_own_kernel *kernel, const struct gp_segments *list,
                          CUdeviceptr answer, CUstream stream, bool per_thread)
{
    struct gp_few_segments few = {0};
    uint32_t count = (uint32_t)list->count;
    uint64_t units = list->units;
    void *arguments[] = {&few, &count, &units, &answer};
    if (!count)
        return CUDA_SUCCESS;
    memcpy(few.of, list->list, count * sizeof(*few.of));
    return own_kernel_start_on(stream, per_thread, kernel->function,
                               units < kernel->blocks ? (unsigned)units : kernel->blocks,
                               GP_UNIT_THREADS, arguments);
}

CUresult snapshot_copy_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           CUstream stream, bool per_thread)
{
    return start_few(&s->own.copy_few, list, 0, stream, per_thread);
}

CUresult snapshot_save_few(const struct gp_snapshot *s, const struct gp_segments *list,
                           CUstream stream, bool per_thread)
{
    return start_few(&s->own.save_few, list, s->digests.answer, stream, per_thread);
}

CUresult snapshot_start_units(const struct gp_own_kernel *kernel, const struct gp_segments *list,
                              CUstream stream, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; i < list->count && result == CUDA_SUCCESS;) {
        struct gp_few_segments few = {0};
        uint32_t count = 0;
        uint64_t units = 0;
        for (; i < list->count && count < GP_FEW_SEGMENTS; i++) {
            if (!list->list[i].digests)
                continue;
            few.of[count] = list->list[i];
            few.of[count++].first_unit = units;
            units += list->list[i].bytes / GP_UNIT_BYTES;
        }
        void *arguments[] = {&few, &count, &units};
        if (count)
            result = own_kernel_start_on(stream, per_thread, kernel->function,
                                         units < kernel->blocks ? (unsigned)units : kernel->blocks,
                                         GP_UNIT_THREADS, arguments);
    }
    return result;
}

static CUresult move_many(const struct gp_snapshot *s, struct gp_segments *moves)
{
    uint32_t count = (uint32_t)moves->count;
    uint64_t begin = 0;
    void *arguments[] = {&moves->table, &count, &begin, &moves->units};
    return own_kernel_start(&s->own, &s->own.copy, moves->units, arguments);
}

/* Does not wait. Where there is no room for a table of many, the driver does it as well. */
static CUresult move(const struct gp_snapshot *s, struct gp_segments *moves, bool by_driver)
{
    bool few = moves->count <= GP_FEW_SEGMENTS;
    if (!moves->count)
        return CUDA_SUCCESS;
    if (by_driver || (!few && segments_upload(moves, s->own.stream) != CUDA_SUCCESS))
        return move_by_driver(moves, s->own.stream);
    return few ? snapshot_copy_few(s, moves, s->own.stream, false) : move_many(s, moves);
}

static CUresult wait(struct gp_snapshot *s, CUresult result)
{
    CUresult waited = gp_cuda.cuStreamSynchronize(s->own.stream);
    return result == CUDA_SUCCESS ? waited : result;
}

/* ---- the present ----------------------------------------------------------------------------- */

enum overlap { APART, SAME, PARTLY };

static enum overlap find(const struct gp_snapshot *s, const struct gp_segment *segment)
{
    const struct gp_segment *kept = order_find(&s->present_order, &s->present, segment);
    if (!kept)
        return APART;
    return kept->live == segment->live && kept->bytes == segment->bytes ? SAME : PARTLY;
}

bool gp_snapshot_put_back(struct gp_snapshot *s, bool to_wait, struct gp_reason *why)
{
    reverse(&s->present);
    const bool any = s->present.count || s->versions.kept;
    CUresult versions = versions_put_back(s), result = move(s, &s->present, false);
    result = result == CUDA_SUCCESS ? versions : result;
    if (any && to_wait)
        result = wait(s, result);
    segments_clear(&s->present);
    order_cut(&s->present_order, 0);
    s->present_bytes = 0;
    return driver_worked(result, why);
}

/* On the device alone: the bus would take longer than all the rest. */
static uint64_t take_room(struct gp_snapshot *s, const struct gp_segment *segment)
{
    uint64_t bytes = segment->bytes;
    uint64_t saved = arena_take(&s->final.arena, segment->live, &bytes);
    return bytes == segment->bytes && !s->final.arena.host_used ? saved : 0;
}

/* Whether the kept pieces can stay while these copies are put there: a piece that overlaps another
 * one may hold a replay's writes by now. And the room that is missing for the rest. */
static bool fits_beside(const struct gp_snapshot *s, struct gp_held_copy *const *copies,
                        size_t count, uint64_t *missing)
{
    *missing = 0;
    for (size_t c = 0; c < count; c++) {
        const struct gp_segments *copy = &copies[c]->segments;
        for (size_t i = 0; i < copy->count; i++) {
            enum overlap found = copy->list[i].digests ? SAME : find(s, &copy->list[i]);
            if (found == PARTLY)
                return false;
            if (found == APART)
                *missing += arena_need(copy->list[i].bytes);
        }
    }
    return true;
}

static bool has_room(const struct gp_snapshot *s, uint64_t bytes)
{
    return s->final.arena.device_size - s->final.arena.device_used >= bytes;
}

/* Room for the pieces that are kept by now and for one of these copies, which may be of one memory;
 * at least for that. */
static bool begin_anew(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                       struct gp_reason *why)
{
    uint64_t before = s->present_bytes, one;
    if (!gp_snapshot_put_back(s, true, why))
        return false;
    fits_beside(s, copies, count ? 1 : 0, &one);
    one += versions_need(s);
    return !one || final_lend(&s->final, &s->arena, before + one, why) ||
           final_lend(&s->final, &s->arena, one, why);
}

static bool list_one(struct gp_snapshot *s, const struct gp_segment *segment, struct gp_reason *why)
{
    enum overlap found = segment->digests ? SAME : find(s, segment);
    *why = GP_REASON_TEXT(NOT_COPIED, "memory of several launches overlaps");
    if (found != APART)
        return found == SAME;
    uint64_t saved = take_room(s, segment);
    *why = GP_REASON(NO_ROOM);
    s->present_bytes += arena_need(segment->bytes);
    return saved &&
           segments_add(&s->present, segment->live, saved, segment->bytes, segment->start) &&
           order_add_last(&s->present_order, &s->present) &&
           segments_add(&s->moves, segment->live, saved, segment->bytes, segment->start);
}

/* All pieces or none: the list has those that are kept, and no copy has come to the others yet. */
static bool keep(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                 bool by_driver, struct gp_reason *why)
{
    bool listed = true;
    size_t before = s->present.count;
    uint64_t bytes = s->present_bytes;
    segments_clear(&s->moves);
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < copies[c]->segments.count && listed; i++)
            listed = list_one(s, &copies[c]->segments.list[i], why);
    if (listed && driver_worked(move(s, &s->moves, by_driver), why))
        return true;
    segments_cut(&s->present, before);
    order_cut(&s->present_order, before);
    s->present_bytes = bytes;
    return false;
}

bool gp_snapshot_keep(struct gp_snapshot *s, struct gp_held_copy *const *copies, size_t count,
                      bool by_driver, struct gp_reason *why)
{
    uint64_t missing;
    gp_snapshot_set_in_use(s, true);
    bool stays = (s->present.count || s->versions.kept) &&
                 fits_beside(s, copies, count, &missing) && has_room(s, missing);
    return (stays || begin_anew(s, copies, count, why)) && versions_keep(s, why) &&
           keep(s, copies, count, by_driver, why);
}

static bool list_undivided(struct gp_segments *list, const struct gp_held_copy *copy)
{
    bool listed = true;
    segments_clear(list);
    for (size_t i = 0; i < copy->segments.count && listed; i++) {
        const struct gp_segment *g = &copy->segments.list[i];
        listed = g->digests || segments_add(list, g->live, g->saved, g->bytes, g->start);
    }
    return listed;
}

bool gp_snapshot_put_in_place(struct gp_snapshot *s, struct gp_held_copy *copy, bool by_driver,
                              struct gp_reason *why)
{
    if (!gp_snapshot_keep(s, &copy, 1, by_driver, why))
        return false;
    *why = GP_REASON(NO_MEMORY);
    /* The first so that it is known which memory the launch reaches. */
    if (!segments_copy(&s->restored, &copy->segments) || !list_undivided(&s->moves, copy))
        return false;
    reverse(&s->moves);
    if (by_driver)
        versions_leave_unchecked(s);
    struct gp_segments checks = {0};
    const bool listed =
        versions_list_unchecked(s, copy, &checks) && versions_list(s, copy, &s->moves);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (listed)
        result = snapshot_start_units(&s->own.put_right, &checks, s->own.stream, false);
    if (result == CUDA_SUCCESS)
        result = wait(s, move(s, &s->moves, by_driver));
    segments_free(&checks, false);
    versions_put(s, copy, result == CUDA_SUCCESS);
    return driver_worked(result, why);
}
