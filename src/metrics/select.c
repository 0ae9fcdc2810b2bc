/* Which metrics the user wants, and the counters that these need. */
#include "metrics/define.h"
#include "metrics/entries.h"
#include "metrics/weight.h"

#include <ctype.h>
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

static void select_default(const struct gp_metrics *m, struct selection *s)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i]->metric.in_default_set)
            select_entry(s, m->entries[i]);
}

/* nvprof's events are counters under other names, and a metric that no device has would only add a
 * message. */
static void select_all(const struct gp_metrics *m, struct selection *s)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->entries[i]->metric.metric_class, "event") != 0 &&
            !gp_entry_absent(m->entries[i]))
            select_entry(s, m->entries[i]);
}

static bool complain(struct gp_text *problems, const char *name, const char *what)
{
    gp_text_addf(problems, "'%s': %s\n", name, what);
    return false;
}

static bool select_counter(struct gp_metrics *m, struct selection *s, const char *name,
                           struct gp_text *problems)
{
    if (strpbrk(name, "*?"))
        return complain(problems, name,
                        "the command gpuprof finds the counters that this stands for, on a machine "
                        "with a GPU or with --chip");
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '.')
            return complain(problems, name, "a counter's name has letters, digits, '_' and '.'");
    struct gp_entry *e = gp_metrics_counter_entry(m, name);
    if (!e)
        return complain(problems, name, "out of memory");
    select_entry(s, e);
    return true;
}

/* A metric, a counter, or one of the two sets that no file defines. */
static bool select_name(struct gp_metrics *m, struct selection *s, const char *name,
                        struct gp_text *problems)
{
    if (strcmp(name, "all") == 0) {
        select_all(m, s);
        return true;
    }
    if (strcmp(name, "default") == 0) {
        select_default(m, s);
        return true;
    }
    struct gp_entry **slot = gp_metrics_slot(m, name);
    if (!slot && strstr(name, "__"))
        return select_counter(m, s, name, problems);
    if (!slot) {
        gp_text_addf(problems, "there is no metric '%s'", name);
        gp_metrics_add_nearest(m, name, problems);
        gp_text_add(problems, "\n");
        return false;
    }
    if (!gp_entry_has_formula(*slot))
        return complain(problems, name, gp_entry_absent(*slot));
    select_entry(s, *slot);
    return true;
}

static bool select_list(struct gp_metrics *m, struct selection *s, const char *list, bool in_set,
                        struct gp_text *problems)
{
    struct gp_text name = {0};
    bool selected = true;
    for (const char *p = list;;) {
        p += strspn(p, ", \t\n");
        size_t length = strcspn(p, ", \t\n");
        if (length == 0)
            break;
        gp_text_clear(&name);
        gp_text_add_bytes(&name, p, length);
        p += length;
        if (name.failed) {
            selected = complain(problems, list, "out of memory");
            break;
        }
        const struct gp_set_entry *set = in_set ? NULL : gp_metrics_set(m, name.data);
        if (!(set ? select_list(m, s, set->set.metrics, true, problems)
                  : select_name(m, s, name.data, problems)))
            selected = false;
    }
    gp_text_free(&name);
    return selected;
}

/* How many metrics a list can name at the most. */
static size_t room_for(const struct gp_metrics *m, const char *list)
{
    size_t words = 0;
    for (const char *p = list; *p; p++)
        words += *p == ',' || *p == ' ' || *p == '\t' || *p == '\n';
    for (const struct gp_set_entry *s = m->sets; s; s = s->next)
        words += strlen(s->set.metrics);
    return m->count + words + 1;
}

bool gp_metrics_select(struct gp_metrics *m, const char *list, struct gp_text *problems)
{
    const char *text = list && *list ? list : "default";
    struct selection s = {.entries = calloc(room_for(m, text), sizeof(struct gp_entry *))};
    if (!s.entries) {
        gp_text_add(problems, "out of memory while selecting metrics\n");
        return false;
    }
    bool selected = select_list(m, &s, text, false, problems);
    if (selected && list && *list && s.count == 0) {
        gp_text_add(problems, "the list of metrics is empty\n");
        selected = false;
    }
    if (!selected) {
        free(s.entries);
        return false;
    }
    free(m->selected);
    m->selected = s.entries;
    m->selected_count = m->counted_count = s.count;
    return true;
}

static bool is_selected(const struct gp_metrics *m, const struct gp_entry *e)
{
    size_t i = 0;
    while (i < m->selected_count && m->selected[i] != e)
        i++;
    return i < m->selected_count;
}

static bool has_default_set(const struct gp_metrics *m)
{
    size_t i = 0;
    while (i < m->count && (!m->entries[i]->metric.in_default_set || is_selected(m, m->entries[i])))
        i++;
    return i == m->count;
}

void gp_metrics_select_diagnosis(struct gp_metrics *m)
{
    const struct gp_set_entry *set = gp_metrics_set(m, "diagnosis");
    struct gp_text problems = {0};
    if (!set || !has_default_set(m))
        return;
    struct selection s = {.entries = calloc(room_for(m, set->set.metrics) + m->selected_count,
                                            sizeof(struct gp_entry *))};
    if (!s.entries)
        return;
    memcpy(s.entries, m->selected, m->selected_count * sizeof(*s.entries));
    s.count = m->selected_count;
    (void)select_list(m, &s, set->set.metrics, true, &problems); /* it was read with its file */
    gp_text_free(&problems);
    free(m->selected);
    m->selected = s.entries;
    m->selected_count = s.count;
}

bool gp_metrics_have_diagnosis(const struct gp_metrics *m)
{
    return m->selected_count > m->counted_count;
}

struct gathering {
    const struct gp_device *device;
    const char **names;
    size_t count, capacity;
};

static void gather_entry(struct gathering *g, const struct gp_entry *e);

static bool gather_operand(void *user, struct gp_node *operand)
{
    struct gathering *g = user;
    if (operand->kind == GP_NODE_METRIC)
        gather_entry(g, operand->bound);
    if (operand->kind != GP_NODE_COUNTER)
        return true;
    for (size_t i = 0; i < g->count; i++)
        if (g->names[i] == operand->bound)
            return true;
    if (g->count < g->capacity)
        g->names[g->count++] = operand->bound;
    return true;
}

static void gather_entry(struct gathering *g, const struct gp_entry *e)
{
    const struct gp_variant *v = gp_variant_for(e, g->device);
    if (v)
        gp_variant_walk(v, gather_operand, g);
}

static bool begin_gathering(struct gathering *g, const struct gp_metrics *m,
                            const struct gp_device *device)
{
    *g = (struct gathering){.device = device, .capacity = HASH_COUNT(m->counters)};
    g->names = calloc(g->capacity + 1, sizeof(const char *));
    return g->names != NULL;
}

static void note_counter(void *user, const char *counter)
{
    (void)counter;
    *(bool *)user = true;
}

/* Whether the mean of a selected metric needs the time of each launch. That of facts does not: they
 * are the same in all launches of a configuration. */
static bool need_time(const struct gp_metrics *m, const struct gp_device *device)
{
    for (size_t i = 0; i < m->counted_count; i++) {
        const struct gp_metric *metric = &m->selected[i]->metric;
        const struct gp_node *formula;
        bool counted = false;
        gp_metric_visit_counters(metric, device, note_counter, &counted);
        if (counted && gp_metric_weighting(metric, device, &formula) == GP_BY_TIME)
            return true;
    }
    return false;
}

static void gather_counted(struct gathering *g, const struct gp_metrics *m,
                           const struct gp_device *device)
{
    for (size_t i = 0; i < m->counted_count; i++)
        gather_entry(g, m->selected[i]);
    struct gp_entry **duration = gp_metrics_slot(m, "duration");
    if (duration && need_time(m, device))
        gather_entry(g, *duration);
}

bool gp_metrics_counters(const struct gp_metrics *m, const struct gp_device *device,
                         const char ***names, size_t *count)
{
    struct gathering g;
    if (!begin_gathering(&g, m, device))
        return false;
    gather_counted(&g, m, device);
    *names = g.names;
    *count = g.count;
    return true;
}

bool gp_metrics_diagnosis_counters(const struct gp_metrics *m, const struct gp_device *device,
                                   const char ***names, size_t *count)
{
    struct gathering g;
    if (!begin_gathering(&g, m, device))
        return false;
    gather_counted(&g, m, device);
    const size_t first = g.count;
    for (size_t i = m->counted_count; i < m->selected_count; i++)
        gather_entry(&g, m->selected[i]);
    memmove(g.names, g.names + first, (g.count - first) * sizeof(*g.names));
    *names = g.names;
    *count = g.count - first;
    return true;
}

bool gp_metric_counters(const struct gp_metrics *m, const struct gp_metric *metric,
                        const struct gp_device *device, const char ***names, size_t *count)
{
    struct gathering g;
    if (!begin_gathering(&g, m, device))
        return false;
    gather_entry(&g, (const struct gp_entry *)metric);
    *names = g.names;
    *count = g.count;
    return true;
}
