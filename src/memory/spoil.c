/* Launches of a batch that cannot be replayed, as a unit of divided memory has changed though no
 * launch is known to have written it. The launch that did so came behind the last one that saved
 * the unit, which found it as its digest said, and saved all that it wrote itself. And it came
 * before the launch, or the check, that found the change. Each launch in between may have made it,
 * and a second run would make it again; or it has read the unit as it was, of which there is no
 * copy. All others wrote nothing but memory that they saved, and find memory as it was: they can be
 * replayed.
 *
 * Launches of several streams may run in another order than they were made: then any may have made
 * the change. */
#include "memory/inside.h"

#include <pthread.h>
#include <stdlib.h>

/* The launches in between, by their orders: neither of these is one. */
struct suspects {
    uint64_t after, before;
};

static bool is_in(const struct suspects *of, const struct gp_held_copy *copy)
{
    return copy->order > of->after && copy->order < of->before;
}

/* ---- streams --------------------------------------------------------------------------------- */

void held_copy_note_stream(struct gp_held_copy *copy, CUstream stream, bool per_thread)
{
    copy->in_stream = true;
    copy->stream = stream;
    copy->is_of_thread = stream == CU_STREAM_PER_THREAD || (!stream && per_thread);
    copy->thread = pthread_self();
}

static bool are_in_order(const struct gp_held_copy *a, const struct gp_held_copy *b)
{
    if (a->is_of_thread || b->is_of_thread)
        return a->is_of_thread && b->is_of_thread && pthread_equal(a->thread, b->thread);
    return a->stream == b->stream;
}

bool versions_are_in_order(const struct gp_versions *v)
{
    const struct gp_held_copy *first = NULL;
    for (size_t i = 0; i < v->log_count; i++) {
        const struct gp_held_copy *copy = v->log[i];
        if (!copy->in_stream) /* it was waited for, with all before it */
            continue;
        if (first && !are_in_order(first, copy))
            return false;
        first = copy;
    }
    return true;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The launch from which on each byte was saved, up to the one before `order`; 0: there is none. */
static uint64_t last_saved(const struct gp_versions *v, uint64_t from, uint64_t to, uint64_t order)
{
    struct gp_cover saved = {0};
    uint64_t last = 0;
    bool well = true;
    for (size_t i = v->log_count; i > 0 && well && !last; i--) {
        const struct gp_held_copy *copy = v->log[i - 1];
        if (copy->order >= order)
            continue;
        for (size_t k = 0; k < copy->segments.count && well; k++) {
            const struct gp_segment *g = &copy->segments.list[k];
            if (g->live < to && from < g->live + g->bytes)
                well = cover_add(&saved, g->live, g->live + g->bytes);
        }
        if (!cover_misses(&saved, from, to))
            last = copy->order;
    }
    cover_free(&saved);
    return last;
}

static struct suspects suspects_of(const struct gp_versions *v, uint64_t from, uint64_t to,
                                   uint64_t order)
{
    if (!versions_are_in_order(v))
        return (struct suspects){0, UINT64_MAX};
    return (struct suspects){last_saved(v, from, to, order), order};
}

static void spoil_suspects(struct gp_snapshot *s, const struct suspects *of)
{
    s->versions.most = GP_FEW_LOGGED;
    for (size_t i = 0; i < s->versions.log_count; i++)
        if (is_in(of, s->versions.log[i]))
            s->versions.log[i]->spoilt = true;
}

void spoil_readers(struct gp_snapshot *s, uint64_t from, uint64_t to)
{
    const struct suspects of = suspects_of(&s->versions, from, to, versions_next_order(s));
    spoil_suspects(s, &of);
}

/* ---- launches that may have written a change ------------------------------------------------- */

struct change {
    const struct gp_divided *in;
    uint64_t from, to;
};

/* The launch has an address in whose piece it is, or has saved memory up to it. */
static bool has_piece_of(const struct gp_held_copy *copy, const struct change *c)
{
    for (unsigned k = 0; k < copy->addresses->count; k++) {
        const struct gp_address *p = &copy->addresses->of[k];
        if (p->in == c->in && p->value < c->to && c->from < divided_piece_end(c->in, p->value))
            return true;
    }
    for (size_t i = 0; i < copy->segments.count; i++) {
        const struct gp_segment *g = &copy->segments.list[i];
        if (g->live <= c->from && c->from <= g->live + g->bytes)
            return true;
    }
    return false;
}

/* The launch's last address in front of it; 0: there is none. */
static uint64_t address_before(const struct gp_held_copy *copy, const struct change *c)
{
    uint64_t last = 0;
    for (unsigned k = 0; k < copy->addresses->count; k++) {
        const struct gp_address *p = &copy->addresses->of[k];
        if (p->in == c->in && p->value <= c->from && p->value > last)
            last = p->value;
    }
    return last;
}

/* Notes the launches in the suspects that may have written it, as their pieces say; where none do,
 * pieces end too early, and it is those with the address that lies next before it. */
static bool note_writers(struct gp_snapshot *s, const struct suspects *of, const struct change *c,
                         uint64_t next)
{
    const struct gp_versions *v = &s->versions;
    bool any = false;
    for (size_t i = 0; i < v->log_count; i++) {
        struct gp_held_copy *copy = v->log[i];
        if (!is_in(of, copy) || !(next ? address_before(copy, c) == next : has_piece_of(copy, c)))
            continue;
        any = true;
        guard_note_change(copy, c->from, c->to);
        writes_learn(&s->learned, copy->addresses, c->in, c->from, c->to);
    }
    return any;
}

static void spoil_writers(struct gp_snapshot *s, const struct gp_divided *d, uint64_t from,
                          uint64_t to, uint64_t order)
{
    const struct gp_versions *v = &s->versions;
    const struct change c = {d, from, to};
    const struct suspects of = suspects_of(v, from, to, order);
    uint64_t next = 0;
    for (size_t i = 0; i < v->log_count; i++) {
        if (!is_in(&of, v->log[i]))
            continue;
        const uint64_t before = address_before(v->log[i], &c);
        next = before > next ? before : next;
        writes_suspect(&s->learned, v->log[i]->addresses);
    }
    if (!note_writers(s, &of, &c, 0) && !(next && note_writers(s, &of, &c, next)))
        for (size_t i = 0; i < v->log_count; i++) /* any that guards it may have */
            if (is_in(&of, v->log[i]))
                guard_note_change(v->log[i], from, to);
    spoil_suspects(s, &of);
}

/* ---- checks and alarms ----------------------------------------------------------------------- */

/* Stretches of one check that are held against each launch; with more any may have written them. */
#define MOST_CHANGES 1024

/* Any launch may have made the changes. */
static void spoil_any(struct gp_snapshot *s)
{
    guard_note_all(&s->versions);
    versions_spoil(s);
}

struct unexpected {
    struct gp_snapshot *s;
    uint64_t order; /* of the launch before which they are found */
    unsigned left;
};

static void spoil_by_change(const struct gp_divided *d, uint64_t from, uint64_t to, void *data)
{
    struct unexpected *u = data;
    if (u->left == 0) {
        spoil_any(u->s);
        return;
    }
    u->left--;
    spoil_writers(u->s, d, from, to, u->order);
}

void spoil_by_check(struct gp_snapshot *s, const struct gp_divided *d)
{
    struct unexpected u = {s, versions_next_order(s), MOST_CHANGES};
    divided_each_change(s, d, spoil_by_change, &u);
    guard_blame(s);
}

static int by_launch_and_unit(const void *a, const void *b)
{
    const struct gp_alarm *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* Units side by side that a launch found changed are one change. An alarm in memory that is
 * forgotten says nothing of the batch. */
static void spoil_by_listed(struct gp_snapshot *s, struct gp_alarm *list, uint32_t count)
{
    qsort(list, count, sizeof(*list), by_launch_and_unit);
    for (uint32_t i = 0; i < count;) {
        const struct gp_alarm *first = &list[i];
        const struct gp_divided *d = divided_around(s, first->unit);
        uint64_t end = first->unit;
        for (; i < count && list[i].order == first->order && list[i].unit == end; i++)
            end += GP_UNIT_BYTES;
        if (d)
            spoil_writers(s, d, first->unit, end, first->order);
    }
}

void spoil_by_alarms(struct gp_snapshot *s, struct gp_alarm *list, uint32_t count)
{
    if (list)
        spoil_by_listed(s, list, count);
    else if (count)
        spoil_any(s);
    guard_blame(s);
}
