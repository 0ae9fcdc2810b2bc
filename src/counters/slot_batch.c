/* The launches of a batch, by their fingerprints: which of them the hardware counts, and whether it
 * says that they are like others. */
#include "counters/slots.h"

#include <string.h>

/* ---- before the hardware counts -------------------------------------------------------------- */

static bool is_to_be_decided(const struct gp_collection *c, const struct gp_slot *t)
{
    return gp_slot_is_undecided(t) && gp_slot_is_open(c, t);
}

static struct gp_batch_launch launch_of(const struct gp_collection *c, const struct gp_slot *t)
{
    struct gp_batch_launch l = {.counted = is_to_be_decided(c, t),
                                .identified = t->identified,
                                .assumed = t->plan.assumed,
                                .alone = t->parted || t->plan.source == GP_SOURCE_NEW,
                                .tells_all = t->tells_all,
                                .fingerprint = gp_fingerprint_with_work(&t->fingerprint, &t->kind),
                                .layout = t->layout,
                                .fingerprint_ms = t->fingerprint_ms};
    if (l.counted && l.identified && !l.alone)
        l.measured = gp_recall_hardware_count(c->recall, &l.fingerprint);
    return l;
}

/* Enough is known of launches with its fingerprint. */
static void take_all(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    if (!gp_slot_take_hardware(c, slot))
        return;
    gp_plan_share(&t->plan);
    gp_slot_confirm(c, slot, gp_recall_find(c->recall, &t->fingerprint), 0);
}

static void carry_out(struct gp_collection *c, unsigned slot, const struct gp_batch_launch *l)
{
    if (!l->counted)
        return;
    if (l->share == GP_NOT_AT_ALL)
        take_all(c, slot);
    if (l->share == GP_TOGETHER) {
        gp_plan_share(&c->slots[slot].plan);
        gp_bundles_add(c, slot, l->bundle);
    }
}

void gp_slots_decide(struct gp_collection *c, bool may_identify)
{
    struct gp_batch_launch launches[GP_MOST_SLOTS];
    const unsigned count = c->slots_given;
    if (!c->recall || !gp_collection_has_ranges(c))
        return;
    for (unsigned i = 0; i < count; i++)
        launches[i] = launch_of(c, &c->slots[i]);
    gp_batch_decide(launches, count, gp_bundles_are_reliable(c));
    if (may_identify) {
        for (unsigned i = 0; gp_batch_is_to_be_identified(launches, count) && i < count; i++)
            if (launches[i].counted && launches[i].assumed) {
                gp_plan_identify(&c->slots[i].plan);
                c->slots[i].identified = false; /* if that fails it is like none */
            }
        return;
    }
    for (unsigned i = 0; i < count; i++)
        carry_out(c, i, &launches[i]);
}

/* ---- and behind ------------------------------------------------------------------------------ */

const double *gp_slot_find_like(struct gp_collection *c, unsigned slot, unsigned *other)
{
    const struct gp_slot *t = &c->slots[slot];
    const double *row = gp_recall_find(c->recall, &t->fingerprint);
    *other = 0;
    if (row)
        return row;
    for (unsigned i = 0; i < c->slots_given; i++) {
        const struct gp_slot *o = &c->slots[i];
        if (i == slot || !o->held || !o->identified || o->plan.source != GP_SOURCE_NEW ||
            o->hardware_lost.cause || !gp_slot_is_whole(c, o) ||
            memcmp(&o->fingerprint, &t->fingerprint, sizeof(t->fingerprint)) != 0)
            continue;
        gp_slot_make_row(c, i, c->row);
        *other = 1 + i;
        return c->row;
    }
    return NULL;
}

void gp_slot_confirm(struct gp_collection *c, unsigned slot, const double *row, unsigned other)
{
    struct gp_slot *t = &c->slots[slot];
    t->like = other;
    if (other) {
        gp_plan_found(&t->plan, GP_FOUND_UNLEARNED);
        return;
    }
    gp_slot_take_row(c, slot, row);
    gp_plan_confirmed(&t->plan);
}

/* A fingerprint that was assumed is no more. */
void gp_slot_part(struct gp_slot *t)
{
    t->parted = true;
    t->identified = t->identified && !t->plan.assumed;
    gp_plan_part(&t->plan);
}

/* A launch that was identified, or assumed, and counted by itself. */
static void judge(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    unsigned other = 0;
    const double *row = t->plan.source == GP_SOURCE_NEW ? NULL : gp_slot_find_like(c, slot, &other);
    const bool whole = gp_slot_is_whole(c, t) && !t->hardware_lost.cause;
    bool all = row && whole && gp_slot_agrees(c, slot, row, c->list.check_count);
    if (t->plan.assumed) {
        gp_recall_assumed(c->recall, &t->kind, all);
        if (!all) {
            gp_slot_part(t);
            return;
        }
    } else if (row && whole && !gp_slot_agrees(c, slot, row, GP_LEAST_CHECKS)) {
        gp_recall_bar(c->recall, &t->fingerprint);
        row = NULL;
    } else if (row && !all) {
        gp_recall_found(c->recall, &t->kind, &t->fingerprint, false);
    }
    if (!row) {
        gp_plan_reopen(&t->plan);
        return;
    }
    if (t->parted)
        gp_bundle_contradicted(c);
    gp_slot_confirm(c, slot, row, other);
    if (!other)
        gp_slot_learn_hardware(c, slot);
}

/* The hardware cannot confirm anything any more: a fingerprint that was found has to do. */
static void judge_without_hardware(struct gp_collection *c)
{
    for (unsigned i = 0; i < c->slots_given; i++) {
        struct gp_slot *t = &c->slots[i];
        const double *row =
            t->identified && !t->plan.assumed ? gp_recall_find(c->recall, &t->fingerprint) : NULL;
        if (!gp_slot_is_undecided(t))
            continue;
        t->bundle = 0;
        t->hardware_lost = c->no_session;
        if (row)
            gp_slot_confirm(c, i, row, 0);
        else
            gp_plan_reopen(&t->plan);
    }
    c->bundle_count = 0;
}

void gp_slots_judge(struct gp_collection *c)
{
    if (!c->recall)
        return;
    if (!gp_collection_has_ranges(c)) {
        judge_without_hardware(c);
        return;
    }
    for (unsigned i = 0; i < c->slots_given; i++) {
        const struct gp_slot *t = &c->slots[i];
        if (t->held && !t->bundle && gp_slot_multiplied_no_matrices(c, i))
            t->cost->no_matrices = true;
        if (t->identified && !t->bundle && is_to_be_decided(c, t))
            judge(c, i);
    }
    gp_bundles_judge(c);
}

/* ---- launches that were measured ------------------------------------------------------------- */

static void take_from(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    const struct gp_slot *other = &c->slots[t->like - 1];
    const bool whole = other->range_read && gp_slot_is_whole(c, other);
    const bool shares = t->plan.together;
    if (whole)
        gp_slot_make_row(c, t->like - 1, c->row);
    t->like = 0;
    if (whole && (!shares || gp_slot_take_hardware(c, slot))) {
        gp_slot_confirm(c, slot, c->row, 0);
        if (!shares)
            gp_slot_learn_hardware(c, slot);
    } else if (shares) {
        gp_slot_part(t);
    } else {
        gp_plan_reopen(&t->plan);
    }
}

/* Those that were counted by themselves first: the others take the hardware's counters of them. */
void gp_slots_take_from_held(struct gp_collection *c)
{
    for (unsigned i = 0; i < c->slots_given; i++)
        if (c->slots[i].like && !c->slots[i].plan.together)
            take_from(c, i);
    for (unsigned i = 0; i < c->slots_given; i++)
        if (c->slots[i].like)
            take_from(c, i);
}
