#include "metrics/formula.h"

#include "base/nearest.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tree is walked recursively on the stack of a program that is not ours. */
#define MOST_HEIGHT 200

struct parser {
    const char *text, *at;
    unsigned nesting;
    char *why;
    size_t why_size;
    bool failed;
};

static struct gp_node *parse_sum(struct parser *p);

/* Only the first complaint counts: later ones follow from it. */
static struct gp_node *fail(struct parser *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static struct gp_node *fail(struct parser *p, const char *fmt, ...)
{
    if (!p->failed) {
        int n = snprintf(p->why, p->why_size, "column %zu: ", (size_t)(p->at - p->text) + 1);
        if (n >= 0 && (size_t)n < p->why_size) {
            va_list args;
            va_start(args, fmt);
            vsnprintf(p->why + n, p->why_size - (size_t)n, fmt, args);
            va_end(args);
        }
        p->failed = true;
    }
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool accept(struct parser *p, char c)
{
    skip_blanks(p);
    if (*p->at != c)
        return false;
    p->at++;
    return true;
}

static bool expect(struct parser *p, char c, const char *where)
{
    if (accept(p, c))
        return true;
    if (*p->at)
        fail(p, "expected '%c' %s, found '%.12s'", c, where, p->at);
    else
        fail(p, "expected '%c' %s, the formula ends here", c, where);
    return false;
}

static struct gp_node *new_node(struct parser *p, enum gp_node_kind kind)
{
    struct gp_node *node = calloc(1, sizeof(*node));
    if (!node)
        return fail(p, "out of memory");
    node->kind = kind;
    node->height = 1;
    return node;
}

/* Takes both subtrees over, also when it fails. */
static struct gp_node *join(struct parser *p, enum gp_node_kind kind, struct gp_node *left,
                            struct gp_node *right)
{
    int binary = kind != GP_NODE_NEGATE;
    struct gp_node *node = left && (right || !binary) ? new_node(p, kind) : NULL;
    if (!node) {
        gp_formula_free(left);
        gp_formula_free(right);
        return NULL;
    }
    node->left = left;
    node->right = right;
    unsigned higher = right && right->height > left->height ? right->height : left->height;
    node->height = higher + 1;
    if (node->height > MOST_HEIGHT) {
        gp_formula_free(node);
        return fail(p, "more than %d operations on top of each other", MOST_HEIGHT);
    }
    return node;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static struct gp_node *parse_number(struct parser *p)
{
    /* The program may have chosen a locale with a decimal comma. */
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return fail(p, "out of memory");
    char *end;
    double number = strtod_l(p->at, &end, plain);
    freelocale(plain);
    if (is_name_part(*end) || !isfinite(number))
        return fail(p, "'%.24s' is no number", p->at);
    struct gp_node *node = new_node(p, GP_NODE_NUMBER);
    if (node)
        node->number = number;
    p->at = end;
    return node;
}

static const char *fact_name(const void *user, size_t i)
{
    (void)user;
    return gp_fact_at(i)->name;
}

static struct gp_node *parse_fact(struct parser *p, char *name, const char *begin)
{
    const struct gp_fact *fact = gp_fact_find(name);
    struct gp_node *node = NULL;
    if (fact) {
        node = new_node(p, GP_NODE_FACT);
        if (node)
            node->fact = fact;
    } else {
        const char *nearest = gp_nearest(name, gp_fact_count(), fact_name, NULL);
        p->at = begin;
        fail(p, "there is no fact %s%s%s%s", name, nearest ? "; did you mean " : "",
             nearest ? nearest : "", nearest ? "?" : "");
    }
    free(name);
    return node;
}

static struct gp_node *parse_function(struct parser *p, enum gp_node_kind kind, const char *name)
{
    char where[32];
    snprintf(where, sizeof(where), "between the arguments of %s", name);
    struct gp_node *left = parse_sum(p);
    struct gp_node *right = left && expect(p, ',', where) ? parse_sum(p) : NULL;
    struct gp_node *node = join(p, kind, left, right);
    snprintf(where, sizeof(where), "after the arguments of %s", name);
    if (node && !expect(p, ')', where)) {
        gp_formula_free(node);
        return NULL;
    }
    return node;
}

static struct gp_node *parse_name(struct parser *p)
{
    const char *begin = p->at;
    while (is_name_part(*p->at))
        p->at++;
    char *name = strndup(begin, (size_t)(p->at - begin));
    if (!name)
        return fail(p, "out of memory");

    if (accept(p, '(')) {
        enum gp_node_kind kind = strcmp(name, "min") == 0   ? GP_NODE_MIN
                                 : strcmp(name, "max") == 0 ? GP_NODE_MAX
                                                            : GP_NODE_NUMBER;
        struct gp_node *node;
        if (kind == GP_NODE_NUMBER) {
            p->at = begin;
            node = fail(p, "there is no function %s, only min(a, b) and max(a, b)", name);
        } else {
            node = parse_function(p, kind, kind == GP_NODE_MIN ? "min" : "max");
        }
        free(name);
        return node;
    }
    if (strncmp(name, "device.", 7) == 0 || strncmp(name, "launch.", 7) == 0)
        return parse_fact(p, name, begin);

    int counter = strstr(name, "__") != NULL;
    if (!counter && strchr(name, '.')) {
        p->at = begin;
        fail(p, "'%s' is no counter (they have '__' in their names), no fact and no metric", name);
        free(name);
        return NULL;
    }
    struct gp_node *node = new_node(p, counter ? GP_NODE_COUNTER : GP_NODE_METRIC);
    if (node)
        node->name = name;
    else
        free(name);
    return node;
}

static struct gp_node *parse_factor(struct parser *p)
{
    /* Against a formula of ten thousand parentheses. */
    if (p->nesting >= MOST_HEIGHT)
        return fail(p, "more than %d parentheses or signs inside each other", MOST_HEIGHT);
    p->nesting++;
    struct gp_node *node;
    skip_blanks(p);
    if (accept(p, '-')) {
        node = join(p, GP_NODE_NEGATE, parse_factor(p), NULL);
    } else if (accept(p, '(')) {
        node = parse_sum(p);
        if (node && !expect(p, ')', "to close '('")) {
            gp_formula_free(node);
            node = NULL;
        }
    } else if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        node = parse_number(p);
    } else if (is_name_start(*p->at)) {
        node = parse_name(p);
    } else if (*p->at) {
        node = fail(p, "expected a number, a counter, a fact or a metric, found '%.12s'", p->at);
    } else {
        node = fail(p, "expected a number, a counter, a fact or a metric, the formula ends here");
    }
    p->nesting--;
    return node;
}

static struct gp_node *parse_product(struct parser *p)
{
    struct gp_node *node = parse_factor(p);
    while (node) {
        if (accept(p, '*'))
            node = join(p, GP_NODE_MULTIPLY, node, parse_factor(p));
        else if (accept(p, '/'))
            node = join(p, GP_NODE_DIVIDE, node, parse_factor(p));
        else
            break;
    }
    return node;
}

static struct gp_node *parse_sum(struct parser *p)
{
    struct gp_node *node = parse_product(p);
    while (node) {
        if (accept(p, '+'))
            node = join(p, GP_NODE_ADD, node, parse_product(p));
        else if (accept(p, '-'))
            node = join(p, GP_NODE_SUBTRACT, node, parse_product(p));
        else
            break;
    }
    return node;
}

struct gp_node *gp_formula_parse(const char *text, char *why, size_t why_size)
{
    struct parser p = {.text = text, .at = text, .why = why, .why_size = why_size};
    struct gp_node *node = parse_sum(&p);
    if (!node)
        return NULL;
    skip_blanks(&p);
    if (*p.at) {
        gp_formula_free(node);
        return fail(&p, "expected + - * / or the end, found '%.12s'", p.at);
    }
    return node;
}

void gp_formula_free(struct gp_node *node)
{
    if (!node)
        return;
    gp_formula_free(node->left);
    gp_formula_free(node->right);
    free(node->name);
    free(node);
}

static int binding(const struct gp_node *node)
{
    switch (node->kind) {
    case GP_NODE_ADD:
    case GP_NODE_SUBTRACT:
        return 1;
    case GP_NODE_MULTIPLY:
    case GP_NODE_DIVIDE:
        return 2;
    case GP_NODE_NEGATE:
        return 3;
    default:
        return 4;
    }
}

/* With the fewest digits that read back as the same number; 100 and 1024 as people write them. */
static void print_number(double number, struct gp_text *out)
{
    char digits[32];
    if (number == floor(number) && fabs(number) < 1e6) {
        gp_text_addf(out, "%.0f", number);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof(digits), "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    gp_text_add(out, digits);
}

static void print_part(const struct gp_node *part, int at_least, struct gp_text *out)
{
    int bracketed = binding(part) < at_least;
    if (bracketed)
        gp_text_add(out, "(");
    gp_formula_print(part, out);
    if (bracketed)
        gp_text_add(out, ")");
}

static void print_infix(const struct gp_node *node, const char *sign, struct gp_text *out)
{
    print_part(node->left, binding(node), out);
    gp_text_add(out, sign);
    print_part(node->right, binding(node) + 1, out);
}

static void print_function(const struct gp_node *node, const char *name, struct gp_text *out)
{
    gp_text_add(out, name);
    gp_text_add(out, "(");
    gp_formula_print(node->left, out);
    gp_text_add(out, ", ");
    gp_formula_print(node->right, out);
    gp_text_add(out, ")");
}

void gp_formula_print(const struct gp_node *node, struct gp_text *out)
{
    switch (node->kind) {
    case GP_NODE_NUMBER:
        print_number(node->number, out);
        break;
    case GP_NODE_COUNTER:
    case GP_NODE_METRIC:
        gp_text_add(out, node->name);
        break;
    case GP_NODE_FACT:
        gp_text_add(out, node->fact->name);
        break;
    case GP_NODE_NEGATE:
        gp_text_add(out, "-");
        print_part(node->left, binding(node), out);
        break;
    case GP_NODE_ADD:
        print_infix(node, " + ", out);
        break;
    case GP_NODE_SUBTRACT:
        print_infix(node, " - ", out);
        break;
    case GP_NODE_MULTIPLY:
        print_infix(node, " * ", out);
        break;
    case GP_NODE_DIVIDE:
        print_infix(node, " / ", out);
        break;
    case GP_NODE_MIN:
        print_function(node, "min", out);
        break;
    case GP_NODE_MAX:
        print_function(node, "max", out);
        break;
    }
}

static void say_division_by_zero(const struct gp_node *denominator, char *why, size_t why_size)
{
    struct gp_text text = {0};
    gp_formula_print(denominator, &text);
    snprintf(why, why_size, "division by zero: %s is 0", gp_text_string(&text));
    gp_text_free(&text);
}

bool gp_formula_evaluate(const struct gp_node *node, const struct gp_operands *operands,
                         double *value, char *why, size_t why_size)
{
    double left = 0, right = 0;
    if (node->left && !gp_formula_evaluate(node->left, operands, &left, why, why_size))
        return false;
    if (node->right && !gp_formula_evaluate(node->right, operands, &right, why, why_size))
        return false;

    switch (node->kind) {
    case GP_NODE_NUMBER:
        *value = node->number;
        break;
    case GP_NODE_COUNTER:
    case GP_NODE_FACT:
    case GP_NODE_METRIC:
        if (!operands->value_of(operands->user, node, value, why, why_size))
            return false;
        break;
    case GP_NODE_NEGATE:
        *value = -left;
        break;
    case GP_NODE_ADD:
        *value = left + right;
        break;
    case GP_NODE_SUBTRACT:
        *value = left - right;
        break;
    case GP_NODE_MULTIPLY:
        *value = left * right;
        break;
    case GP_NODE_DIVIDE:
        if (right == 0) {
            say_division_by_zero(node->right, why, why_size);
            return false;
        }
        *value = left / right;
        break;
    case GP_NODE_MIN:
        *value = left < right ? left : right;
        break;
    case GP_NODE_MAX:
        *value = left > right ? left : right;
        break;
    }
    if (isfinite(*value))
        return true;
    snprintf(why, why_size, "the result is no finite number");
    return false;
}

bool gp_formula_walk(struct gp_node *node, bool (*visit)(void *, struct gp_node *), void *user)
{
    if (!node->left)
        return node->kind == GP_NODE_NUMBER || visit(user, node);
    return gp_formula_walk(node->left, visit, user) &&
           (!node->right || gp_formula_walk(node->right, visit, user));
}
