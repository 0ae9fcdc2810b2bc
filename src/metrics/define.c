#include "metrics/define.h"

#include "metrics/entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NESTING 16 /* of metrics that use metrics, as among the definitions */

struct binding {
    struct gp_metrics *m;
    unsigned highest;
    char *why;
    size_t why_size;
};

/* Visits an operand: binds the names of counters and metrics. */
static bool bind_operand(void *user, struct gp_node *operand)
{
    struct binding *b = user;
    if (operand->kind == GP_NODE_COUNTER) {
        snprintf(b->why, b->why_size, "out of memory");
        return gp_metrics_intern_counter(b->m, operand);
    }
    if (operand->kind != GP_NODE_METRIC)
        return true;
    struct gp_entry **slot = gp_metrics_slot(b->m, operand->name);
    if (!slot) {
        struct gp_text text = {0};
        gp_text_addf(&text, "there is no metric '%s'", operand->name);
        gp_metrics_add_nearest(b->m, operand->name, &text);
        snprintf(b->why, b->why_size, "%s", gp_text_string(&text));
        gp_text_free(&text);
        return false;
    }
    operand->bound = *slot;
    if ((*slot)->height > b->highest)
        b->highest = (*slot)->height;
    if (b->highest < MOST_NESTING)
        return true;
    snprintf(b->why, b->why_size, "more than %d metrics deep", MOST_NESTING);
    return false;
}

static bool describe(struct gp_entry *e, const char *formula)
{
    e->strings = strdup(formula);
    e->file = strdup("");
    if (!e->strings || !e->file)
        return false;
    e->metric = (struct gp_metric){.name = e->strings,
                                   .unit = "",
                                   .metric_class = "",
                                   .description = "",
                                   .source = "",
                                   .nvprof = "",
                                   .user_defined = true};
    return true;
}

/* Takes the formula over. */
static struct gp_entry *new_entry(struct gp_metrics *m, struct gp_node *formula, unsigned height)
{
    struct gp_text name = {0};
    struct gp_entry *e = calloc(1, sizeof(*e));
    struct gp_variant *v = calloc(1, sizeof(*v));
    gp_formula_print(formula, &name);
    bool made = e && v && !name.failed && describe(e, name.data);
    gp_text_free(&name);
    if (made) {
        v->formula = formula;
        e->variants = v;
        e->height = height;
        if (gp_metrics_append(m, e))
            return e;
        gp_entry_free(e);
        return NULL;
    }
    free(v);
    gp_formula_free(formula);
    if (e)
        gp_entry_free(e);
    return NULL;
}

const struct gp_metric *gp_metrics_define(struct gp_metrics *m, const char *formula, char *why,
                                          size_t why_size)
{
    const struct gp_metric *known = gp_metrics_find(m, formula);
    if (known)
        return known;
    struct gp_node *node = gp_formula_parse(formula, why, why_size);
    if (!node)
        return NULL;
    struct binding b = {.m = m, .why = why, .why_size = why_size};
    if (!gp_formula_walk(node, bind_operand, &b)) {
        gp_formula_free(node);
        return NULL;
    }
    struct gp_text name = {0};
    gp_formula_print(node, &name);
    known = gp_metrics_find(m, gp_text_string(&name));
    gp_text_free(&name);
    if (known) {
        gp_formula_free(node);
        return known;
    }
    struct gp_entry *e = new_entry(m, node, b.highest + 1);
    if (!e)
        snprintf(why, why_size, "out of memory");
    return e ? &e->metric : NULL;
}

bool gp_metrics_select_also(struct gp_metrics *m, const struct gp_metric *metric)
{
    struct gp_entry *e = (struct gp_entry *)metric;
    for (size_t i = 0; i < m->selected_count; i++)
        if (m->selected[i] == e)
            return true;
    struct gp_entry **more = realloc(m->selected, (m->selected_count + 1) * sizeof(*more));
    if (!more)
        return false;
    more[m->selected_count++] = e;
    m->counted_count = m->selected_count;
    m->selected = more;
    return true;
}

struct visit {
    const struct gp_device *device;
    void (*visit)(void *user, const char *counter);
    void *user;
};

static bool visit_operand(void *user, struct gp_node *operand)
{
    const struct visit *v = user;
    if (operand->kind == GP_NODE_METRIC)
        gp_metric_visit_counters(operand->bound, v->device, v->visit, v->user);
    else if (operand->kind == GP_NODE_COUNTER)
        v->visit(v->user, operand->name);
    return true;
}

void gp_metric_visit_counters(const struct gp_metric *metric, const struct gp_device *device,
                              void (*visit)(void *user, const char *counter), void *user)
{
    struct visit v = {.device = device, .visit = visit, .user = user};
    const struct gp_variant *variant = gp_variant_for((const struct gp_entry *)metric, device);
    if (variant && variant->formula)
        gp_formula_walk(variant->formula, visit_operand, &v);
}

struct having {
    const struct gp_device *device;
    bool (*has)(void *user, const char *counter);
    void *user;
};

static bool is_there(void *user, struct gp_node *operand)
{
    const struct having *h = user;
    if (operand->kind == GP_NODE_METRIC)
        return gp_metric_can_be_given(operand->bound, h->device, h->has, h->user);
    return operand->kind != GP_NODE_COUNTER || h->has(h->user, operand->name);
}

bool gp_metric_can_be_given(const struct gp_metric *metric, const struct gp_device *device,
                            bool (*has)(void *user, const char *counter), void *user)
{
    struct having h = {.device = device, .has = has, .user = user};
    const struct gp_variant *v = gp_variant_for((const struct gp_entry *)metric, device);
    if (!v || !v->formula)
        return false;
    if (!gp_formula_walk(v->formula, is_there, &h))
        return v->older && gp_formula_walk(v->older, is_there, &h);
    return !v->needs || gp_formula_walk(v->needs, is_there, &h);
}
