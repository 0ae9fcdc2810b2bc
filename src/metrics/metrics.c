#include "metrics/metrics.h"

#include "metrics/entries.h"
#include "metrics/load.h"
#include "metrics/resolve.h"

#include <stdlib.h>

/* The work after all definitions are there. NULL, with nothing left, when out of memory. */
static struct gp_metrics *finish(struct gp_metrics *m, struct gp_text *problems)
{
    gp_metrics_resolve(m, problems);
    if (gp_metrics_select(m, NULL, problems))
        return m;
    gp_metrics_close(m);
    return NULL;
}

struct gp_metrics *gp_metrics_parse(const char *file, const char *text, size_t length,
                                    struct gp_text *problems)
{
    struct gp_metrics *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    struct gp_loading l = {.m = m, .problems = problems, .user_defined = true};
    gp_load_text(&l, file, text, length);
    return finish(m, problems);
}

struct gp_metrics *gp_metrics_open(struct gp_text *problems)
{
    struct gp_metrics *m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    struct gp_loading l = {.m = m, .problems = problems};
    gp_load_shipped(&l);
    l.user_defined = true;
    gp_load_users_files(&l);
    return finish(m, problems);
}

void gp_metrics_close(struct gp_metrics *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->count; i++)
        gp_entry_free(m->entries[i]);
    struct gp_counter_name *c, *next;
    HASH_ITER(hh, m->counters, c, next)
    {
        HASH_DEL(m->counters, c);
        free(c);
    }
    while (m->sets) {
        struct gp_set_entry *s = m->sets;
        m->sets = s->next;
        gp_set_entry_free(s);
    }
    for (size_t i = 0; i < m->asked_count; i++)
        gp_entry_free(m->asked[i]);
    free(m->asked);
    free(m->entries);
    free(m->selected);
    free(m);
}

size_t gp_metrics_set_count(const struct gp_metrics *m)
{
    size_t count = 0;
    for (const struct gp_set_entry *s = m->sets; s; s = s->next)
        count++;
    return count;
}

const struct gp_metric_set *gp_metrics_set_at(const struct gp_metrics *m, size_t i)
{
    const struct gp_set_entry *s = m->sets;
    while (i-- > 0)
        s = s->next;
    return &s->set;
}

size_t gp_metrics_count(const struct gp_metrics *m)
{
    return m->count;
}

const struct gp_metric *gp_metrics_at(const struct gp_metrics *m, size_t i)
{
    return &m->entries[i]->metric;
}

bool gp_metrics_begins_class(const struct gp_metrics *m, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(gp_metrics_at(m, k)->metric_class, gp_metrics_at(m, i)->metric_class) == 0)
            return false;
    return true;
}

const struct gp_metric *gp_metrics_find(const struct gp_metrics *m, const char *name)
{
    struct gp_entry **slot = gp_metrics_slot(m, name);
    return slot ? &(*slot)->metric : NULL;
}
