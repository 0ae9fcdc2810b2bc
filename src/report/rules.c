#include "report/rules.h"

#include "base/inifiles.h"
#include "base/nearest.h"
#include "report/rule_loading.h"
#include "report/shipped_rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RULES 200
#define LONGEST_GLOB 256

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
    [GP_WEIGHT_TWO_SIDES] = "two_sides",
    [GP_WEIGHT_MULTIPLY_ADDS] = "multiply_adds",
    [GP_WEIGHT_PRODUCTS] = "products",
    [GP_WEIGHT_PLAIN_PRODUCTS] = "plain_products",
    [GP_WEIGHT_HALVES] = "halves",
    [GP_WEIGHT_SCALAR_HALVES] = "scalar_halves",
#define REASON(NAME, name, help) [GP_WEIGHT_FIRST_WAIT + GP_WAIT_##NAME] = "waits_" name,
#define CAUSE(NAME, name, help) [GP_WEIGHT_FIRST_WAIT + GP_WAIT_##NAME] = "waits_" name,
#include "report/waits.def"
#undef CAUSE
#undef REASON
};

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

/* Frees the tests of a rule, also those that were read before a mistake in it. */
static void free_tests(struct gp_test tests[GP_MOST_TESTS])
{
    for (size_t i = 0; i < GP_MOST_TESTS; i++) {
        gp_formula_free(tests[i].left);
        gp_formula_free(tests[i].right);
    }
}

static void free_rule(struct gp_rule *rule)
{
    if (!rule)
        return;
    free_tests(rule->tests);
    free_tests(rule->line_tests);
    gp_formula_free(rule->estimate);
    free_pieces(rule->evidence);
    free_pieces(rule->text);
    free(rule->under);
    free(rule->kernels);
    free(rule->source);
    free(rule->file);
    free(rule);
}

static void free_unit(struct gp_unit *unit)
{
    free(unit->title);
    gp_formula_free(unit->utilization);
    gp_formula_free(unit->counted);
    gp_formula_free(unit->at_most);
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

/* ---- a whole section ------------------------------------------------------------------------- */

static struct gp_node *formula_if_given(struct gp_rule_loading *l, enum gp_rule_key key)
{
    return gp_rule_is_given(l, key) ? gp_rule_formula(l, key, gp_rule_text_of(l, key), 0) : NULL;
}

static void finish_unit(struct gp_rule_loading *l)
{
    struct gp_rules *r = l->rules;
    struct gp_unit unit = {0}, *slot = NULL;
    gp_rule_need(l, GP_RULE_TITLE);
    if (!gp_rule_is_given(l, GP_RULE_COUNTED))
        gp_rule_need(l, GP_RULE_UTILIZATION);
    gp_rule_need(l, GP_RULE_CEILING);
    if (l->refused)
        return;
    struct gp_node *ceiling =
        gp_rule_formula(l, GP_RULE_CEILING, gp_rule_text_of(l, GP_RULE_CEILING), 0);
    unit.ceiling = ceiling && ceiling->kind == GP_NODE_NUMBER ? ceiling->number : 0;
    gp_formula_free(ceiling);
    if (!l->refused && !(unit.ceiling > 0 && unit.ceiling <= 1))
        gp_rule_complain_of_key(l, GP_RULE_CEILING, "expected a number above 0 and up to 1");
    if (l->refused)
        return;
    for (size_t i = 0; i < r->unit_count; i++)
        if (strcmp(r->units[i].name, l->section.name) == 0)
            slot = &r->units[i];
    if (!slot && r->unit_count == GP_MOST_UNITS) {
        gp_rule_complain(l, l->section.line, "bound %s: left out, there are %d already",
                         l->section.name, GP_MOST_UNITS);
        return;
    }
    static const char *const answers[] = {"no", "yes"};
    memcpy(unit.name, l->section.name, sizeof(unit.name));
    unit.last = gp_rule_word(l, GP_RULE_LAST, answers, 2) == 1;
    unit.each_sm = gp_rule_word(l, GP_RULE_EACH_SM, answers, 2) == 1;
    unit.title = gp_rule_copy_of(l, GP_RULE_TITLE);
    unit.utilization = formula_if_given(l, GP_RULE_UTILIZATION);
    unit.counted = formula_if_given(l, GP_RULE_COUNTED);
    unit.at_most = formula_if_given(l, GP_RULE_AT_MOST);
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

static void read_rule(struct gp_rule_loading *l, struct gp_rule *rule)
{
    static const char *const uses[] = {"yes", "no"}, *const answers[] = {"no", "yes"};
    static const char *const helps[] = {"work", "idle"}, *const scopes[] = {"kernel", "program",
                                                                            "sequence"};
    int used = gp_rule_word(l, GP_RULE_USE, uses, 2),
        libraries = gp_rule_word(l, GP_RULE_LIBRARIES, answers, 2);
    int fills = gp_rule_word(l, GP_RULE_HELPS, helps, 2),
        scope = gp_rule_word(l, GP_RULE_SCOPE, scopes, 3);
    static const char *const wholes[] = {"gpu", "run"};
    int of = gp_rule_word(l, GP_RULE_OF, wholes, 2);
    int last = gp_rule_word(l, GP_RULE_LAST, answers, 2);
    int guess = gp_rule_word(l, GP_RULE_GUESS, answers, 2);
    gp_rule_list(l, GP_RULE_LINES, weight_names, GP_WEIGHT_COUNT, rule->lines, GP_MOST_RULE_LINES);
    memcpy(rule->name, l->section.name, sizeof(rule->name));
    rule->line = l->section.line;
    rule->file = strdup(l->file);
    rule->used = used == 0;
    rule->of_libraries = libraries == 1;
    rule->fills_idle = fills == 1;
    rule->of_program = scope == 1;
    rule->of_sequence = scope == 2;
    rule->of_run = of == 1;
    if (rule->of_run && scope != 1)
        gp_rule_complain_of_key(l, GP_RULE_OF, "run: only with 'scope = program'");
    rule->last = last == 1;
    rule->guess = guess == 1;
    if (!rule->used || l->refused)
        return; /* nothing else matters */
    gp_rule_need(l, GP_RULE_CONDITION);
    gp_rule_need(l, GP_RULE_EVIDENCE);
    gp_rule_need(l, GP_RULE_TEXT);
    gp_rule_need(l, GP_RULE_ESTIMATE);
    if (l->refused)
        return;
    if (gp_rule_is_given(l, GP_RULE_UNDER))
        rule->under = gp_rule_copy_of(l, GP_RULE_UNDER);
    if (!l->refused && gp_rule_is_given(l, GP_RULE_KERNELS))
        rule->kernels = gp_rule_copy_of(l, GP_RULE_KERNELS);
    rule->source = gp_rule_copy_of(l, GP_RULE_SOURCE);
    rule->test_count = gp_rule_condition(l, GP_RULE_CONDITION, rule->tests);
    if (!l->refused)
        rule->line_test_count = gp_rule_condition(l, GP_RULE_LINES_IF, rule->line_tests);
    const char *estimate = gp_rule_text_of(l, GP_RULE_ESTIMATE);
    rule->up_to = strncmp(estimate, "up to ", 6) == 0;
    if (!l->refused)
        rule->estimate = gp_rule_formula_between(
            l, GP_RULE_ESTIMATE, estimate + (rule->up_to ? 6 : 0), estimate + strlen(estimate));
    if (!l->refused)
        rule->evidence = gp_rule_pieces(l, GP_RULE_EVIDENCE);
    if (!l->refused)
        rule->text = gp_rule_pieces(l, GP_RULE_TEXT);
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

static const char *rule_name(const void *rules, size_t i)
{
    return ((const struct gp_rules *)rules)->rules[i]->name;
}

/* `use = no` for a rule that is not there: a slip of the fingers. */
static void complain_of_unknown(struct gp_rule_loading *l, const struct gp_rule *rule)
{
    const struct gp_rules *r = l->rules;
    const char *nearest = gp_nearest(rule->name, r->count, rule_name, r);
    gp_rule_complain(l, l->section.line,
                     "there is no rule '%s' that 'use = no' could leave out%s%s%s", rule->name,
                     nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static void finish_rule(struct gp_rule_loading *l)
{
    struct gp_rules *r = l->rules;
    struct gp_rule *rule = calloc(1, sizeof(*rule));
    if (!rule) {
        gp_rule_complain(l, l->section.line, "out of memory");
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
    if (!rule->used) {
        complain_of_unknown(l, rule);
        free_rule(rule);
    } else if (r->count >= MOST_RULES || !append(r, rule)) {
        gp_rule_complain(l, l->section.line, "rule %s: left out, there are too many", rule->name);
        free_rule(rule);
    }
}

void gp_rule_section_ends(struct gp_rule_loading *l)
{
    if (l->section.is_unit)
        finish_unit(l);
    else
        finish_rule(l);
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct gp_rules *gp_rules_parse(const struct gp_metrics *m, const char *file, const char *text,
                                size_t length, struct gp_text *problems)
{
    struct gp_rule_loading l = {
        .rules = calloc(1, sizeof(struct gp_rules)), .metrics = m, .problems = problems};
    if (l.rules)
        gp_rule_take_file(&l, file, text, length);
    gp_rule_loading_free(&l);
    return l.rules;
}

struct gp_rules *gp_rules_open(const struct gp_metrics *m, struct gp_text *problems)
{
    struct gp_rule_loading l = {
        .rules = calloc(1, sizeof(struct gp_rules)), .metrics = m, .problems = problems};
    if (l.rules) {
        gp_ini_shipped(gp_shipped_rules, gp_shipped_rules_end, gp_rule_take_file, &l);
        gp_ini_users("rules", gp_rule_take_file, &l, problems);
    }
    gp_rule_loading_free(&l);
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

/* The next of the globs, in `glob`; false behind the last. One that is too long matches nothing. */
static bool next_glob(const char **at, char glob[LONGEST_GLOB])
{
    *at += strspn(*at, ", ");
    size_t length = strcspn(*at, ",");
    const char *begin = *at;
    *at += length;
    while (length > 0 && begin[length - 1] == ' ')
        length--;
    const size_t kept = length < LONGEST_GLOB ? length : 0;
    memcpy(glob, begin, kept);
    glob[kept] = '\0';
    return length > 0;
}

bool gp_rule_is_of(const struct gp_rule *rule, const char *kernel)
{
    char glob[LONGEST_GLOB];
    const char *at = rule->kernels;
    bool found = false;
    while (at && next_glob(&at, glob)) {
        if (glob[0] == '!' && fnmatch(glob + 1, kernel, 0) == 0)
            return false;
        found |= fnmatch(glob, kernel, 0) == 0;
    }
    return found || !rule->kernels;
}
