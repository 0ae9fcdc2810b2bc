/* Which metrics the user wants, and the counters that these need. */
#include "metrics/entries.h"

#include <stdlib.h>
#include <string.h>

size_t gp_metrics_selected_count(const struct gp_metrics *m)
{
    return m->selected_count;
}

const struct gp_metric *gp_metrics_selected(const struct gp_metrics *m, size_t i)
{
    return &m->selected[i]->metric;
}

struct selection {
    struct gp_entry **entries; /* room for every metric */
    size_t count;
};

static void select_entry(struct selection *s, struct gp_entry *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->entries[i] == e)
            return;
    s->entries[s->count++] = e;
}

/* Returns -1 when there is no such metric. */
static int select_name(const struct gp_metrics *m, struct selection *s, const char *name)
{
    int all = strcmp(name, "all") == 0, usual = strcmp(name, "default") == 0;
    if (all || usual) {
        for (size_t i = 0; i < m->count; i++)
            if (all || m->entries[i]->metric.in_default_set)
                select_entry(s, m->entries[i]);
        return 0;
    }
    struct gp_entry **slot = gp_metrics_slot(m, name);
    if (slot)
        select_entry(s, *slot);
    return slot ? 0 : -1;
}

int gp_metrics_select(struct gp_metrics *m, const char *list, struct gp_text *problems)
{
    struct selection s = {.entries = calloc(m->count + 1, sizeof(struct gp_entry *))};
    struct gp_text name = {0};
    int answer = s.entries ? 0 : -1;
    const char *p = list && *list ? list : "default";
    while (s.entries && *p) {
        p += strspn(p, ", \t\n");
        size_t length = strcspn(p, ", \t\n");
        if (length == 0)
            break;
        gp_text_clear(&name);
        gp_text_add_bytes(&name, p, length);
        p += length;
        if (name.failed) {
            answer = -1;
            break;
        }
        if (select_name(m, &s, name.data) != 0) {
            gp_text_addf(problems, "there is no metric '%s'", name.data);
            gp_metrics_add_nearest(m, name.data, problems);
            gp_text_add(problems, "\n");
            answer = -1;
        }
    }
    if (answer == 0 && list && *list && s.count == 0) {
        gp_text_add(problems, "the list of metrics is empty\n");
        answer = -1;
    }
    if (name.failed || !s.entries)
        gp_text_add(problems, "out of memory while selecting metrics\n");
    gp_text_free(&name);
    if (answer != 0) {
        free(s.entries);
        return -1;
    }
    free(m->selected);
    m->selected = s.entries;
    m->selected_count = s.count;
    return 0;
}

struct gathering {
    const struct gp_device *device;
    const char **names;
    size_t count, capacity;
};

static int gather_entry(struct gathering *g, const struct gp_entry *e);

static int gather_operand(void *user, struct gp_node *operand)
{
    struct gathering *g = user;
    if (operand->kind == GP_NODE_METRIC)
        return gather_entry(g, operand->bound);
    if (operand->kind != GP_NODE_COUNTER)
        return 0;
    for (size_t i = 0; i < g->count; i++)
        if (g->names[i] == operand->bound)
            return 0;
    if (g->count < g->capacity)
        g->names[g->count++] = operand->bound;
    return 0;
}

static int gather_entry(struct gathering *g, const struct gp_entry *e)
{
    const struct gp_variant *v = gp_variant_for(e, g->device);
    return v ? gp_variant_walk(v, gather_operand, g) : 0;
}

int gp_metrics_counters(const struct gp_metrics *m, const struct gp_device *device,
                        const char ***names, size_t *count)
{
    size_t capacity = HASH_COUNT(m->counters);
    struct gathering g = {
        .device = device,
        .capacity = capacity,
        .names = calloc(capacity + 1, sizeof(const char *)),
    };
    if (!g.names)
        return -1;
    for (size_t i = 0; i < m->selected_count; i++)
        gather_entry(&g, m->selected[i]);
    *names = g.names;
    *count = g.count;
    return 0;
}
