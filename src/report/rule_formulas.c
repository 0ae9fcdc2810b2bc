#include "report/rule_loading.h"

#include "base/nearest.h"
#include "report/operands.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formulas -------------------------------------------------------------------------------- */

struct naming {
    struct gp_rule_loading *l;
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

static bool check_name(void *user, struct gp_node *node)
{
    struct naming *n = user;
    if (node->kind == GP_NODE_FACT)
        return true;
    bool known = false;
    if (node->kind == GP_NODE_METRIC) {
        for (size_t i = 0; gp_operand_name(i) && !known; i++)
            known = strcmp(gp_operand_name(i), node->name) == 0;
        known = known || is_unit_operand(n->l->rules, node->name) ||
                gp_metrics_find(n->l->metrics, node->name);
    }
    if (known)
        return true;
    n->unknown = node->name;
    return false;
}

static const char *metric_name(const void *metrics, size_t i)
{
    return gp_metrics_at(metrics, i)->name;
}

struct gp_node *gp_rule_formula(struct gp_rule_loading *l, enum gp_rule_key key, const char *text,
                                size_t column)
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
        gp_rule_complain_of_key(l, key, what);
        return NULL;
    }
    struct naming n = {.l = l};
    if (gp_formula_walk(node, check_name, &n))
        return node;
    const char *nearest =
        gp_nearest(n.unknown, gp_metrics_count(l->metrics), metric_name, l->metrics);
    if (strstr(n.unknown, "__"))
        snprintf(what, sizeof(what),
                 "a rule names metrics, not counters; define a metric for %s first", n.unknown);
    else
        snprintf(what, sizeof(what), "there is no metric or value '%s'%s%s%s", n.unknown,
                 nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    gp_rule_complain_of_key(l, key, what);
    gp_formula_free(node);
    return NULL;
}

struct gp_node *gp_rule_formula_between(struct gp_rule_loading *l, enum gp_rule_key key,
                                        const char *begin, const char *end)
{
    char *part = strndup(begin, (size_t)(end - begin));
    if (!part) {
        gp_rule_complain_of_key(l, key, "out of memory");
        return NULL;
    }
    struct gp_node *node = gp_rule_formula(l, key, part, (size_t)(begin - gp_rule_text_of(l, key)));
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

size_t gp_rule_condition(struct gp_rule_loading *l, enum gp_rule_key key,
                         struct gp_test tests[GP_MOST_TESTS])
{
    const char *text = gp_rule_text_of(l, key);
    size_t count = 0;
    while (*text && !l->refused) {
        const char *end = find_and(text), *sign = find_sign(text);
        if (sign >= end) {
            gp_rule_complain_of_key(
                l, key,
                "a condition compares, like 'waves < 1 and sm_busy < 0.5', with < <= > "
                ">=");
            return count;
        }
        if (count == GP_MOST_TESTS) {
            gp_rule_complain_of_key(l, key, "a condition has at most 8 parts");
            return count;
        }
        struct gp_test *test = &tests[count++];
        bool or_equal = sign[1] == '=';
        test->comparison = *sign == '<' ? (or_equal ? GP_TEST_LESS_EQUAL : GP_TEST_LESS)
                                        : (or_equal ? GP_TEST_GREATER_EQUAL : GP_TEST_GREATER);
        test->left = gp_rule_formula_between(l, key, text, sign);
        test->right = l->refused ? NULL : gp_rule_formula_between(l, key, sign + 1 + or_equal, end);
        text = *end ? end + 3 : end;
    }
    return count;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Reads one "{formula:unit}" at `at`; returns the text behind it, NULL where the formula is
 * wrong. */
static const char *parse_value(struct gp_rule_loading *l, enum gp_rule_key key, const char *at,
                               struct gp_piece *piece)
{
    const char *end = strchr(at, '}'), *colon = end;
    if (!end) {
        gp_rule_complain_of_key(l, key, "expected '}' to close '{'");
        return NULL;
    }
    for (const char *p = at; p < end; p++)
        if (*p == ':')
            colon = p;
    snprintf(piece->unit, sizeof(piece->unit), "%.*s", colon < end ? (int)(end - colon - 1) : 0,
             colon + 1);
    piece->value = gp_rule_formula_between(l, key, at + 1, colon);
    return piece->value ? end + 1 : NULL;
}

struct gp_piece *gp_rule_pieces(struct gp_rule_loading *l, enum gp_rule_key key)
{
    struct gp_piece *first = NULL, **next = &first;
    const char *at = gp_rule_text_of(l, key);
    while (at && *at) {
        size_t length = strcspn(at, "{");
        struct gp_piece *piece = calloc(1, sizeof(*piece));
        if (!piece || !(piece->text = strndup(at, length))) {
            free(piece);
            gp_rule_complain_of_key(l, key, "out of memory");
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
