#include "counters/inside.h"

#include <math.h>
#include <string.h>

/* Passes that have to be as the law says before it is relied on. */
#define LEAST_CONFIRMED 4
/* Times that a pass was not: then there is none. */
#define MOST_BROKEN 3
/* The rest of an amount that follows from others, as a part of the largest one. */
#define ROUNDING 1e-9

/* Takes off all that the equations say; `most`: the largest amount there was. */
static double reduce(const struct gp_blank_law *law, struct gp_blank_equation *e)
{
    double most = 0;
    for (unsigned i = 0; i < GP_BLANK_AMOUNTS; i++)
        most = fmax(most, fabs(e->amounts[i]));
    for (unsigned k = 0; k < law->count; k++) {
        const struct gp_blank_equation *known = &law->equations[k];
        const double times = e->amounts[known->pivot];
        for (unsigned i = 0; i < GP_BLANK_AMOUNTS; i++)
            e->amounts[i] -= times * known->amounts[i];
        for (unsigned i = 0; i < GP_ALL_CHECKS; i++)
            e->counts[i] -= times * known->counts[i];
        e->amounts[known->pivot] = 0;
    }
    return most;
}

static unsigned find_layout(const struct gp_blank_law *law, uint64_t layout)
{
    unsigned i = 0;
    while (i < law->layout_count && law->layouts[i] != layout)
        i++;
    return i;
}

/* False where it has a layout that the law does not have. */
static bool make_equation(struct gp_blank_equation *e, const struct gp_blank_law *law,
                          const struct gp_put_work *work, const double *counts)
{
    *e = (struct gp_blank_equation){.pivot = 0};
    for (unsigned i = 0; i < GP_PUT_AMOUNTS; i++)
        e->amounts[i] = (double)work->amounts[i];
    for (unsigned i = 0; i < work->layout_count; i++) {
        const unsigned at = find_layout(law, work->layouts[i].layout);
        if (at == law->layout_count)
            return false;
        e->amounts[GP_PUT_AMOUNTS + at] = (double)work->layouts[i].times;
    }
    if (counts)
        memcpy(e->counts, counts, sizeof(e->counts));
    return true;
}

/* Where there is no room for its layouts the law begins anew. */
static void add_layouts(struct gp_blank_law *law, const struct gp_put_work *work)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < work->layout_count; i++)
        missing += find_layout(law, work->layouts[i].layout) == law->layout_count;
    if (law->layout_count + missing > GP_BLANK_LAYOUTS)
        *law = (struct gp_blank_law){.broken = law->broken};
    for (unsigned i = 0; i < work->layout_count; i++)
        if (find_layout(law, work->layouts[i].layout) == law->layout_count)
            law->layouts[law->layout_count++] = work->layouts[i].layout;
}

/* The amount with most left; `follows`: there is none. */
static unsigned find_pivot(const struct gp_blank_equation *e, double most, bool *follows)
{
    unsigned pivot = 0;
    for (unsigned i = 1; i < GP_BLANK_AMOUNTS; i++)
        if (fabs(e->amounts[i]) > fabs(e->amounts[pivot]))
            pivot = i;
    *follows = fabs(e->amounts[pivot]) <= ROUNDING * most;
    return pivot;
}

static void add(struct gp_blank_law *law, struct gp_blank_equation *e, unsigned pivot)
{
    const double by = e->amounts[pivot];
    for (unsigned i = 0; i < GP_BLANK_AMOUNTS; i++)
        e->amounts[i] /= by;
    for (unsigned i = 0; i < GP_ALL_CHECKS; i++)
        e->counts[i] /= by;
    e->amounts[pivot] = 1;
    e->pivot = pivot;
    for (unsigned k = 0; k < law->count; k++) {
        struct gp_blank_equation *known = &law->equations[k];
        const double times = known->amounts[pivot];
        for (unsigned i = 0; i < GP_BLANK_AMOUNTS; i++)
            known->amounts[i] -= times * e->amounts[i];
        for (unsigned i = 0; i < GP_ALL_CHECKS; i++)
            known->counts[i] -= times * e->counts[i];
        known->amounts[pivot] = 0;
    }
    law->equations[law->count++] = *e;
    law->confirmed = 0;
}

static bool is_nothing(const double counts[GP_ALL_CHECKS])
{
    bool nothing = true;
    for (unsigned i = 0; i < GP_ALL_CHECKS; i++)
        nothing = nothing && fabs(counts[i]) < 0.5;
    return nothing;
}

void blank_law_learn(struct gp_blank_law *law, const struct gp_put_work *work,
                     const double counts[GP_ALL_CHECKS])
{
    struct gp_blank_equation e;
    bool follows;
    if (work->irregular || law->broken >= MOST_BROKEN)
        return;
    add_layouts(law, work);
    if (!make_equation(&e, law, work, counts))
        return;
    const double most = reduce(law, &e);
    const unsigned pivot = find_pivot(&e, most, &follows);
    if (most == 0)
        return; /* without work there is nothing to confirm */
    if (!follows)
        add(law, &e, pivot);
    else if (is_nothing(e.counts))
        law->confirmed++;
    else
        blank_law_break(law);
}

void blank_law_break(struct gp_blank_law *law)
{
    if (law->count)
        *law = (struct gp_blank_law){.broken = law->broken + 1};
}

bool blank_law_tells(const struct gp_blank_law *law, const struct gp_put_work *work,
                     double counts[GP_ALL_CHECKS])
{
    struct gp_blank_equation e;
    bool follows;
    if (work->irregular || law->confirmed < LEAST_CONFIRMED || !make_equation(&e, law, work, NULL))
        return false;
    const double most = reduce(law, &e);
    find_pivot(&e, most, &follows);
    for (unsigned i = 0; i < GP_ALL_CHECKS; i++)
        counts[i] = -rint(e.counts[i]);
    return follows;
}
