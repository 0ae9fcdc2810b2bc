#include "report/advice.h"

#include "report/lines.h"
#include "report/operands.h"
#include "report/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gp_is_library_kernel(const char *name)
{
    /* The last ones are kernels of cuBLAS and cuDNN whose names do not say so. */
    static const char *const libraries[] = {
        "cublas",
        "cudnn",
        "cutlass",
        "cusparse",
        "cufft",
        "cusolver",
        "curand",
        "nvjet",
        "xmma_",
        "cask_",
        "gemv2T_",
        "gemv2N_",
        "gemvNSP",
        "gemmSN_",
        "gemmk1_kern",
        "gemvx",
        "implicit_convolve",
        "winogradF",
    };
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
        if (strstr(name, libraries[i]))
            return true;
    /* cuBLAS's older names: "ampere_sgemm_128x64_tn", "sm80_xmma_gemm_...". */
    static const char *const chips[] = {"volta_", "turing_", "ampere_", "maxwell_", "hopper_",
                                        "sm70_",  "sm75_",   "sm80_",   "sm86_",    "sm89_",
                                        "sm90_",  "sm100_",  "sm120_"};
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        if (strncmp(name, chips[i], strlen(chips[i])) == 0)
            return true;
    return false;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void add_value(double value, const char *unit, struct gp_text *out)
{
    char text[40];
    if (strcmp(unit, "%") == 0)
        snprintf(text, sizeof(text),
                 value != 0 && fabs(value) < 0.05 ? "%.2g %%"
                 : fabs(value) < 9.95             ? "%.1f %%"
                                                  : "%.0f %%",
                 value); /* a small value is not 0 */
    else if (strcmp(unit, "ratio") == 0)
        snprintf(text, sizeof(text), "%.2f", value);
    else if (strcmp(unit, "whole") == 0 || !unit[0])
        snprintf(text, sizeof(text), "%.0f", value);
    else
        gp_unit_format(value, unit, text, sizeof(text));
    gp_text_add(out, text);
}

/* The text with its values, to be freed; NULL where one is missing or out of memory. */
static char *fill_in(const struct gp_subject *s, const struct gp_piece *piece)
{
    struct gp_text out = {0};
    bool complete = true;
    for (; piece && complete; piece = piece->next) {
        char why[GP_WHY_SIZE];
        double value;
        gp_text_add(&out, piece->text);
        if (!piece->value)
            continue;
        complete = gp_subject_evaluate(s, piece->value, &value, why, sizeof(why));
        if (complete)
            add_value(value, piece->unit, &out);
    }
    char *text = complete && !out.failed ? strdup(gp_text_string(&out)) : NULL;
    gp_text_free(&out);
    return text;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static bool passes(const struct gp_subject *s, const struct gp_test *test)
{
    char why[GP_WHY_SIZE];
    double left, right;
    if (!gp_subject_evaluate(s, test->left, &left, why, sizeof(why)) ||
        !gp_subject_evaluate(s, test->right, &right, why, sizeof(why)))
        return false;
    switch (test->comparison) {
    case GP_TEST_LESS:
        return left < right;
    case GP_TEST_LESS_EQUAL:
        return left <= right;
    case GP_TEST_GREATER:
        return left > right;
    case GP_TEST_GREATER_EQUAL:
        return left >= right;
    }
    return false;
}

static bool holds(const struct gp_subject *s, const struct gp_test *tests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!passes(s, &tests[i]))
            return false;
    return true;
}

static bool concerns(const struct gp_rule *rule, const struct gp_subject *s)
{
    if (!rule->used || rule->of_program != !s->row)
        return false;
    if (rule->of_program)
        return true;
    return gp_rule_is_under(rule, s->bound->name) && !(rule->fills_idle && s->bound->at_roof) &&
           (rule->of_libraries || !gp_is_library_kernel(s->row->brief_name));
}

static bool append(struct gp_advice_list *list, const struct gp_advice *advice)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        struct gp_advice *more = realloc(list->list, capacity * sizeof(*more));
        if (!more)
            return false;
        list->list = more;
        list->capacity = capacity;
    }
    list->list[list->count++] = *advice;
    return true;
}

static void free_advice(struct gp_advice *a)
{
    free(a->evidence);
    free(a->text);
    free(a->where);
}

/* The line that the rule is about; else that at which the kernel begins. To be freed; NULL: there
 * is no line information, or out of memory. */
static char *find_where(const struct gp_rule *rule, const struct gp_subject *s)
{
    struct gp_text where = {0};
    unsigned line;
    if (!s->lines)
        return NULL;
    bool found = rule->lines != GP_WEIGHT_NONE &&
                 holds(s, rule->line_tests, rule->line_test_count) &&
                 gp_lines_heaviest(s->lines, rule->lines, &where);
    char *path = found ? NULL : gp_lines_begin(s->lines, &line);
    if (path) {
        const char *slash = strrchr(path, '/');
        gp_text_addf(&where, "begins at %s:%u", slash ? slash + 1 : path, line);
    }
    free(path);
    char *copy = where.length && !where.failed ? strdup(gp_text_string(&where)) : NULL;
    gp_text_free(&where);
    return copy;
}

/* Adds the rule's advice for the subject, where it applies. */
static bool ask(struct gp_advice_list *list, const struct gp_rule *rule, const struct gp_subject *s)
{
    char why[GP_WHY_SIZE];
    double gain;
    if (!concerns(rule, s) || !holds(s, rule->tests, rule->test_count) ||
        !gp_subject_evaluate(s, rule->estimate, &gain, why, sizeof(why)))
        return true;
    gain = fmin(fmax(gain, 0), 1);
    double share = s->row && s->rows->seconds > 0 ? s->row->seconds / s->rows->seconds : 1;
    if (gain * share < GP_ADVISED_GAIN)
        return true;
    struct gp_advice a = {.row = s->row,
                          .rule = rule,
                          .kernel_gain = gain,
                          .gain = gain * share,
                          .up_to = rule->up_to,
                          .evidence = fill_in(s, rule->evidence),
                          .text = fill_in(s, rule->text),
                          .where = find_where(rule, s)};
    if (a.evidence && a.text && append(list, &a))
        return true;
    bool lacks_value = !a.evidence || !a.text;
    free_advice(&a);
    return lacks_value;
}

static bool ask_all(struct gp_advice_list *list, const struct gp_subject *s)
{
    size_t before = list->count;
    bool answer = true;
    for (int last = 0; last <= 1 && answer && list->count == before; last++)
        for (size_t r = 0; r < s->rules->count && answer; r++)
            if (s->rules->rules[r]->last == last)
                answer = ask(list, s->rules->rules[r], s);
    return answer;
}

static int compare(const void *x, const void *y)
{
    const struct gp_advice *a = x, *b = y;
    if (a->gain != b->gain)
        return a->gain < b->gain ? 1 : -1;
    if (a->rule->line != b->rule->line)
        return a->rule->line < b->rule->line ? -1 : 1;
    return strcmp(a->rule->name, b->rule->name);
}

static bool is_advised(const struct gp_rows *rows, const struct gp_row *row,
                       const struct gp_bound *bound)
{
    return rows->timed && row->seconds >= GP_ADVISED_SHARE * rows->seconds &&
           bound->kind != GP_BOUND_UNKNOWN;
}

bool gp_findings_make(struct gp_findings *f, const struct gp_rules *rules,
                      const struct gp_rows *rows,
                      const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                      void *user)
{
    bool answer = true;
    *f =
        (struct gp_findings){.rules = rules, .bounds = calloc(rows->count + 1, sizeof(*f->bounds))};
    if (!f->bounds)
        return false;
    for (size_t i = 0; i < rows->count; i++)
        gp_bound_find(&f->bounds[i], rules, rows, &rows->rows[i]);
    for (size_t i = 0; i <= rows->count && answer; i++) {
        const struct gp_row *row = i < rows->count ? &rows->rows[i] : NULL;
        if (row && !is_advised(rows, row, &f->bounds[i]))
            continue;
        const struct gp_subject subject = {.rows = rows,
                                           .row = row,
                                           .rules = rules,
                                           .bound = row ? &f->bounds[i] : NULL,
                                           .lines = row && lines ? lines(user, row) : NULL};
        answer = ask_all(&f->advice, &subject);
    }
    if (f->advice.count > 0)
        qsort(f->advice.list, f->advice.count, sizeof(*f->advice.list), compare);
    return answer;
}

void gp_findings_free(struct gp_findings *f)
{
    for (size_t i = 0; i < f->advice.count; i++)
        free_advice(&f->advice.list[i]);
    free(f->advice.list);
    free(f->bounds);
    *f = (struct gp_findings){0};
}

/* A tenth of a percent is a large part of the time that large gains leave. */
void gp_gain_format(double gain, bool up_to, char out[GP_GAIN_SIZE])
{
    int digits = gain < 0.0995 || (gain > 0.9 && gain < 0.9995) ? 1 : 0;
    double steps = digits ? 1000 : 100, count = gain * steps;
    count = up_to ? ceil(count - 1e-6) : round(count);
    snprintf(out, GP_GAIN_SIZE, "%s%.*f %%", up_to ? "up to " : "", digits, 100 * count / steps);
}
