#include "metrics/compile.h"

#include "metrics/entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_UNIT 12
#define MOST_METRICS 2000 /* names are looked up one by one; a program waits for it */

static void complain(const struct gp_loading *l, const struct gp_definition *d, int line,
                     const char *what)
{
    gp_text_addf(l->problems, "%s:%d: metric %s: %s\n", d->file, line ? line : d->line, d->name,
                 what);
}

/* Parses the value of one key; complains and returns NULL when that fails. */
static struct gp_node *parse_formula(const struct gp_loading *l, const struct gp_definition *d,
                                     enum gp_key key)
{
    char why[GP_WHY_SIZE] = "", what[GP_WHY_SIZE + 16];
    struct gp_node *node = gp_formula_parse(gp_text_string(&d->keys[key].text), why, sizeof(why));
    if (node && gp_formula_walk(node, gp_metrics_intern_counter, l->m))
        return node;
    if (node)
        snprintf(what, sizeof(what), "out of memory");
    else
        snprintf(what, sizeof(what), "%s, %s", gp_key_name(key), why);
    complain(l, d, d->keys[key].line, what);
    gp_formula_free(node);
    return NULL;
}

/* Parses the value of a key that may be left out; false, after a complaint, when that fails. */
static bool parse_optional(const struct gp_loading *l, const struct gp_definition *d,
                           enum gp_key key, struct gp_node **node)
{
    if (d->keys[key].line == 0)
        return true;
    *node = parse_formula(l, d, key);
    return *node != NULL;
}

static bool is_no_range_counter(void *user, struct gp_node *operand)
{
    (void)user;
    return operand->kind != GP_NODE_COUNTER || strncmp(operand->name, "event__", 7) == 0;
}

/* "REASON; the nearest is NAME". NULL when out of memory. */
static char *new_absence(const struct gp_definition *d)
{
    struct gp_text text = {0};
    gp_text_add(&text, gp_text_string(&d->keys[GP_KEY_ABSENT].text));
    if (d->keys[GP_KEY_NEAREST].line)
        gp_text_addf(&text, "; the nearest is %s", gp_text_string(&d->keys[GP_KEY_NEAREST].text));
    char *absent = text.failed ? NULL : strdup(gp_text_string(&text));
    gp_text_free(&text);
    return absent;
}

static struct gp_variant *new_variant(const struct gp_loading *l, const struct gp_definition *d)
{
    char why[GP_WHY_SIZE] = "out of memory";
    bool absent = d->keys[GP_KEY_ABSENT].line != 0;
    int line = absent ? d->keys[GP_KEY_ABSENT].line : d->keys[GP_KEY_FORMULA].line;
    if (!line) {
        complain(l, d, d->line, "there is no 'formula = ...'");
        return NULL;
    }
    if (absent && d->keys[GP_KEY_FORMULA].line) {
        complain(l, d, line, "it has a formula, so it cannot be absent; leave one of them out");
        return NULL;
    }
    struct gp_variant *v = calloc(1, sizeof(*v));
    if (!v) {
        complain(l, d, line, why);
        return NULL;
    }
    v->line = d->line;
    if (d->keys[GP_KEY_WHEN].line) {
        const char *when = gp_text_string(&d->keys[GP_KEY_WHEN].text);
        v->when_text = strdup(when);
        if (!v->when_text || !gp_condition_parse(when, &v->when, why, sizeof(why))) {
            complain(l, d, d->keys[GP_KEY_WHEN].line, why);
            gp_variant_free(v);
            return NULL;
        }
    }
    if (d->keys[GP_KEY_SOURCE].line) {
        v->source = strdup(gp_text_string(&d->keys[GP_KEY_SOURCE].text));
        if (!v->source) {
            complain(l, d, d->keys[GP_KEY_SOURCE].line, "out of memory");
            gp_variant_free(v);
            return NULL;
        }
    }
    if (absent) {
        v->absent = new_absence(d);
        if (v->absent)
            return v;
        complain(l, d, line, why);
        gp_variant_free(v);
        return NULL;
    }
    v->formula = parse_formula(l, d, GP_KEY_FORMULA);
    if (!v->formula || !parse_optional(l, d, GP_KEY_OLDER, &v->older) ||
        !parse_optional(l, d, GP_KEY_NEEDS, &v->needs) ||
        !parse_optional(l, d, GP_KEY_WEIGHT, &v->weight)) {
        gp_variant_free(v);
        return NULL;
    }
    v->counts_in_ranges = !gp_variant_walk(v, is_no_range_counter, NULL);
    return v;
}

#define TEXTS 6 /* name, unit, class, description, source, nvprof */

/* Sets the metric's strings. A key that a user's definition leaves out has its value from the
 * replaced definition. */
static bool describe(struct gp_entry *e, const struct gp_definition *d,
                     const struct gp_metric *before)
{
    const char *texts[TEXTS] = {d->name};
    const char *const inherited[TEXTS] = {
        NULL,
        before ? before->unit : "",
        before ? before->metric_class : "",
        before ? before->description : "",
        before ? before->source : "",
        before ? before->nvprof : "",
    };
    static const enum gp_key keys[TEXTS] = {
        0, GP_KEY_UNIT, GP_KEY_CLASS, GP_KEY_DESCRIPTION, GP_KEY_SOURCE, GP_KEY_NVPROF};
    size_t size = strlen(d->name) + 1;
    for (int i = 1; i < TEXTS; i++) {
        bool given = d->keys[keys[i]].line != 0;
        texts[i] = given ? gp_text_string(&d->keys[keys[i]].text) : inherited[i];
        size += strlen(texts[i]) + 1;
    }
    char *p = e->strings = malloc(size);
    if (!p)
        return false;
    const char **const fields[TEXTS] = {&e->metric.name,         &e->metric.unit,
                                        &e->metric.metric_class, &e->metric.description,
                                        &e->metric.source,       &e->metric.nvprof};
    for (int i = 0; i < TEXTS; i++) {
        *fields[i] = p;
        p = stpcpy(p, texts[i]) + 1;
    }
    return true;
}

static struct gp_entry *new_entry(const struct gp_loading *l, const struct gp_definition *d,
                                  const struct gp_metric *before)
{
    struct gp_entry *e = calloc(1, sizeof(*e));
    if (!e)
        return NULL;
    e->file = strdup(d->file);
    if (!e->file || !describe(e, d, before)) {
        gp_entry_free(e);
        return NULL;
    }
    e->line = d->line;
    e->metric.user_defined = l->user_defined;
    e->metric.in_default_set = before ? before->in_default_set : 0;
    return e;
}

/* A second section of the same name in the same file: the same metric on other devices. */
static bool add_variant(const struct gp_loading *l, struct gp_entry *e,
                        const struct gp_definition *d, struct gp_variant *v)
{
    char what[GP_WHY_SIZE];
    struct gp_variant **end = &e->variants;
    for (; *end; end = &(*end)->next) {
        if (v->when.count == 0 && (*end)->when.count == 0) {
            snprintf(what, sizeof(what),
                     "line %d defines it already; a second formula needs 'when = cc ...'",
                     (*end)->line);
            complain(l, d, d->line, what);
            return false;
        }
    }
    const int unit_line = d->keys[GP_KEY_UNIT].line;
    if (unit_line && strcmp(gp_text_string(&d->keys[GP_KEY_UNIT].text), e->metric.unit) != 0) {
        snprintf(what, sizeof(what), "its unit is '%s' since line %d", e->metric.unit, e->line);
        complain(l, d, unit_line, what);
        return false;
    }
    *end = v;
    return true;
}

/* Sections of one file define a metric together, and so do all shipped files. */
static bool belong_together(const struct gp_loading *l, const struct gp_entry *e,
                            const struct gp_definition *d)
{
    return strcmp(e->file, d->file) == 0 || (!l->user_defined && !e->metric.user_defined);
}

/* A key that is yes or no; *answer stays where it is left out. */
static bool read_answer(const struct gp_loading *l, const struct gp_definition *d, enum gp_key key,
                        int *answer)
{
    const char *text = gp_text_string(&d->keys[key].text);
    char what[GP_WHY_SIZE];
    if (!d->keys[key].line)
        return true;
    *answer = strcmp(text, "yes") == 0;
    if (*answer || strcmp(text, "no") == 0)
        return true;
    snprintf(what, sizeof(what), "'%s' is yes or no", gp_key_name(key));
    complain(l, d, d->keys[key].line, what);
    return false;
}

/* Adds a set; one of the same name stands in for an earlier one. */
static void compile_set(const struct gp_loading *l, const struct gp_definition *d)
{
    const struct gp_text *metrics = &d->keys[GP_KEY_METRICS].text;
    if (!d->keys[GP_KEY_METRICS].line) {
        gp_text_addf(l->problems, "%s:%d: set %s: there is no 'metrics = ...'\n", d->file, d->line,
                     d->name);
        return;
    }
    struct gp_set_entry *s = calloc(1, sizeof(*s));
    if (s) {
        s->set.name = strdup(d->name);
        s->set.description = strdup(gp_text_string(&d->keys[GP_KEY_DESCRIPTION].text));
        s->set.metrics = strdup(gp_text_string(metrics));
        s->set.user_defined = l->user_defined;
        s->file = strdup(d->file);
        s->line = d->line;
    }
    if (!s || !s->set.name || !s->set.description || !s->set.metrics || !s->file) {
        gp_text_addf(l->problems, "%s:%d: set %s: out of memory\n", d->file, d->line, d->name);
        gp_set_entry_free(s);
        return;
    }
    struct gp_set_entry **at = &l->m->sets;
    while (*at && strcmp((*at)->set.name, d->name) != 0)
        at = &(*at)->next;
    struct gp_set_entry *before = *at;
    s->next = before ? before->next : NULL;
    *at = s;
    gp_set_entry_free(before);
}

void gp_definition_compile(void *user, const struct gp_definition *d)
{
    const struct gp_loading *l = user;
    if (d->is_set) {
        compile_set(l, d);
        return;
    }
    if (d->keys[GP_KEY_METRICS].line) {
        complain(l, d, d->keys[GP_KEY_METRICS].line,
                 "only a set has 'metrics'; a set's name is written [set NAME]");
        return;
    }
    struct gp_variant *v = new_variant(l, d);
    if (!v)
        return;
    if (d->keys[GP_KEY_UNIT].text.length > LONGEST_UNIT) {
        char what[GP_WHY_SIZE];
        snprintf(what, sizeof(what), "a unit has at most %d letters", LONGEST_UNIT);
        complain(l, d, d->keys[GP_KEY_UNIT].line, what);
        gp_variant_free(v);
        return;
    }
    struct gp_entry **slot = gp_metrics_slot(l->m, d->name);
    if (!slot && l->m->count >= MOST_METRICS) {
        char what[GP_WHY_SIZE];
        snprintf(what, sizeof(what), "left out, there are %d already", MOST_METRICS);
        complain(l, d, d->line, what);
        gp_variant_free(v);
        return;
    }
    int in_default_set = slot ? (*slot)->metric.in_default_set : 0;
    int hidden = slot ? (*slot)->metric.hidden : 0;
    if (!read_answer(l, d, GP_KEY_DEFAULT, &in_default_set) ||
        !read_answer(l, d, GP_KEY_HIDDEN, &hidden)) {
        gp_variant_free(v);
        return;
    }
    if (slot && belong_together(l, *slot, d)) {
        if (!add_variant(l, *slot, d, v)) {
            gp_variant_free(v);
            return;
        }
        (*slot)->metric.in_default_set = in_default_set;
        (*slot)->metric.hidden = hidden;
        return;
    }
    struct gp_entry *e = new_entry(l, d, slot ? &(*slot)->metric : NULL);
    if (!e || (!slot && !gp_metrics_append(l->m, e))) {
        complain(l, d, d->line, "out of memory");
        gp_variant_free(v);
        gp_entry_free(e);
        return;
    }
    e->variants = v;
    e->metric.in_default_set = in_default_set;
    e->metric.hidden = hidden;
    if (slot) {
        e->replaced = *slot;
        *slot = e;
    }
}
