#include "report/rules.h"

#include "base/inifiles.h"
#include "base/nearest.h"
#include "report/operands.h"
#include "report/shipped_rules.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RULES 200
#define LONGEST_LINE 2000

enum key {
    UNDER,
    CONDITION,
    EVIDENCE,
    TEXT,
    ESTIMATE,
    SOURCE,
    LINES,
    HELPS,
    SCOPE,
    LIBRARIES,
    USE,
    LAST,
    TITLE,
    UTILIZATION,
    CEILING,
    KEYS
};

static const char *const key_names[KEYS] = {
    [UNDER] = "under",       [CONDITION] = "condition",
    [EVIDENCE] = "evidence", [TEXT] = "text",
    [ESTIMATE] = "estimate", [SOURCE] = "source",
    [LINES] = "lines",       [HELPS] = "helps",
    [SCOPE] = "scope",       [LIBRARIES] = "libraries",
    [USE] = "use",           [LAST] = "last",
    [TITLE] = "title",       [UTILIZATION] = "utilization",
    [CEILING] = "ceiling",
};

static const char *const weight_names[GP_WEIGHT_COUNT] = {
    [GP_WEIGHT_WASTED_SECTORS] = "wasted_sectors",
    [GP_WEIGHT_BANK_CONFLICTS] = "bank_conflicts",
    [GP_WEIGHT_DIVERGENCE] = "divergent_branches",
    [GP_WEIGHT_SECTORS] = "sectors",
    [GP_WEIGHT_WAVEFRONTS] = "wavefronts",
    [GP_WEIGHT_ATOMICS] = "atomics",
    [GP_WEIGHT_LOCAL] = "local",
    [GP_WEIGHT_FP64] = "fp64",
    [GP_WEIGHT_MATRIX] = "matrix",
    [GP_WEIGHT_BRANCHES] = "branches",
    [GP_WEIGHT_CONVERSIONS] = "conversions",
    [GP_WEIGHT_WARPS] = "warps",
    [GP_WEIGHT_IDLE_LANES] = "idle_lanes",
    [GP_WEIGHT_OFF_LANES] = "off_lanes",
    [GP_WEIGHT_BARRIERS] = "barriers",
    [GP_WEIGHT_FENCES] = "fences",
};

const char *gp_weight_name(enum gp_weight weight)
{
    return weight_names[weight];
}

/* ---- free ------------------------------------------------------------------------------------ */

static void free_pieces(struct gp_piece *piece)
{
    while (piece) {
        struct gp_piece *next = piece->next;
        gp_formula_free(piece->value);
        free(piece->text);
        free(piece);
        piece = next;
    }
}

static void free_rule(struct gp_rule *rule)
{
    if (!rule)
        return;
    for (size_t i = 0; i < rule->test_count; i++) {
        gp_formula_free(rule->tests[i].left);
        gp_formula_free(rule->tests[i].right);
    }
    gp_formula_free(rule->estimate);
    free_pieces(rule->evidence);
    free_pieces(rule->text);
    free(rule->under);
    free(rule->source);
    free(rule->file);
    free(rule);
}

static void free_unit(struct gp_unit *unit)
{
    free(unit->title);
    gp_formula_free(unit->utilization);
    memset(unit, 0, sizeof(*unit));
}

void gp_rules_close(struct gp_rules *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        free_rule(r->rules[i]);
    for (size_t i = 0; i < r->unit_count; i++)
        free_unit(&r->units[i]);
    free(r->rules);
    free(r);
}

/* ---- sections -------------------------------------------------------------------------------- */

/* One section while it is read. */
struct section {
    bool is_unit;
    char name[49];
    int line;
    struct {
        struct gp_text text;
        int line;
    } keys[KEYS];
};

struct loading {
    struct gp_rules *rules;
    const struct gp_metrics *metrics;
    struct gp_text *problems;
    const char *file;
    int line;
    bool open, refused; /* a section; it makes no sense */
    int key;            /* that the next line may go on with; -1: none */
    struct section section;
};

static void complain(struct loading *l, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(struct loading *l, int line, const char *fmt, ...)
{
    char what[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    gp_text_addf(l->problems, "%s:%d: %s\n", l->file, line, what);
    l->refused = true;
}

static bool is_given(const struct loading *l, enum key key)
{
    return l->section.keys[key].line != 0;
}

static const char *text_of(const struct loading *l, enum key key)
{
    return gp_text_string(&l->section.keys[key].text);
}

static void complain_of_key(struct loading *l, enum key key, const char *what)
{
    complain(l, l->section.keys[key].line, "%s %s: %s: %s", l->section.is_unit ? "bound" : "rule",
             l->section.name, key_names[key], what);
}

/* ---- formulas -------------------------------------------------------------------------------- */

struct naming {
    struct loading *l;
    const char *unknown;
};

/* The names of units, as operands have them. */
static bool is_unit_operand(const struct gp_rules *rules, const char *name)
{
    if (strncmp(name, "close_", 6) != 0)
        return false;
    if (strcmp(name + 6, "compute") == 0 || strcmp(name + 6, "pipes") == 0)
        return true;
    for (size_t i = 0; i < rules->unit_count; i++)
        if (strcmp(rules->units[i].name, name + 6) == 0)
            return true;
    return false;
}

static int check_name(void *user, struct gp_node *node)
{
    struct naming *n = user;
    if (node->kind == GP_NODE_FACT)
        return 0;
    bool known = false;
    if (node->kind == GP_NODE_METRIC) {
        for (size_t i = 0; gp_operand_name(i) && !known; i++)
            known = strcmp(gp_operand_name(i), node->name) == 0;
        known = known || is_unit_operand(n->l->rules, node->name) ||
                gp_metrics_find(n->l->metrics, node->name);
    }
    if (known)
        return 0;
    n->unknown = node->name;
    return -1;
}

static const char *metric_name(const void *metrics, size_t i)
{
    return gp_metrics_at(metrics, i)->name;
}

/* Parses a part of a key's value that begins at column `column` of it. */
static struct gp_node *parse(struct loading *l, enum key key, const char *text, size_t column)
{
    char why[GP_WHY_SIZE] = "", what[GP_WHY_SIZE + 96];
    size_t wrong = 0;
    int skip = 0;
    struct gp_node *node = gp_formula_parse(text, why, sizeof(why));
    if (!node) {
        if (sscanf(why, "column %zu: %n", &wrong, &skip) == 1)
            snprintf(what, sizeof(what), "column %zu: %s", wrong + column, why + skip);
        else
            snprintf(what, sizeof(what), "%s", why);
        complain_of_key(l, key, what);
        return NULL;
    }
    struct naming n = {.l = l};
    if (gp_formula_walk(node, check_name, &n) == 0)
        return node;
    const char *nearest =
        gp_nearest(n.unknown, gp_metrics_count(l->metrics), metric_name, l->metrics);
    if (strstr(n.unknown, "__"))
        snprintf(what, sizeof(what),
                 "a rule names metrics, not counters; define a metric for %s first", n.unknown);
    else
        snprintf(what, sizeof(what), "there is no metric or value '%s'%s%s%s", n.unknown,
                 nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    complain_of_key(l, key, what);
    gp_formula_free(node);
    return NULL;
}

static struct gp_node *parse_range(struct loading *l, enum key key, const char *begin,
                                   const char *end)
{
    char *part = strndup(begin, (size_t)(end - begin));
    if (!part) {
        complain_of_key(l, key, "out of memory");
        return NULL;
    }
    struct gp_node *node = parse(l, key, part, (size_t)(begin - text_of(l, key)));
    free(part);
    return node;
}

/* The next '<' or '>' or " and " outside of parentheses, the end of the text where there is none.
 */
static const char *find_sign(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0 && (*text == '<' || *text == '>'))
            break;
    }
    return text;
}

static const char *find_and(const char *text)
{
    const char *p = text;
    while ((p = strstr(p, "and"))) {
        if (p > text && isspace((unsigned char)p[-1]) && isspace((unsigned char)p[3]))
            return p;
        p += 3;
    }
    return text + strlen(text);
}

static void parse_condition(struct loading *l, struct gp_rule *rule)
{
    const char *text = text_of(l, CONDITION);
    while (*text && !l->refused) {
        const char *end = find_and(text), *sign = find_sign(text);
        if (sign >= end) {
            complain_of_key(l, CONDITION,
                            "a condition compares, like 'waves < 1 and sm_busy < 0.5', with < <= > "
                            ">=");
            return;
        }
        if (rule->test_count == GP_MOST_TESTS) {
            complain_of_key(l, CONDITION, "a condition has at most 8 parts");
            return;
        }
        struct gp_test *test = &rule->tests[rule->test_count++];
        bool or_equal = sign[1] == '=';
        test->comparison = *sign == '<' ? (or_equal ? GP_TEST_LESS_EQUAL : GP_TEST_LESS)
                                        : (or_equal ? GP_TEST_GREATER_EQUAL : GP_TEST_GREATER);
        test->left = parse_range(l, CONDITION, text, sign);
        test->right = l->refused ? NULL : parse_range(l, CONDITION, sign + 1 + or_equal, end);
        text = *end ? end + 3 : end;
    }
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Reads one "{formula:unit}" at `at`; returns the text behind it, NULL where the formula is
 * wrong. */
static const char *parse_value(struct loading *l, enum key key, const char *at,
                               struct gp_piece *piece)
{
    const char *end = strchr(at, '}'), *colon = end;
    if (!end) {
        complain_of_key(l, key, "expected '}' to close '{'");
        return NULL;
    }
    for (const char *p = at; p < end; p++)
        if (*p == ':')
            colon = p;
    snprintf(piece->unit, sizeof(piece->unit), "%.*s", colon < end ? (int)(end - colon - 1) : 0,
             colon + 1);
    piece->value = parse_range(l, key, at + 1, colon);
    return piece->value ? end + 1 : NULL;
}

static struct gp_piece *parse_text(struct loading *l, enum key key)
{
    struct gp_piece *first = NULL, **next = &first;
    const char *at = text_of(l, key);
    while (at && *at) {
        size_t length = strcspn(at, "{");
        struct gp_piece *piece = calloc(1, sizeof(*piece));
        if (!piece || !(piece->text = strndup(at, length))) {
            free(piece);
            complain_of_key(l, key, "out of memory");
            break;
        }
        *next = piece;
        next = &piece->next;
        at += length;
        if (*at)
            at = parse_value(l, key, at, piece);
    }
    return first;
}

/* ---- a whole section ------------------------------------------------------------------------- */

/* Answers which of the words it is, -1 after a complaint. Not given: the first. */
static int read_word(struct loading *l, enum key key, const char *const *words, size_t count)
{
    if (!is_given(l, key))
        return 0;
    struct gp_text known = {0};
    for (size_t i = 0; i < count; i++) {
        if (!words[i])
            continue;
        if (strcmp(words[i], text_of(l, key)) == 0) {
            gp_text_free(&known);
            return (int)i;
        }
        gp_text_addf(&known, "%s%s", known.length ? ", " : "", words[i]);
    }
    char what[256];
    snprintf(what, sizeof(what), "'%.40s' is none of %s", text_of(l, key), gp_text_string(&known));
    complain_of_key(l, key, what);
    gp_text_free(&known);
    return -1;
}

static char *copy_key(struct loading *l, enum key key)
{
    char *copy = strdup(text_of(l, key));
    if (!copy)
        complain_of_key(l, key, "out of memory");
    return copy;
}

static void need(struct loading *l, enum key key)
{
    if (!is_given(l, key))
        complain(l, l->section.line, "%s %s: there is no '%s = ...'",
                 l->section.is_unit ? "bound" : "rule", l->section.name, key_names[key]);
}

static void finish_unit(struct loading *l)
{
    struct gp_rules *r = l->rules;
    struct gp_unit unit = {0}, *slot = NULL;
    need(l, TITLE);
    need(l, UTILIZATION);
    need(l, CEILING);
    if (l->refused)
        return;
    struct gp_node *ceiling = parse(l, CEILING, text_of(l, CEILING), 0);
    unit.ceiling = ceiling && ceiling->kind == GP_NODE_NUMBER ? ceiling->number : 0;
    gp_formula_free(ceiling);
    if (!l->refused && !(unit.ceiling > 0 && unit.ceiling <= 1))
        complain_of_key(l, CEILING, "expected a number above 0 and up to 1");
    if (l->refused)
        return;
    for (size_t i = 0; i < r->unit_count; i++)
        if (strcmp(r->units[i].name, l->section.name) == 0)
            slot = &r->units[i];
    if (!slot && r->unit_count == GP_MOST_UNITS) {
        complain(l, l->section.line, "bound %s: left out, there are %d already", l->section.name,
                 GP_MOST_UNITS);
        return;
    }
    static const char *const answers[] = {"no", "yes"};
    memcpy(unit.name, l->section.name, sizeof(unit.name));
    unit.last = read_word(l, LAST, answers, 2) == 1;
    unit.title = copy_key(l, TITLE);
    unit.utilization = parse(l, UTILIZATION, text_of(l, UTILIZATION), 0);
    if (l->refused) {
        free_unit(&unit);
        return;
    }
    if (slot)
        free_unit(slot);
    else
        slot = &r->units[r->unit_count++];
    *slot = unit;
}

static void read_rule(struct loading *l, struct gp_rule *rule)
{
    static const char *const uses[] = {"yes", "no"}, *const answers[] = {"no", "yes"};
    static const char *const helps[] = {"work", "idle"}, *const scopes[] = {"kernel", "program"};
    int used = read_word(l, USE, uses, 2), libraries = read_word(l, LIBRARIES, answers, 2);
    int fills = read_word(l, HELPS, helps, 2), scope = read_word(l, SCOPE, scopes, 2);
    int last = read_word(l, LAST, answers, 2);
    int lines = read_word(l, LINES, weight_names, GP_WEIGHT_COUNT);
    memcpy(rule->name, l->section.name, sizeof(rule->name));
    rule->line = l->section.line;
    rule->file = strdup(l->file);
    rule->used = used == 0;
    rule->of_libraries = libraries == 1;
    rule->fills_idle = fills == 1;
    rule->of_program = scope == 1;
    rule->last = last == 1;
    rule->lines = lines > 0 ? (enum gp_weight)lines : GP_WEIGHT_NONE;
    if (!rule->used || l->refused)
        return; /* nothing else matters */
    need(l, CONDITION);
    need(l, EVIDENCE);
    need(l, TEXT);
    need(l, ESTIMATE);
    if (l->refused)
        return;
    if (is_given(l, UNDER))
        rule->under = copy_key(l, UNDER);
    rule->source = copy_key(l, SOURCE);
    parse_condition(l, rule);
    const char *estimate = text_of(l, ESTIMATE);
    rule->up_to = strncmp(estimate, "up to ", 6) == 0;
    if (!l->refused)
        rule->estimate =
            parse_range(l, ESTIMATE, estimate + (rule->up_to ? 6 : 0), estimate + strlen(estimate));
    if (!l->refused)
        rule->evidence = parse_text(l, EVIDENCE);
    if (!l->refused)
        rule->text = parse_text(l, TEXT);
}

static bool append(struct gp_rules *r, struct gp_rule *rule)
{
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? 2 * r->capacity : 32;
        struct gp_rule **rules = realloc(r->rules, capacity * sizeof(struct gp_rule *));
        if (!rules)
            return false;
        r->rules = rules;
        r->capacity = capacity;
    }
    r->rules[r->count++] = rule;
    return true;
}

static void finish_rule(struct loading *l)
{
    struct gp_rules *r = l->rules;
    struct gp_rule *rule = calloc(1, sizeof(*rule));
    if (!rule) {
        complain(l, l->section.line, "out of memory");
        return;
    }
    read_rule(l, rule);
    if (l->refused || !rule->file) {
        free_rule(rule);
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->rules[i]->name, rule->name) == 0) {
            free_rule(r->rules[i]);
            r->rules[i] = rule;
            return;
        }
    }
    if (r->count >= MOST_RULES || !append(r, rule)) {
        complain(l, l->section.line, "rule %s: left out, there are too many", rule->name);
        free_rule(rule);
    }
}

static void finish_section(struct loading *l)
{
    if (l->open && !l->refused) {
        if (l->section.is_unit)
            finish_unit(l);
        else
            finish_rule(l);
    }
    for (int k = 0; k < KEYS; k++) {
        gp_text_clear(&l->section.keys[k].text);
        l->section.keys[k].line = 0;
    }
    l->open = false;
    l->refused = false;
    l->key = -1;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void begin_section(struct loading *l, char *header)
{
    finish_section(l);
    l->open = true;
    l->section.line = l->line;
    char *end = strchr(header, ']');
    if (!end) {
        complain(l, l->line, "expected ']' after the rule's name");
        return;
    }
    *end = '\0';
    l->section.is_unit = strncmp(header, "bound ", 6) == 0;
    const char *name = l->section.is_unit ? header + 6 : header;
    size_t length = strlen(name);
    bool fits = length > 0 && length < sizeof(l->section.name);
    for (size_t i = 0; i < length; i++)
        fits = fits && (isalnum((unsigned char)name[i]) || name[i] == '_');
    if (fits)
        memcpy(l->section.name, name, length + 1);
    else
        complain(l, l->line,
                 "'%.60s' is no name for a rule: use up to 48 letters, digits and '_', behind "
                 "'bound ' for a unit of the GPU",
                 name);
}

static const char *key_name(const void *user, size_t i)
{
    (void)user;
    return key_names[i];
}

static void take_key(struct loading *l, char *line, char *equals)
{
    char *end = equals;
    while (end > line && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    int k = 0;
    while (k < KEYS && strcmp(key_names[k], line) != 0)
        k++;
    l->key = -1;
    if (k == KEYS) {
        const char *nearest = gp_nearest(line, KEYS, key_name, NULL);
        complain(l, l->line, "there is no key '%.40s'%s%s%s", line,
                 nearest ? ", did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
        return;
    }
    if (l->section.keys[k].line) {
        complain(l, l->line, "%s was already given in line %d", key_names[k],
                 l->section.keys[k].line);
        return;
    }
    l->key = k;
    l->section.keys[k].line = l->line;
    equals++;
    while (isspace((unsigned char)*equals))
        equals++;
    gp_text_add(&l->section.keys[k].text, equals);
}

static void take_line(struct loading *l, char *line)
{
    for (char *end = line + strlen(line); end > line && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    bool goes_on = isspace((unsigned char)*line);
    while (isspace((unsigned char)*line))
        line++;
    if (!*line || *line == ';' || *line == '#')
        return;
    char *equals = strchr(line, '=');
    if (*line == '[') {
        begin_section(l, line + 1);
    } else if (l->refused) {
        return;
    } else if (goes_on && l->key >= 0) {
        gp_text_addf(&l->section.keys[l->key].text, " %s", line);
    } else if (!l->open) {
        complain(l, l->line, "expected a rule's name in brackets first: [my_rule]");
    } else if (equals) {
        take_key(l, line, equals);
    } else {
        complain(l, l->line, "expected 'key = value', '[rule]' or a comment");
    }
}

static void take_file(void *user, const char *file, const char *text, size_t length)
{
    struct loading *l = user;
    char line[LONGEST_LINE + 1];
    l->file = file;
    l->line = 0;
    l->key = -1;
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)((newline ? newline : end) - text);
        l->line++;
        if (size > LONGEST_LINE) {
            complain(l, l->line, "a line has at most %d letters", LONGEST_LINE);
        } else {
            memcpy(line, text, size);
            line[size] = '\0';
            take_line(l, line);
        }
        text += size + (newline != NULL);
    }
    finish_section(l);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void forget(struct loading *l)
{
    for (int k = 0; k < KEYS; k++)
        gp_text_free(&l->section.keys[k].text);
}

struct gp_rules *gp_rules_parse(const struct gp_metrics *m, const char *file, const char *text,
                                size_t length, struct gp_text *problems)
{
    struct loading l = {
        .rules = calloc(1, sizeof(struct gp_rules)), .metrics = m, .problems = problems};
    if (l.rules)
        take_file(&l, file, text, length);
    forget(&l);
    return l.rules;
}

struct gp_rules *gp_rules_open(const struct gp_metrics *m, struct gp_text *problems)
{
    struct loading l = {
        .rules = calloc(1, sizeof(struct gp_rules)), .metrics = m, .problems = problems};
    if (l.rules) {
        gp_ini_shipped(gp_shipped_rules, gp_shipped_rules_end, take_file, &l);
        gp_ini_users("rules", take_file, &l, problems);
    }
    forget(&l);
    return l.rules;
}

bool gp_rule_is_under(const struct gp_rule *rule, const char *bound)
{
    size_t length = strlen(bound);
    const char *p = rule->under;
    if (!p)
        return true;
    while (*p) {
        p += strspn(p, ", ");
        size_t word = strcspn(p, ", ");
        if (word == length && strncmp(p, bound, length) == 0)
            return true;
        p += word;
    }
    return false;
}
