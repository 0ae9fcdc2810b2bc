/* Guarded memory. Where the order of threads says where a launch writes, a replay may write
 * elsewhere than its launch has: in any of the memory that would be saved for that. Where launches
 * like it have written to the same parts again and again, these are saved alone, and the rest is
 * guarded. It has not changed since the launch, unless another launch of the batch has saved it. So
 * one copy of its present contents is enough for the batch: it is made in the drain, and behind
 * each replay the memory is compared with the digests of these, and put right where it differs
 * (memory/versions.c). */
#include "memory/inside.h"

#include <stdlib.h>

/* ---- covers ---------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t cover_misses(const struct gp_cover *cover, uint64_t from, uint64_t to)
{
    uint64_t bytes = to - from;
    for (size_t i = 0; i < cover->count; i++) {
        const uint64_t begin = larger(from, cover->of[i].from), end = smaller(to, cover->of[i].to);
        bytes -= begin < end ? end - begin : 0;
    }
    return bytes;
}

bool cover_add(struct gp_cover *cover, uint64_t from, uint64_t to)
{
    if (cover->count == cover->capacity) {
        const size_t capacity = cover->capacity ? 2 * cover->capacity : 16;
        struct gp_stretch *of = realloc(cover->of, capacity * sizeof(*of));
        if (!of)
            return false;
        cover->of = of;
        cover->capacity = capacity;
    }
    for (size_t i = 0; i < cover->count;) {
        const struct gp_stretch *s = &cover->of[i];
        if (s->to < from || to < s->from) {
            i++;
            continue;
        }
        from = smaller(from, s->from);
        to = larger(to, s->to);
        cover->of[i] = cover->of[--cover->count];
    }
    cover->of[cover->count++] = (struct gp_stretch){from, to};
    return true;
}

uint64_t cover_bytes(const struct gp_cover *cover)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < cover->count; i++)
        bytes += cover->of[i].to - cover->of[i].from;
    return bytes;
}

void cover_free(struct gp_cover *cover)
{
    free(cover->of);
    *cover = (struct gp_cover){0};
}

/* ---- the launch at hand ---------------------------------------------------------------------- */

/* The stretch but for the planned parts, which are in order of address. */
static bool add_rest(struct gp_snapshot *s, const struct gp_divided *d, uint64_t from, uint64_t to)
{
    bool well = true;
    for (unsigned i = 0; i < s->plan.count && well; i++) {
        const struct gp_write_part *p = &s->plan.of[i];
        if (p->in != d || p->to <= from || to <= p->from)
            continue;
        well = plan_add(&s->guard, d, from, p->from);
        from = p->to;
    }
    return well && plan_add(&s->guard, d, from, to);
}

bool guard_plan(struct gp_snapshot *s, const struct gp_plan *outer)
{
    bool well = true;
    s->guard.count = 0;
    for (size_t i = 0; !outer && i < s->divided_count && well; i++) {
        const struct gp_divided *d = s->divided[i];
        well = add_rest(s, d, d->first, d->first + d->units * GP_UNIT_BYTES);
    }
    for (unsigned i = 0; outer && i < outer->count && well; i++)
        well = add_rest(s, outer->of[i].in, outer->of[i].from, outer->of[i].to);
    if (well && plan_bytes(&s->guard) > GP_DEAR_BYTES)
        return true;
    s->guard.count = 0;
    return false;
}

bool guard_list(const struct gp_snapshot *s, struct gp_segments *list)
{
    for (unsigned i = 0; s->guards && i < s->guard.count; i++) {
        const struct gp_write_part *p = &s->guard.of[i];
        const uint64_t unit = (p->from - p->in->first) / GP_UNIT_BYTES;
        if (!p->in->digests || !segments_add(list, p->from, 0, p->to - p->from, p->from))
            return false;
        segments_note_digests(list, p->in->digests + unit * sizeof(uint64_t));
    }
    return true;
}

/* ---- batches that were spoilt ---------------------------------------------------------------- */

void guard_note_change(struct gp_held_copy *copy, uint64_t from, uint64_t to)
{
    copy->strayed = copy->strayed || segments_reach(&copy->guarded, from, to - from);
}

void guard_note_all(const struct gp_versions *v)
{
    for (size_t i = 0; i < v->log_count; i++)
        v->log[i]->strayed = v->log[i]->guarded.count > 0;
}

void guard_blame(struct gp_snapshot *s)
{
    const struct gp_versions *v = &s->versions;
    for (size_t i = 0; i < v->log_count; i++)
        if (v->log[i]->strayed)
            writes_strayed(&s->learned, v->log[i]->addresses, v->batch);
}

void guard_kept(struct gp_snapshot *s)
{
    const struct gp_versions *v = &s->versions;
    for (size_t i = 0; i < v->log_count; i++)
        if (v->log[i]->guarded.count)
            writes_kept_to_parts(&s->learned, v->log[i]->addresses, v->batch);
}

uint64_t guard_room(const struct gp_snapshot *s)
{
    uint64_t bytes = arena_need(cover_bytes(&s->versions.guarded));
    for (unsigned i = 0; s->guards && i < s->guard.count; i++)
        bytes +=
            arena_need(cover_misses(&s->versions.guarded, s->guard.of[i].from, s->guard.of[i].to));
    return bytes;
}
