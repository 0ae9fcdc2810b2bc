#include "report/remedies.h"

#include "report/rules.h"

#include <math.h>
#include <stdlib.h>

static bool has_values(const struct gp_piece *piece)
{
    while (piece && !piece->value)
        piece = piece->next;
    return piece;
}

/* Whether the advice says nothing of its kernel but the name. */
static bool is_general(const struct gp_advice *a)
{
    return a->row && !a->sequence && !a->where && !has_values(a->rule->evidence) &&
           !has_values(a->rule->text);
}

static bool is_same(const struct gp_advice *a, const struct gp_advice *b)
{
    return a->rule == b->rule && is_general(a) && is_general(b);
}

const struct gp_advice *gp_remedy_next(const struct gp_remedy *change,
                                       const struct gp_advice_list *list,
                                       const struct gp_advice *advice)
{
    for (advice++; advice < list->list + list->count; advice++)
        if (is_same(change->first, advice))
            return advice;
    return NULL;
}

static void add(struct gp_remedies *r, const struct gp_advice *a)
{
    for (size_t i = 0; i < r->count; i++) {
        struct gp_remedy *change = &r->list[i];
        if (!is_same(change->first, a))
            continue;
        change->kernels++;
        change->gain = fmin(1, change->gain + a->gain);
        change->rank += a->rank;
        return;
    }
    r->list[r->count++] = (struct gp_remedy){a, 1, a->gain, a->rank};
}

static int compare(const void *x, const void *y)
{
    const struct gp_remedy *a = x, *b = y;
    if (a->first->rule->guess != b->first->rule->guess)
        return a->first->rule->guess ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    return (a->first > b->first) - (a->first < b->first);
}

bool gp_remedies_make(struct gp_remedies *r, const struct gp_advice_list *advice)
{
    *r = (struct gp_remedies){.list = calloc(advice->count + 1, sizeof(*r->list))};
    for (size_t i = 0; r->list && i < advice->count; i++)
        add(r, &advice->list[i]);
    if (r->list)
        qsort(r->list, r->count, sizeof(*r->list), compare);
    return r->list;
}

void gp_remedies_free(struct gp_remedies *r)
{
    free(r->list);
    *r = (struct gp_remedies){0};
}
