#include "metrics/resolve.h"

#include "metrics/entries.h"

#include <stdio.h>
#include <string.h>

#define MOST_NESTING 16 /* of metrics that use metrics */

static bool bind_metric(void *user, struct gp_node *operand)
{
    struct gp_metrics *m = user;
    if (operand->kind != GP_NODE_METRIC)
        return true;
    struct gp_entry **slot = gp_metrics_slot(m, operand->name);
    operand->bound = slot ? *slot : NULL;
    return slot != NULL;
}

static bool find_unbound(void *user, struct gp_node *operand)
{
    const struct gp_node **found = user;
    if (operand->kind != GP_NODE_METRIC || operand->bound)
        return true;
    *found = operand;
    return false;
}

/* The operands for older profiles as well. */
static bool walk_all(const struct gp_variant *v, bool (*visit)(void *, struct gp_node *),
                     void *user)
{
    return gp_variant_walk(v, visit, user) && (!v->older || gp_formula_walk(v->older, visit, user));
}

/* Drops a definition when it names a metric which is not there. Returns whether it did. */
static bool drop_if_dangling(struct gp_metrics *m, size_t i, struct gp_text *problems)
{
    for (struct gp_variant *v = m->entries[i]->variants; v; v = v->next) {
        if (walk_all(v, bind_metric, m))
            continue;
        const struct gp_node *unbound = NULL;
        walk_all(v, find_unbound, &unbound);
        gp_text_addf(problems, "%s:%d: metric %s: there is no metric '%s'", m->entries[i]->file,
                     v->line, m->entries[i]->metric.name, unbound ? unbound->name : "?");
        if (unbound)
            gp_metrics_add_nearest(m, unbound->name, problems);
        gp_text_add(problems, " (a counter's name has '__' in it)\n");
        gp_metrics_drop(m, &m->entries[i]);
        return true;
    }
    return false;
}

/* Drops definitions that name a metric which is not there, in both directions: one that is dropped
 * leaves others without theirs, most often its neighbours. Returns whether any was. */
static bool drop_dangling(struct gp_metrics *m, struct gp_text *problems)
{
    bool dropped = false;
    for (size_t i = 0; i < m->count; i++)
        while (i < m->count && drop_if_dangling(m, i, problems))
            dropped = true;
    for (size_t i = m->count; i-- > 0;)
        while (i < m->count && drop_if_dangling(m, i, problems))
            dropped = true;
    return dropped;
}

struct cycle_search {
    struct gp_entry *path[MOST_NESTING + 1];
    size_t depth;
    size_t begin;     /* of the cycle in the path */
    unsigned highest; /* of the metrics seen below the last one of the path */
    bool too_deep;
};

static bool is_cyclic(struct cycle_search *s, struct gp_entry *e);

static bool ends_below(void *user, struct gp_node *operand)
{
    return operand->kind != GP_NODE_METRIC || !is_cyclic(user, (struct gp_entry *)operand->bound);
}

/* True with the path that came back to itself, or went too deep. */
static bool is_cyclic(struct cycle_search *s, struct gp_entry *e)
{
    if (e->height == 0) {
        for (size_t i = 0; i < s->depth; i++) {
            if (s->path[i] == e) {
                s->begin = i;
                return true;
            }
        }
        s->path[s->depth++] = e;
        unsigned highest_beside = s->highest;
        s->highest = 0;
        s->too_deep = s->depth > MOST_NESTING;
        for (struct gp_variant *v = e->variants; v && !s->too_deep; v = v->next)
            if (!walk_all(v, ends_below, s))
                return true;
        s->too_deep = s->too_deep || s->highest >= MOST_NESTING;
        if (s->too_deep) {
            s->begin = s->depth - 1;
            return true;
        }
        e->height = s->highest + 1;
        s->highest = highest_beside;
        s->depth--;
    }
    if (e->height > s->highest)
        s->highest = e->height;
    return false;
}

/* Drops one definition that leads back to itself. Returns whether it did. The user's own is dropped
 * before a shipped one. */
static bool drop_cyclic(struct gp_metrics *m, struct gp_text *problems)
{
    for (size_t i = 0; i < m->count; i++)
        m->entries[i]->height = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct cycle_search s = {.depth = 0};
        if (!is_cyclic(&s, m->entries[i]))
            continue;
        struct gp_entry *culprit = s.path[s.begin];
        for (size_t k = s.begin; k < s.depth; k++)
            if (s.path[k]->metric.user_defined)
                culprit = s.path[k];
        gp_text_addf(problems, "%s:%d: metric %s: ", culprit->file, culprit->line,
                     culprit->metric.name);
        if (s.too_deep) {
            gp_text_addf(problems, "more than %d metrics deep\n", MOST_NESTING);
        } else {
            gp_text_add(problems, "its formula leads back to itself: ");
            for (size_t k = s.begin; k < s.depth; k++)
                gp_text_addf(problems, "%s -> ", s.path[k]->metric.name);
            gp_text_addf(problems, "%s\n", s.path[s.begin]->metric.name);
        }
        gp_metrics_drop(m, gp_metrics_slot(m, culprit->metric.name));
        return true;
    }
    return false;
}

/* A set of that name would hide the metric. */
static bool set_has_own_name(const struct gp_metrics *m, const struct gp_set_entry *s,
                             struct gp_text *problems)
{
    bool is_own = !gp_metrics_slot(m, s->set.name);
    if (!is_own)
        gp_text_addf(problems,
                     "%s:%d: set %s: there is a metric of this name; give the set another one\n",
                     s->file, s->line, s->set.name);
    return is_own;
}

/* True when all that a set names is there; a counter is taken at its word. */
static bool set_is_whole(const struct gp_metrics *m, const struct gp_set_entry *s,
                         struct gp_text *problems)
{
    for (const char *p = s->set.metrics;;) {
        p += strspn(p, ", \t\n");
        size_t length = strcspn(p, ", \t\n");
        if (length == 0)
            return true;
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)length, p);
        p += length;
        bool known = strstr(name, "__") || gp_metrics_slot(m, name) ||
                     strcmp(name, "default") == 0 || strcmp(name, "all") == 0;
        if (known)
            continue;
        gp_text_addf(problems, "%s:%d: set %s: there is no metric '%s'", s->file, s->line,
                     s->set.name, name);
        gp_metrics_add_nearest(m, name, problems);
        gp_text_add(problems, "\n");
        return false;
    }
}

static void drop_broken_sets(struct gp_metrics *m, struct gp_text *problems)
{
    for (struct gp_set_entry **at = &m->sets; *at;) {
        struct gp_set_entry *s = *at;
        if (set_has_own_name(m, s, problems) && set_is_whole(m, s, problems)) {
            at = &s->next;
        } else {
            *at = s->next;
            gp_set_entry_free(s);
        }
    }
}

void gp_metrics_resolve(struct gp_metrics *m, struct gp_text *problems)
{
    do {
        while (drop_dangling(m, problems))
            ;
    } while (drop_cyclic(m, problems));
    drop_broken_sets(m, problems);
}
