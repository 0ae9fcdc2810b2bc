#include "check/tolerance.h"

#include "base/nearest.h"
#include "check/lines.h"
#include "check/quantity.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RULES 1000 /* of a section */

static const char syntax[] = "write a rule like 'duration = 5 %', 'gld_* = exact', 'dram_* = "
                             "ignore', 'gst_* = if present', 'new = fail' or 'gone = note'";

struct parsing {
    struct gp_tolerances *t;
    struct gp_text *problems;
};

static bool begin_section(void *user, const struct gp_selector *selector, int line)
{
    struct gp_tolerances *t = ((struct parsing *)user)->t;
    struct gp_tolerance_section *more = realloc(t->sections, (t->count + 1) * sizeof(*more));
    if (!more)
        return false;
    t->sections = more;
    more[t->count++] = (struct gp_tolerance_section){.selector = *selector, .line = line};
    return true;
}

/* "new = fail": false where the key is none of these. */
static bool take_event(struct gp_tolerance_section *s, const char *key, const char *value,
                       bool *understood)
{
    const struct {
        const char *key;
        bool *said, *fail;
    } events[] = {{"new", &s->said_new, &s->fail_new},
                  {"gone", &s->said_gone, &s->fail_gone},
                  {"changed", &s->said_changed, &s->fail_changed}};
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        if (strcmp(key, events[i].key) != 0)
            continue;
        *events[i].said = true;
        *events[i].fail = strcmp(value, "fail") == 0;
        *understood = *events[i].fail || strcmp(value, "note") == 0;
        return true;
    }
    return false;
}

static const char condition[] = "if present";

/* Cuts "if present" off. */
static void take_condition(char *value, struct gp_tolerance *rule)
{
    size_t length = strlen(value), of_condition = sizeof(condition) - 1;
    if (length < of_condition || strcmp(value + length - of_condition, condition) != 0)
        return;
    char *at = value + length - of_condition;
    if (at > value && at[-1] != ' ' && at[-1] != '\t')
        return;
    *at = '\0';
    gp_trim(value);
    rule->if_present = true;
}

static bool read_tolerance(char *value, struct gp_tolerance *rule)
{
    take_condition(value, rule);
    if (!*value)
        return rule->if_present;
    if (strcmp(value, "exact") == 0) {
        rule->kind = GP_TOLERANCE_EXACT;
        return true;
    }
    if (strcmp(value, "ignore") == 0) {
        rule->kind = GP_TOLERANCE_IGNORE;
        return true;
    }
    char why[128];
    rule->kind = GP_TOLERANCE_RELATIVE;
    if (!strchr(value, '%') ||
        !gp_quantity_parse(value, "ratio", &rule->relative, why, sizeof(why)))
        return false;
    return rule->relative >= 0 && rule->relative <= 100;
}

static void take_rule(void *user, char *text, int line, int column)
{
    struct parsing *p = user;
    struct gp_tolerance_section *section = &p->t->sections[p->t->count - 1];
    char *sign = strchr(text, '=');
    if (!sign || sign == text) {
        gp_text_addf(p->problems, "%s:%d:%d: '%.48s' is no rule; %s\n", p->t->file, line, column,
                     text, syntax);
        return;
    }
    char *value = gp_trim(sign + 1);
    int at = column + (int)(value - text);
    *sign = '\0';
    char *key = gp_trim(text);
    bool understood = true;
    if (strcmp(key, "unfinished") == 0) {
        p->t->takes_unfinished = strcmp(value, "note") == 0;
        if (!p->t->takes_unfinished)
            gp_text_addf(p->problems, "%s:%d:%d: expected 'unfinished = note'\n", p->t->file, line,
                         at);
        return;
    }
    struct gp_tolerance rule = {.line = line, .column = column};
    if (take_event(section, key, value, &understood)) {
        if (!understood)
            gp_text_addf(p->problems, "%s:%d:%d: '%.24s' is neither fail nor note\n", p->t->file,
                         line, at, value);
        return;
    }
    if (!read_tolerance(value, &rule)) {
        gp_text_addf(
            p->problems,
            "%s:%d:%d: '%.24s' is no tolerance; write '5 %%', 'exact', 'ignore' or 'if present'\n",
            p->t->file, line, at, value);
        return;
    }
    struct gp_tolerance *more = section->count < MOST_RULES
                                    ? realloc(section->rules, (section->count + 1) * sizeof(*more))
                                    : NULL;
    rule.metric = more ? strdup(key) : NULL;
    if (more)
        section->rules = more;
    if (rule.metric)
        section->rules[section->count++] = rule;
    else
        gp_text_addf(p->problems, "%s:%d:%d: out of memory, or too many rules\n", p->t->file, line,
                     column);
}

struct gp_tolerances *gp_tolerances_parse(const char *file, const char *text, size_t length,
                                          struct gp_text *problems)
{
    struct gp_tolerances *t = calloc(1, sizeof(*t));
    if (t)
        t->file = strdup(file);
    if (!t || !t->file) {
        free(t);
        gp_text_addf(problems, "%s: out of memory\n", file);
        return NULL;
    }
    size_t before = problems->length;
    struct parsing p = {.t = t, .problems = problems};
    const struct gp_lines_visitor visitor = {
        .user = &p, .section = begin_section, .rule = take_rule};
    gp_lines_read(file, text, length, &visitor, problems);
    if (problems->length == before && !problems->failed)
        return t;
    gp_tolerances_free(t);
    return NULL;
}

struct gp_tolerances *gp_tolerances_read(const char *path, struct gp_text *problems)
{
    char why[512];
    size_t length;
    char *text = gp_file_read(path, GP_LARGEST_RULES, &length, why, sizeof(why));
    if (!text) {
        gp_text_addf(problems, "%s\n", why);
        return NULL;
    }
    struct gp_tolerances *t = gp_tolerances_parse(path, text, length, problems);
    free(text);
    return t;
}

static const char *name_at(const void *metrics, size_t i)
{
    return gp_metrics_at(metrics, i)->name;
}

static bool names_a_metric(const struct gp_tolerance *rule, const struct gp_metrics *m)
{
    bool found = fnmatch(rule->metric, GP_TOLERANCE_LAUNCHES, 0) == 0;
    for (size_t i = 0; i < gp_metrics_count(m) && !found; i++)
        found = fnmatch(rule->metric, name_at(m, i), 0) == 0;
    return found;
}

bool gp_tolerances_know(const struct gp_tolerances *t, const struct gp_metrics *m,
                        struct gp_text *problems)
{
    bool known = true;
    for (size_t i = 0; i < t->count; i++) {
        for (size_t k = 0; k < t->sections[i].count; k++) {
            const struct gp_tolerance *rule = &t->sections[i].rules[k];
            if (names_a_metric(rule, m))
                continue;
            const char *nearest = gp_nearest(rule->metric, gp_metrics_count(m), name_at, m);
            gp_text_addf(problems, "%s:%d:%d: there is no metric '%s'%s%s%s\n", t->file, rule->line,
                         rule->column, rule->metric, nearest ? "; did you mean " : "",
                         nearest ? nearest : "", nearest ? "?" : "");
            known = false;
        }
    }
    return known;
}

void gp_tolerances_free(struct gp_tolerances *t)
{
    for (size_t i = 0; t && i < t->count; i++) {
        for (size_t k = 0; k < t->sections[i].count; k++)
            free(t->sections[i].rules[k].metric);
        free(t->sections[i].rules);
        gp_selector_free(&t->sections[i].selector);
    }
    if (t) {
        free(t->sections);
        free(t->file);
    }
    free(t);
}

/* A baseline holds the full name only. */
static bool is_for(struct gp_tolerance_section *s, const char *kernel)
{
    char *brief = gp_kernel_name_brief(kernel);
    const struct gp_kernel_names names = {
        .mangled = kernel, .full = (char *)kernel, .brief = brief ? brief : (char *)kernel};
    bool matches = gp_selector_matches(&s->selector, &names);
    free(brief);
    return matches;
}

/* NULL behind the last; out of memory there are fewer. To be freed, each and all. */
static char **brief_names(const char *const *kernels, size_t count)
{
    char **brief = calloc(count + 1, sizeof(*brief));
    for (size_t i = 0; brief && i < count && (i == 0 || brief[i - 1]); i++)
        brief[i] = gp_kernel_name_brief(kernels[i]);
    return brief;
}

void gp_tolerances_note_unmatched(const struct gp_tolerances *t, const char *const *kernels,
                                  size_t count, struct gp_text *notes)
{
    char **brief = NULL;
    for (size_t i = 0; t && i < t->count; i++) {
        struct gp_tolerance_section *s = &t->sections[i];
        size_t k = 0;
        while (k < count && !is_for(s, kernels[k]))
            k++;
        if (k < count || s->selector.too_hard)
            continue;
        brief = brief ? brief : brief_names(kernels, count);
        size_t named = 0;
        while (brief && brief[named])
            named++;
        gp_selector_note_unmatched(&s->selector, t->file, s->line, (const char *const *)brief,
                                   named, notes);
    }
    for (size_t k = 0; brief && brief[k]; k++)
        free(brief[k]);
    free(brief);
}

struct gp_tolerance gp_tolerance_of(const struct gp_tolerances *t, const char *kernel,
                                    const char *metric)
{
    struct gp_tolerance found = {.kind = GP_TOLERANCE_USUAL};
    for (size_t i = 0; t && i < t->count; i++) {
        if (!is_for(&t->sections[i], kernel))
            continue;
        for (size_t k = 0; k < t->sections[i].count; k++)
            if (fnmatch(t->sections[i].rules[k].metric, metric, 0) == 0)
                found = t->sections[i].rules[k];
    }
    return found;
}

bool gp_tolerance_names(const struct gp_tolerance *rule)
{
    bool limits = rule->kind == GP_TOLERANCE_RELATIVE || rule->kind == GP_TOLERANCE_EXACT;
    return limits && rule->metric[strspn(rule->metric, "*?")] != '\0';
}

bool gp_tolerance_fails(const struct gp_tolerances *t, const char *kernel, enum gp_event event)
{
    bool fails = false;
    for (size_t i = 0; t && i < t->count; i++) {
        struct gp_tolerance_section *s = &t->sections[i];
        if (!is_for(s, kernel))
            continue;
        if (event == GP_EVENT_NEW && s->said_new)
            fails = s->fail_new;
        if (event == GP_EVENT_GONE && s->said_gone)
            fails = s->fail_gone;
        if (event == GP_EVENT_CHANGED && s->said_changed)
            fails = s->fail_changed;
    }
    return fails;
}
