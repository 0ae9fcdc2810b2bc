/* Launches of a batch that cannot be replayed, as a unit of divided memory has changed though no
 * launch is known to have written it. The launch that did so came behind the last one that saved
 * the unit, which found it as its digest said, and saved all that it wrote itself. And it came
 * before the launch, or the check, that found the change. Each launch in between may have made it,
 * and a second run would make it again; or it has read the unit as it was, of which there is no
 * copy. All others wrote nothing but memory that they saved, and find memory as it was: they can be
 * replayed. Launches that reach no divided memory may have made it, too: copies of all have numbers
 * in one row.
 *
 * Launches of several streams may run in another order than they were made: then any may have made
 * the change (memory/stream_order.c). */
#include "memory/inside.h"

#include <stdlib.h>

/* ---- launches in between --------------------------------------------------------------------- */

/* The launch from which on each byte was saved, up to the one before `number`; 0: there is none. */
static uint64_t last_saved(const struct gp_versions *v, uint64_t from, uint64_t to, uint64_t number)
{
    struct gp_cover saved = {0};
    uint64_t last = 0;
    bool well = true;
    for (size_t i = v->log_count; i > 0 && well && !last; i--) {
        const struct gp_held_copy *copy = v->log[i - 1];
        if (copy->number >= number)
            continue;
        for (size_t k = 0; k < copy->segments.count && well; k++) {
            const struct gp_segment *g = &copy->segments.list[k];
            if (g->live < to && from < g->live + g->bytes)
                well = cover_add(&saved, g->live, g->live + g->bytes);
        }
        if (!cover_misses(&saved, from, to))
            last = copy->number;
    }
    cover_free(&saved);
    return last;
}

static struct gp_suspects suspects_of(const struct gp_snapshot *s, uint64_t from, uint64_t to,
                                      uint64_t number)
{
    const struct gp_versions *v = &s->versions;
    if (!versions_are_in_order(v))
        return (struct gp_suspects){0, versions_next_number(s)};
    return (struct gp_suspects){last_saved(v, from, to, number), number};
}

void spoil_readers(struct gp_snapshot *s, uint64_t from, uint64_t to)
{
    versions_spoil(s, suspects_of(s, from, to, versions_next_number(s)));
}

/* ---- launches that may have written a change ------------------------------------------------- */

struct change {
    const struct gp_divided *in;
    uint64_t from, to;
    uint64_t next; /* the last address before it that a suspect has; 0: none has one */
};

/* The launch's last address before it; 0: there is none. */
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

typedef bool may_have_written(const struct gp_held_copy *copy, const struct change *c);

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

static bool has_next_address(const struct gp_held_copy *copy, const struct change *c)
{
    return c->next && address_before(copy, c) == c->next;
}

static bool any_may(const struct gp_held_copy *copy, const struct change *c)
{
    (void)copy;
    (void)c;
    return true;
}

/* A copy of the program wrote to memory that it saved, and nowhere else. */
static bool is_suspect(const struct gp_suspects *of, const struct gp_held_copy *copy)
{
    return suspects_hold(of, copy) && copy->addresses->kernel;
}

/* Notes the suspects in the log that may have written it. Where all may, none is learned from. */
static bool note_writers(struct gp_snapshot *s, const struct gp_suspects *of,
                         const struct change *c, may_have_written *may)
{
    const struct gp_versions *v = &s->versions;
    bool any = false;
    for (size_t i = 0; i < v->log_count; i++) {
        struct gp_held_copy *copy = v->log[i];
        if (!is_suspect(of, copy) || !may(copy, c))
            continue;
        any = true;
        guard_note_change(copy, c->from, c->to);
        if (may != any_may)
            writes_learn(&s->learned, copy->addresses, c->in, c->from, c->to);
    }
    return any;
}

/* Pieces may end too early: where none fits it was written from the next address before it on. */
static void blame(struct gp_snapshot *s, const struct gp_suspects *of, const struct change *c)
{
    if (!note_writers(s, of, c, has_piece_of) && !note_writers(s, of, c, has_next_address))
        note_writers(s, of, c, any_may);
}

static void spoil_writers(struct gp_snapshot *s, const struct gp_divided *d, uint64_t from,
                          uint64_t to, uint64_t number)
{
    const struct gp_versions *v = &s->versions;
    const struct gp_suspects of = suspects_of(s, from, to, number);
    struct change c = {d, from, to, 0};
    for (size_t i = 0; i < v->log_count; i++) {
        if (!is_suspect(&of, v->log[i]))
            continue;
        const uint64_t before = address_before(v->log[i], &c);
        c.next = before > c.next ? before : c.next;
        writes_suspect(&s->learned, v->log[i]->addresses);
    }
    blame(s, &of, &c);
    versions_spoil(s, of);
}

/* ---- checks and alarms ----------------------------------------------------------------------- */

/* Stretches of one check that are held against each launch; with more any may have written them. */
#define MOST_CHANGES 1024

static void spoil_any(struct gp_snapshot *s)
{
    guard_note_all(&s->versions);
    versions_spoil_all(s);
}

struct unexpected {
    struct gp_snapshot *s;
    uint64_t number; /* of the launch before which they are found */
    unsigned left;
};

static void spoil_by_change(const struct gp_divided *d, uint64_t from, uint64_t to, void *data)
{
    struct unexpected *u = data;
    if (u->left == 0)
        return;
    if (--u->left > 0)
        spoil_writers(u->s, d, from, to, u->number);
    else
        spoil_any(u->s);
}

void spoil_by_check(struct gp_snapshot *s, const struct gp_divided *d)
{
    struct unexpected u = {s, versions_next_number(s), MOST_CHANGES};
    divided_each_change(s, d, spoil_by_change, &u);
    guard_blame(s);
}

static int by_launch_and_unit(const void *a, const void *b)
{
    const struct gp_alarm *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
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
        for (; i < count && list[i].number == first->number && list[i].unit == end; i++)
            end += GP_UNIT_BYTES;
        if (d)
            spoil_writers(s, d, first->unit, end, first->number);
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
