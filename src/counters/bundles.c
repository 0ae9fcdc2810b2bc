/* Launches that are counted together (counters/batch.h). Before each of them its copy is put in
 * place, by a kernel of ours that is counted as well: as many instructions each time, where the
 * layout of the copies is the same. So these are counted in a range of their own, once. The rest
 * has to be the sum of the check counters of launches like these. */
#include "base/hash.h"
#include "base/log.h"
#include "counters/slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Layouts remembered; when there are more all are forgotten. */
#define MOST_BLANKS 4096
/* Launches of bundles with a wrong sum, or none, that were alike all the same: then this GPU, or
 * its driver, copies in another way each time, or the memory is too small. */
#define MOST_CONTRADICTIONS (3 * GP_MOST_TOGETHER)

/* The check counters of putting a copy of that layout in place. */
struct gp_blank {
    uint64_t layout;
    double counts[GP_ALL_CHECKS];
    UT_hash_handle hh;
};

static const struct gp_blank *find_blank(const struct gp_collection *c, uint64_t layout)
{
    const struct gp_blank *b;
    HASH_FIND(hh, c->blanks, &layout, sizeof(layout), b);
    return b;
}

void gp_bundles_free(struct gp_collection *c)
{
    struct gp_blank *b, *next;
    HASH_ITER(hh, c->blanks, b, next)
    {
        HASH_DEL(c->blanks, b);
        free(b);
    }
}

static void add_blank(struct gp_collection *c, uint64_t layout, const double *counts)
{
    if (find_blank(c, layout))
        return;
    if (HASH_COUNT(c->blanks) >= MOST_BLANKS)
        gp_bundles_free(c);
    struct gp_blank *b = calloc(1, sizeof(*b));
    if (!b)
        return;
    b->layout = layout;
    memcpy(b->counts, counts, sizeof(b->counts));
    HASH_ADD(hh, c->blanks, layout, sizeof(b->layout), b);
    if (!b->hh.tbl)
        free(b);
}

bool gp_bundles_are_reliable(const struct gp_collection *c)
{
    return gp_range_session_hardware_passes(c->session) == 1 &&
           gp_range_session_ranges(c->session) >= GP_MOST_SLOTS + GP_MOST_BUNDLES &&
           c->list.check_count == GP_ALL_CHECKS && c->contradictions < MOST_CONTRADICTIONS;
}

void gp_bundle_contradicted(struct gp_collection *c)
{
    static struct gp_say_limit once;
    if (++c->contradictions == MOST_CONTRADICTIONS)
        gp_say_limited(&once, 1,
                       "launches are not counted together any more: that failed, or their sum "
                       "differed from that of launches counted one by one");
}

/* ---- passes ---------------------------------------------------------------------------------- */

void gp_bundles_add(struct gp_collection *c, unsigned slot, unsigned bundle)
{
    struct gp_bundle *g = &c->bundles[bundle - 1];
    for (; c->bundle_count < bundle; c->bundle_count++)
        c->bundles[c->bundle_count] = (struct gp_bundle){0};
    if (g->members++ == 0)
        g->first = slot;
    c->slots[slot].bundle = bundle;
}

static struct gp_bundle *bundle_of(struct gp_collection *c, unsigned slot)
{
    return &c->bundles[c->slots[slot].bundle - 1];
}

/* One for each layout. */
static bool is_blank_asked(const struct gp_collection *c, uint64_t layout)
{
    for (unsigned i = 0; i < c->slots_given; i++)
        if (c->slots[i].blank_asked && c->slots[i].layout == layout)
            return true;
    return find_blank(c, layout) != NULL;
}

bool gp_bundle_next_pass(struct gp_collection *c, unsigned slot, unsigned *pass)
{
    struct gp_slot *t = &c->slots[slot];
    struct gp_bundle *g = bundle_of(c, slot);
    if (c->sweep != GP_SWEEP_TO_COUNT)
        return false;
    *pass = GP_BLANK_PASS;
    if (!is_blank_asked(c, t->layout)) {
        t->blank_asked = true;
        return true;
    }
    *pass = GP_BUNDLE_PASS;
    if (slot != g->first || g->asked)
        return false;
    g->asked = true;
    return true;
}

unsigned gp_bundle_range(const struct gp_collection *c, unsigned slot, unsigned pass)
{
    return pass == GP_BLANK_PASS ? slot : GP_MOST_SLOTS + c->slots[slot].bundle - 1;
}

void gp_bundle_counted(struct gp_collection *c, unsigned slot, unsigned pass)
{
    if (pass == GP_BLANK_PASS)
        c->slots[slot].blank_counted = true;
    else
        bundle_of(c, slot)->counted = true;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool take_sum(const struct gp_collection *c, unsigned range, double *sum)
{
    const double *values = gp_range_session_values(c->session, range);
    for (size_t w = 0; w < GP_ALL_CHECKS; w++)
        sum[w] = 0;
    for (size_t i = 0; values && i < c->list.hardware_used; i++)
        for (size_t w = 0; w < c->list.check_count; w++)
            if (c->list.columns[i] == c->list.checks[w] && !isnan(values[i]))
                sum[w] = values[i]; /* where nothing ran there is no number */
    return values != NULL;
}

void gp_bundles_take_sums(struct gp_collection *c)
{
    double blank[GP_ALL_CHECKS];
    for (unsigned i = 0; c->session && i < c->slots_given; i++) {
        struct gp_slot *t = &c->slots[i];
        if (t->blank_counted && take_sum(c, i, blank))
            add_blank(c, t->layout, blank);
        t->blank_counted = false;
    }
    for (unsigned i = 0; c->session && i < c->bundle_count; i++) {
        struct gp_bundle *g = &c->bundles[i];
        if (g->counted && take_sum(c, GP_MOST_SLOTS + i, g->sum))
            g->read = true;
        g->counted = false;
    }
}

/* Takes the launch and its copy off the sum, and adds the difference that time may make. */
static bool take_off(struct gp_collection *c, unsigned slot, double *sum, double *may_differ)
{
    unsigned other;
    const struct gp_slot *t = &c->slots[slot];
    const struct gp_blank *blank = find_blank(c, t->layout);
    const double *row = gp_slot_find_like(c, slot, &other);
    if (!blank || !row)
        return false;
    const double *checks = gp_checks_in_row(c, row);
    for (size_t w = 0; w < GP_ALL_CHECKS; w++) {
        sum[w] -= blank->counts[w] + checks[w];
        may_differ[w] += gp_check_tolerance(t->retries, w, checks[w]);
    }
    return true;
}

static bool is_as_it_should_be(struct gp_collection *c, unsigned bundle)
{
    const struct gp_bundle *g = &c->bundles[bundle - 1];
    double left[GP_ALL_CHECKS], may_differ[GP_ALL_CHECKS] = {0};
    bool alike = g->read;
    memcpy(left, g->sum, sizeof(left));
    for (unsigned i = 0; alike && i < c->slots_given; i++)
        alike = c->slots[i].bundle != bundle || take_off(c, i, left, may_differ);
    for (size_t w = 0; alike && w < GP_ALL_CHECKS; w++)
        alike = fabs(left[w]) <= may_differ[w];
    return alike;
}

static void confirm(struct gp_collection *c, unsigned slot)
{
    struct gp_slot *t = &c->slots[slot];
    unsigned other;
    const double *row = gp_slot_find_like(c, slot, &other);
    if (!other && !gp_slot_take_hardware(c, slot)) {
        gp_slot_part(t);
        return;
    }
    if (t->plan.assumed)
        gp_recall_assumed(c->recall, &t->kind, true);
    gp_slot_confirm(c, slot, row, other);
}

void gp_bundles_judge(struct gp_collection *c)
{
    for (unsigned bundle = 1; bundle <= c->bundle_count; bundle++) {
        const bool alike = is_as_it_should_be(c, bundle);
        for (unsigned slot = 0; slot < c->slots_given; slot++) {
            if (c->slots[slot].bundle != bundle)
                continue;
            if (alike)
                confirm(c, slot);
            else
                gp_slot_part(&c->slots[slot]);
            c->slots[slot].bundle = 0;
        }
    }
    c->bundle_count = 0;
}
