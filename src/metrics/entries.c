#include "metrics/entries.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

void gp_variant_free(struct gp_variant *v)
{
    if (!v)
        return;
    gp_formula_free(v->formula);
    gp_formula_free(v->older);
    gp_formula_free(v->needs);
    gp_formula_free(v->weight);
    free(v->when_text);
    free(v->source);
    free(v->absent);
    free(v);
}

bool gp_variant_walk(const struct gp_variant *v, bool (*visit)(void *, struct gp_node *),
                     void *user)
{
    return (!v->formula || gp_formula_walk(v->formula, visit, user)) &&
           (!v->needs || gp_formula_walk(v->needs, visit, user)) &&
           (!v->weight || gp_formula_walk(v->weight, visit, user));
}

/* A formula for these devices alone comes before one for all; none with counters of ranges is for a
 * device that counts events. */
const struct gp_variant *gp_variant_for(const struct gp_entry *e, const struct gp_device *device)
{
    const struct gp_variant *general = NULL;
    for (const struct gp_variant *v = e->variants; v; v = v->next) {
        if (v->counts_in_ranges && device->event_counters)
            continue;
        if (v->when.count == 0)
            general = v;
        else if (gp_condition_holds(&v->when, device))
            return v;
    }
    return general;
}

bool gp_entry_counts_in_ranges(const struct gp_entry *e)
{
    for (const struct gp_variant *v = e->variants; v; v = v->next)
        if (v->when.count == 0 && v->counts_in_ranges)
            return true;
    return false;
}

/* Whether the counters are those of event groups, which present devices no longer have. */
static bool is_for_events(const struct gp_variant *v)
{
    for (size_t i = 0; i < v->when.count; i++)
        if (v->when.terms[i].comparison == GP_EVENTS)
            return true;
    return false;
}

const char *gp_entry_absent(const struct gp_entry *e)
{
    const char *reason = NULL;
    for (const struct gp_variant *v = e->variants; v; v = v->next) {
        if (v->formula && !is_for_events(v))
            return NULL;
        if (v->absent && !is_for_events(v))
            reason = v->absent;
    }
    return reason;
}

bool gp_entry_has_formula(const struct gp_entry *e)
{
    for (const struct gp_variant *v = e->variants; v; v = v->next)
        if (v->formula)
            return true;
    return false;
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

struct gp_set_entry *gp_metrics_set(const struct gp_metrics *m, const char *name)
{
    struct gp_set_entry *s = m->sets;
    while (s && strcmp(s->set.name, name) != 0)
        s = s->next;
    return s;
}

void gp_set_entry_free(struct gp_set_entry *s)
{
    if (!s)
        return;
    free((char *)s->set.name);
    free((char *)s->set.description);
    free((char *)s->set.metrics);
    free(s->file);
    free(s);
}

/* The unit, from the last part of a counter's name. */
static const char *unit_of_counter(const char *name)
{
    const char *part = strrchr(name, '.');
    return part && (strcmp(part, ".pct") == 0 || strncmp(part, ".pct_of_", 8) == 0) ? "%" : "";
}

static struct gp_entry *new_counter_entry(struct gp_metrics *m, const char *name)
{
    struct gp_entry *e = calloc(1, sizeof(*e));
    struct gp_variant *v = calloc(1, sizeof(*v));
    struct gp_node *node = calloc(1, sizeof(*node));
    if (e && v && node) {
        node->kind = GP_NODE_COUNTER;
        node->height = 1;
        node->name = strdup(name);
        v->formula = node;
        e->variants = v;
        e->strings = strdup(name);
        e->metric = (struct gp_metric){.name = e->strings,
                                       .unit = unit_of_counter(name),
                                       .metric_class = "counter",
                                       .description = "the GPU's counter of this name",
                                       .source = "PerfWorks",
                                       .nvprof = ""};
        if (node->name && e->strings && gp_metrics_intern_counter(m, node))
            return e;
        gp_entry_free(e);
        return NULL;
    }
    free(e);
    free(v);
    free(node);
    return NULL;
}

struct gp_entry *gp_metrics_counter_entry(struct gp_metrics *m, const char *name)
{
    for (size_t i = 0; i < m->asked_count; i++)
        if (strcmp(m->asked[i]->metric.name, name) == 0)
            return m->asked[i];
    struct gp_entry **grown = realloc(m->asked, (m->asked_count + 1) * sizeof(struct gp_entry *));
    if (!grown)
        return NULL;
    m->asked = grown;
    struct gp_entry *e = new_counter_entry(m, name);
    if (e)
        m->asked[m->asked_count++] = e;
    return e;
}

bool gp_metrics_append(struct gp_metrics *m, struct gp_entry *e)
{
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 64;
        struct gp_entry **grown = realloc(m->entries, capacity * sizeof(struct gp_entry *));
        if (!grown)
            return false;
        m->entries = grown;
        m->capacity = capacity;
    }
    m->entries[m->count++] = e;
    return true;
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

bool gp_metrics_intern_counter(void *user, struct gp_node *operand)
{
    struct gp_metrics *m = user;
    if (operand->kind != GP_NODE_COUNTER)
        return true;
    size_t length = strlen(operand->name);
    struct gp_counter_name *c = NULL;
    HASH_FIND(hh, m->counters, operand->name, length, c);
    if (!c) {
        c = calloc(1, sizeof(*c) + length + 1);
        if (!c)
            return false;
        memcpy(c->name, operand->name, length);
        HASH_ADD_KEYPTR(hh, m->counters, c->name, length, c);
        if (!c->hh.tbl) {
            free(c);
            return false;
        }
    }
    operand->bound = c->name;
    return true;
}

const char *gp_metrics_counter_name(const struct gp_metrics *m, const char *name)
{
    struct gp_counter_name *c = NULL;
    HASH_FIND(hh, m->counters, name, strlen(name), c);
    return c ? c->name : NULL;
}
