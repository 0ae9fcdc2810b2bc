#include "metrics/entries.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

void gp_variant_free(struct gp_variant *v)
{
    if (!v)
        return;
    gp_formula_free(v->formula);
    gp_formula_free(v->needs);
    free(v->when_text);
    free(v->source);
    free(v);
}

int gp_variant_walk(const struct gp_variant *v, int (*visit)(void *, struct gp_node *), void *user)
{
    int answer = gp_formula_walk(v->formula, visit, user);
    return answer == 0 && v->needs ? gp_formula_walk(v->needs, visit, user) : answer;
}

/* A formula for these devices alone comes before one for all. */
const struct gp_variant *gp_variant_for(const struct gp_entry *e, const struct gp_device *device)
{
    const struct gp_variant *general = NULL;
    for (const struct gp_variant *v = e->variants; v; v = v->next) {
        if (v->when.count == 0)
            general = v;
        else if (gp_condition_holds(&v->when, device))
            return v;
    }
    return general;
}

void gp_entry_free(struct gp_entry *e)
{
    while (e) {
        struct gp_entry *replaced = e->replaced;
        while (e->variants) {
            struct gp_variant *v = e->variants;
            e->variants = v->next;
            gp_variant_free(v);
        }
        free(e->strings);
        free(e->file);
        free(e);
        e = replaced;
    }
}

struct gp_entry **gp_metrics_slot(const struct gp_metrics *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->entries[i]->metric.name, name) == 0)
            return &m->entries[i];
    return NULL;
}

int gp_metrics_append(struct gp_metrics *m, struct gp_entry *e)
{
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct gp_entry **grown = realloc(m->entries, capacity * sizeof(struct gp_entry *));
        if (!grown)
            return -1;
        m->entries = grown;
        m->capacity = capacity;
    }
    m->entries[m->count++] = e;
    return 0;
}

void gp_metrics_drop(struct gp_metrics *m, struct gp_entry **slot)
{
    struct gp_entry *e = *slot;
    if (e->replaced) {
        *slot = e->replaced;
        e->replaced = NULL;
    } else {
        m->count--;
        memmove(slot, slot + 1, (size_t)(m->entries + m->count - slot) * sizeof(struct gp_entry *));
    }
    gp_entry_free(e);
}

static const char *metric_name(const void *user, size_t i)
{
    const struct gp_metrics *m = user;
    return m->entries[i]->metric.name;
}

void gp_metrics_add_nearest(const struct gp_metrics *m, const char *name, struct gp_text *out)
{
    const char *nearest = gp_nearest(name, m->count, metric_name, m);
    if (nearest)
        gp_text_addf(out, "; did you mean %s?", nearest);
}

int gp_metrics_intern_counter(void *user, struct gp_node *operand)
{
    struct gp_metrics *m = user;
    if (operand->kind != GP_NODE_COUNTER)
        return 0;
    size_t length = strlen(operand->name);
    struct gp_counter_name *c = NULL;
    HASH_FIND(hh, m->counters, operand->name, length, c);
    if (!c) {
        c = calloc(1, sizeof(*c) + length + 1);
        if (!c)
            return -1;
        memcpy(c->name, operand->name, length);
        HASH_ADD_KEYPTR(hh, m->counters, c->name, length, c);
        if (!c->hh.tbl) {
            free(c);
            return -1;
        }
    }
    operand->bound = c->name;
    return 0;
}

const char *gp_metrics_counter_name(const struct gp_metrics *m, const char *name)
{
    struct gp_counter_name *c = NULL;
    HASH_FIND(hh, m->counters, name, strlen(name), c);
    return c ? c->name : NULL;
}
