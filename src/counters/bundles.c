/* Launches that are counted together (counters/batch.h). Before each of them its copy is put in
 * place, by a kernel of ours that is counted as well: as many instructions each time, where the
 * layout of the copies is the same. So these are counted in a range of their own, once. Where
 * parts of allocations are copied that depends on the launches before, too: then these
 * instructions are counted for each bundle, until it is known how they follow from the work
 * (counters/blank_law.c). The rest has to be the sum of the check counters of
 * launches like these. */
#include "base/hash.h"
#include "base/log.h"
#include "counters/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Layouts remembered; when there are more all are forgotten. */
#define MOST_BLANKS 4096
/* Launches of bundles with a wrong sum, or none, that were alike all the same, beyond those of
 * right ones: then this GPU, or its driver, copies in another way each time, or the memory is too
 * small.
 */
#define MOST_CONTRADICTIONS (3 * GP_MOST_TOGETHER)

/* The check counters of putting a copy of that layout in place. */
struct gp_blank {
    uint64_t layout;
    double counts[GP_ALL_CHECKS];
    UT_hash_handle hh;
};

static const struct gp_blank *find_blank(const struct gp_range_collection *c, uint64_t layout)
{
    const struct gp_blank *b;
    HASH_FIND(hh, c->blanks, &layout, sizeof(layout), b);
    return b;
}

void bundles_free(struct gp_range_collection *c)
{
    struct gp_blank *b, *next;
    HASH_ITER(hh, c->blanks, b, next)
    {
        HASH_DEL(c->blanks, b);
        free(b);
    }
}

static void add_blank(struct gp_range_collection *c, uint64_t layout, const double *counts)
{
    if (find_blank(c, layout))
        return;
    if (HASH_COUNT(c->blanks) >= MOST_BLANKS)
        bundles_free(c);
    struct gp_blank *b = calloc(1, sizeof(*b));
    if (!b)
        return;
    b->layout = layout;
    memcpy(b->counts, counts, sizeof(b->counts));
    HASH_ADD(hh, c->blanks, layout, sizeof(b->layout), b);
    if (!b->hh.tbl)
        free(b);
}

bool bundles_are_reliable(const struct gp_range_collection *c)
{
    return range_session_hardware_passes(c->session) == 1 &&
           range_session_ranges(c->session) >= GP_MOST_RANGES &&
           c->list.check_count == GP_ALL_CHECKS && c->contradictions < MOST_CONTRADICTIONS;
}

void bundles_confirmed(struct gp_range_collection *c, unsigned launches)
{
    if (c->contradictions < MOST_CONTRADICTIONS)
        c->contradictions -= launches < c->contradictions ? launches : c->contradictions;
}

void bundles_contradicted(struct gp_range_collection *c, unsigned launches)
{
    static struct gp_say_limit once;
    const bool were_reliable = c->contradictions < MOST_CONTRADICTIONS;
    c->contradictions += launches;
    if (were_reliable && c->contradictions >= MOST_CONTRADICTIONS)
        gp_say_limited(&once, 1,
                       "launches are not counted together any more: that failed, or their sum "
                       "differed from that of launches counted one by one");
}

bool bundles_know_blank(const struct gp_range_collection *c, uint64_t layout)
{
    return find_blank(c, layout) != NULL;
}

unsigned *bundles_range(struct gp_range_collection *c, const struct gp_step *step)
{
    struct gp_member *m = step->member;
    return step->kind == GP_STEP_TOGETHER ? &c->base.batch.bundles[m->bundle - 1].range : &m->range;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static bool take_sum(const struct gp_range_collection *c, unsigned range, double *sum)
{
    const double *values = range ? range_session_values(c->session, range - 1) : NULL;
    for (size_t w = 0; w < GP_ALL_CHECKS; w++)
        sum[w] = 0;
    for (size_t i = 0; values && i < c->list.hardware_used; i++)
        for (size_t w = 0; w < c->list.check_count; w++)
            if (c->list.columns[i] == c->list.checks[w] && !isnan(values[i]))
                sum[w] = values[i]; /* where nothing ran there is no number */
    return values != NULL;
}

static void take_blank(struct gp_range_collection *c, struct gp_member *m)
{
    double blank[GP_ALL_CHECKS];
    if (m->blank == GP_BLANK_COUNTED && take_sum(c, m->range, blank))
        add_blank(c, m->run.layout, blank);
    if (m->blank == GP_BLANK_COUNTED)
        m->blank = GP_BLANK_ASKED;
}

void bundles_take(struct gp_range_collection *c)
{
    struct gp_batch *b = &c->base.batch;
    for (unsigned i = 0; c->session && i < b->count; i++)
        take_blank(c, b->members[i]);
    for (unsigned i = 0; c->session && i < b->bundle_count; i++) {
        struct gp_bundle *g = &b->bundles[i];
        if (g->progress == GP_BUNDLE_COUNTED && take_sum(c, g->range, c->sums[i]))
            g->progress = GP_BUNDLE_READ;
        if (g->blank == GP_BUNDLE_COUNTED &&
            take_sum(c, b->members[g->first]->range, c->blank_sums[i])) {
            g->blank = GP_BUNDLE_READ;
            blank_law_learn(&c->blank_law, &g->work, c->blank_sums[i]);
        }
    }
}

bool bundles_tell_blank(struct gp_range_collection *c, const struct gp_step *step,
                        const struct gp_put_work *work)
{
    const unsigned index = step->member->bundle - 1;
    struct gp_bundle *g = &c->base.batch.bundles[index];
    g->work = *work;
    if (!blank_law_tells(&c->blank_law, work, c->blank_sums[index]))
        return false;
    g->blank = GP_BUNDLE_READ;
    g->by_law = true;
    return true;
}

bool bundles_sum(const struct gp_range_collection *c, unsigned number, double *sum)
{
    const struct gp_bundle *g = &c->base.batch.bundles[number - 1];
    for (size_t w = 0; w < GP_ALL_CHECKS; w++)
        sum[w] = c->sums[number - 1][w] - (g->in_parts ? c->blank_sums[number - 1][w] : 0);
    return g->progress == GP_BUNDLE_READ && (!g->in_parts || g->blank == GP_BUNDLE_READ);
}

bool bundles_take_off(const struct gp_range_collection *c, const struct gp_member *m,
                      const double *checks, double *sum, double *may_differ)
{
    const bool in_parts = c->base.batch.bundles[m->bundle - 1].in_parts;
    const struct gp_blank *blank = in_parts ? NULL : find_blank(c, m->run.layout);
    for (size_t w = 0; w < GP_ALL_CHECKS; w++) {
        sum[w] -= (blank ? blank->counts[w] : 0) + checks[w];
        may_differ[w] += check_tolerance(m, w, checks[w]);
    }
    return in_parts || blank;
}
