#include "check/thresholds.h"

#include "check/lines.h"
#include "check/quantity.h"
#include "metrics/define.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char syntax[] =
    "write a rule like 'gld_efficiency >= 90 %', 'p95 duration <= 120 us', 'launches <= 100', "
    "'allow = 2' or 'required'";

struct parsing {
    struct gp_thresholds *t;
    struct gp_metrics *m;
    struct gp_text *problems;
    bool out_of_memory;
    /* of the rule at hand */
    const char *rule; /* is cut up */
    char *whole;      /* a copy that is not */
    int line, column;
};

/* `at` lies in the rule at hand: it makes the column. */
static void complain(const struct parsing *p, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(const struct parsing *p, const char *at, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    gp_text_addf(p->problems, "%s:%d:%d: %s\n", p->t->file, p->line,
                 p->column + (int)(at - p->rule), what);
}

static void *one_more(void *array, size_t count, size_t size, bool *failed)
{
    void *more = count & (count - 1) ? array : realloc(array, (count ? count * 2 : 1) * size);
    *failed |= !more;
    return more;
}

static bool begin_section(void *user, const struct gp_selector *selector, int line)
{
    struct parsing *p = user;
    bool failed = false;
    struct gp_section *sections = one_more(p->t->sections, p->t->count, sizeof(*sections), &failed);
    if (failed)
        return false;
    p->t->sections = sections;
    sections[p->t->count++] = (struct gp_section){.selector = *selector, .line = line};
    return true;
}

static struct gp_section *section_of(const struct parsing *p)
{
    return &p->t->sections[p->t->count - 1];
}

static void add_rule(struct parsing *p, struct gp_threshold *rule)
{
    struct gp_section *section = section_of(p);
    bool failed = false;
    rule->line = p->line;
    rule->text = p->whole;
    struct gp_threshold *rules = one_more(section->rules, section->count, sizeof(*rule), &failed);
    if (rules)
        section->rules = rules;
    if (failed || p->t->rule_count >= GP_MOST_RULES) {
        complain(p, p->rule, failed ? "out of memory" : "more than %d rules", GP_MOST_RULES);
        return;
    }
    p->whole = NULL;
    section->rules[section->count++] = *rule;
    p->t->rule_count++;
}

/* ---- the parts of a rule ---- */

static const struct {
    const char *sign;
    enum gp_relation relation;
} signs[] = {
    {"<=", GP_AT_MOST},  {">=", GP_AT_LEAST}, {"==", GP_EQUAL_TO},
    {"<", GP_LESS_THAN}, {">", GP_MORE_THAN},
};
enum { SIGNS = sizeof(signs) / sizeof(signs[0]) };

/* Returns where the comparison stands, NULL where there is none. */
static char *find_relation(char *text, enum gp_relation *relation, size_t *length)
{
    char *at = strpbrk(text, "<>=");
    for (size_t i = 0; at && i < SIGNS; i++) {
        *length = strlen(signs[i].sign);
        if (strncmp(at, signs[i].sign, *length) == 0) {
            *relation = signs[i].relation;
            return at;
        }
    }
    return NULL;
}

/* "p95 duration": takes the word in front, if it is an aggregate; returns the rest. */
static const char *read_aggregate(const char *text, struct gp_threshold *rule)
{
    static const struct {
        const char *word;
        enum gp_aggregate aggregate;
    } words[] = {{"min", GP_MIN}, {"max", GP_MAX},     {"avg", GP_AVERAGE},
                 {"sum", GP_SUM}, {"total", GP_TOTAL}, {"median", GP_QUANTILE}};
    size_t length = strcspn(text, " \t(");
    const char *rest = text + length + strspn(text + length, " \t");
    if (length == 0 || rest == text + length || *rest == '(' || !*rest)
        return text;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i].word) == length && strncmp(words[i].word, text, length) == 0) {
            rule->aggregate = words[i].aggregate;
            rule->quantile = 0.5;
            return rest;
        }
    }
    if (text[0] == 'p' && length >= 2 && length <= 3 && isdigit((unsigned char)text[1]) &&
        (length == 2 || isdigit((unsigned char)text[2]))) {
        rule->aggregate = GP_QUANTILE;
        rule->quantile = atoi(text + 1) / 100.0;
        return rest;
    }
    return text;
}

/* Whether the text begins with a percentile that there is not: p100, p99.9. */
static bool is_other_percentile(const char *text, size_t *length)
{
    *length = 1 + strspn(text + 1, "0123456789.");
    return text[0] == 'p' && isdigit((unsigned char)text[1]) &&
           (text[*length] == ' ' || text[*length] == '\t');
}

/* Cuts "if present" off the end. */
static bool cut_if_present(char *text)
{
    char *end = text + strlen(text);
    char *at = end;
    static const char *const words[] = {"present", "if"};
    for (size_t i = 0; i < 2; i++) {
        size_t length = strlen(words[i]);
        while (at > text && isspace((unsigned char)at[-1]))
            at--;
        if ((size_t)(at - text) < length || strncmp(at - length, words[i], length) != 0)
            return false;
        at -= length;
    }
    if (at > text && !isspace((unsigned char)at[-1]))
        return false;
    *at = '\0';
    return true;
}

static bool read_metric(struct parsing *p, const char *formula, struct gp_threshold *rule)
{
    char why[GP_WHY_SIZE];
    size_t column = 1;
    rule->metric = gp_metrics_define(p->m, formula, why, sizeof(why));
    if (rule->metric)
        return true;
    const char *what = why;
    if (sscanf(why, "column %zu:", &column) == 1)
        what = strchr(why, ':') + 2;
    complain(p, formula + (column - 1), "%s", what);
    return false;
}

static bool read_count(struct parsing *p, const char *text, uint64_t *count)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (isdigit((unsigned char)*text) && !*end && number <= UINT32_MAX) {
        *count = number;
        return true;
    }
    complain(p, text, "expected a whole number, found '%.24s'", text);
    return false;
}

/* "launches <= 100" */
static void read_launches(struct parsing *p, char *value, struct gp_threshold *rule)
{
    uint64_t count;
    if (!read_count(p, gp_trim(value), &count))
        return;
    rule->bound = (double)count;
    add_rule(p, rule);
}

static void read_comparison(struct parsing *p, char *text, char *sign, size_t length)
{
    struct gp_threshold rule = {.relation = GP_AT_LEAST};
    char why[256], *value = sign + length;
    find_relation(sign, &rule.relation, &length);
    *sign = '\0';
    const char *subject = gp_trim(text);
    if (!*subject) {
        complain(p, text, "expected a metric before the comparison; %s", syntax);
        return;
    }
    if (strcmp(subject, "launches") == 0) {
        read_launches(p, value, &rule);
        return;
    }
    const char *metric = read_aggregate(subject, &rule);
    size_t of_percentile;
    if (metric == subject && is_other_percentile(subject, &of_percentile)) {
        complain(p, subject,
                 "'%.*s': percentiles are p0 to p99, in whole numbers; max is the largest",
                 (int)of_percentile, subject);
        return;
    }
    if (!read_metric(p, metric, &rule))
        return;
    rule.if_present = cut_if_present(value);
    value = gp_trim(value);
    if (gp_quantity_parse(value, rule.metric->unit, &rule.bound, why, sizeof(why)))
        add_rule(p, &rule);
    else
        complain(p, value, "%s: %s", rule.metric->name, why);
}

/* "=", "=>" or "!=", which lies around `sign`. */
static void complain_of_comparison(const struct parsing *p, const char *sign)
{
    const char *whole = p->whole + (sign - p->rule), *begin = whole;
    while (begin > p->whole && strchr("!=<>", begin[-1]))
        begin--;
    size_t length = strspn(begin, "!=<>");
    complain(p, p->rule + (begin - p->whole), "'%.*s' is no comparison, write <=, >=, ==, < or >",
             (int)length, begin);
}

/* "allow = 2", "required = yes": lines that are no comparison. */
static void read_setting(struct parsing *p, char *text, char *sign)
{
    char *value = sign ? gp_trim(sign + 1) : NULL;
    if (sign)
        *sign = '\0';
    const char *key = gp_trim(text);
    struct gp_section *section = section_of(p);
    if (strcmp(key, "required") == 0 && (!value || strcmp(value, "yes") == 0)) {
        p->t->rule_count += !section->required;
        section->required = true;
        section->required_line = p->line;
    } else if (strcmp(key, "required") == 0) {
        complain(p, value, "expected 'required', or 'required = yes'");
    } else if (strcmp(key, "allow") == 0 && value) {
        read_count(p, value, &section->allowed);
    } else if (strcmp(key, "unfinished") == 0 && value && strcmp(value, "note") == 0) {
        p->t->takes_unfinished = true;
    } else if (strcmp(key, "unfinished") == 0 && value) {
        complain(p, value, "expected 'unfinished = note'");
    } else if (value && strcmp(key, "allow") != 0) {
        complain_of_comparison(p, sign);
    } else {
        complain(p, text, "'%.48s' is no rule; %s", key, syntax);
    }
}

static void take_rule(void *user, char *text, int line, int column)
{
    struct parsing *p = user;
    p->whole = strdup(text);
    if (!p->whole) {
        p->out_of_memory = true;
        return;
    }
    p->rule = text;
    p->line = line;
    p->column = column;
    size_t length;
    enum gp_relation relation;
    char *sign = find_relation(text, &relation, &length);
    if (sign)
        read_comparison(p, text, sign, length);
    else
        read_setting(p, text, strchr(text, '='));
    free(p->whole);
}

struct gp_thresholds *gp_thresholds_parse(const char *file, const char *text, size_t length,
                                          struct gp_metrics *m, struct gp_text *problems)
{
    struct gp_thresholds *t = calloc(1, sizeof(*t));
    if (t)
        t->file = strdup(file);
    if (!t || !t->file) {
        gp_thresholds_free(t);
        gp_text_addf(problems, "%s: out of memory\n", file);
        return NULL;
    }
    size_t before = problems->length;
    struct parsing p = {.t = t, .m = m, .problems = problems};
    const struct gp_lines_visitor visitor = {
        .user = &p, .section = begin_section, .rule = take_rule};
    gp_lines_read(file, text, length, &visitor, problems);
    if (p.out_of_memory)
        gp_text_addf(problems, "%s: out of memory\n", file);
    else if (problems->length == before && t->rule_count == 0)
        gp_text_addf(problems, "%s: there is no rule in it; %s\n", file, syntax);
    if (problems->length == before && !problems->failed)
        return t;
    gp_thresholds_free(t);
    return NULL;
}

struct gp_thresholds *gp_thresholds_read(const char *path, struct gp_metrics *m,
                                         struct gp_text *problems)
{
    char why[512];
    size_t length;
    char *text = gp_file_read(path, GP_LARGEST_RULES, &length, why, sizeof(why));
    if (!text) {
        gp_text_addf(problems, "%s\n", why);
        return NULL;
    }
    struct gp_thresholds *t = gp_thresholds_parse(path, text, length, m, problems);
    free(text);
    return t;
}

void gp_thresholds_free(struct gp_thresholds *t)
{
    for (size_t i = 0; t && i < t->count; i++) {
        struct gp_section *section = &t->sections[i];
        for (size_t k = 0; k < section->count; k++)
            free(section->rules[k].text);
        free(section->rules);
        gp_selector_free(&section->selector);
    }
    if (t) {
        free(t->sections);
        free(t->file);
    }
    free(t);
}

bool gp_relation_holds(enum gp_relation relation, double value, double bound)
{
    /* 120 us is not quite 120000 ns / 1e9. */
    if (fabs(value - bound) <= 1e-12 * fabs(bound))
        value = bound;
    switch (relation) {
    case GP_AT_LEAST:
        return value >= bound;
    case GP_AT_MOST:
        return value <= bound;
    case GP_MORE_THAN:
        return value > bound;
    case GP_LESS_THAN:
        return value < bound;
    case GP_EQUAL_TO:
        return value == bound;
    }
    return false;
}

bool gp_thresholds_select(const struct gp_thresholds *t, struct gp_metrics *m)
{
    for (size_t i = 0; i < t->count; i++)
        for (size_t k = 0; k < t->sections[i].count; k++)
            if (t->sections[i].rules[k].metric &&
                !gp_metrics_select_also(m, t->sections[i].rules[k].metric))
                return false;
    return true;
}
