/* The present contents of memory, kept while copies of launches that are replayed lie there, one
 * after the other (memory/put.c); then they are put back. Each piece is kept once, when the first
 * copy comes. The room is the final state's (memory/final.c): no launch is measured meanwhile. */
#include "memory/inside.h"

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
    segments_reverse(&s->present);
    const bool any = s->present.count || s->versions.kept;
    CUresult versions = versions_put_back(s), result = snapshot_move(s, &s->present, false);
    result = result == CUDA_SUCCESS ? versions : result;
    if (any && to_wait)
        result = snapshot_wait(s, result);
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
    if (listed && driver_worked(snapshot_move(s, &s->moves, by_driver), why))
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
