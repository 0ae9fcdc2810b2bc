#include "report/advice.h"

#include "report/host.h"
#include "report/layout.h"
#include "report/left_out.h"
#include "report/lines.h"
#include "report/operands.h"
#include "report/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLEARLY_SHORTER 0.995

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

/* The unit "names" stands for the names of the kernels of a sequence. */
static void add_value(const struct gp_subject *s, double value, const char *unit,
                      struct gp_text *out)
{
    char text[40];
    if (strcmp(unit, "names") == 0 && s->sequence) {
        gp_sequence_names(s->sequence, out);
        return;
    }
    if (strcmp(unit, "whole") == 0 || !unit[0])
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
            add_value(s, value, piece->unit, &out);
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
    if (!rule->used || rule->of_sequence != !!s->sequence)
        return false;
    if (rule->of_sequence)
        return true;
    if (rule->of_program != !s->row)
        return false;
    if (rule->of_program)
        return true;
    return gp_rule_is_under(rule, s->bound->name) && !(rule->fills_idle && s->bound->at_roof) &&
           gp_rule_is_of(rule, s->row->full_name) &&
           (rule->of_libraries || !gp_subject_is_ready_made(s));
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
    free(a->groups);
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
    const bool named = holds(s, rule->line_tests, rule->line_test_count);
    bool found = false;
    for (size_t i = 0; i < GP_MOST_RULE_LINES && named && !found && rule->lines[i]; i++)
        found = gp_lines_heaviest(s->lines, rule->lines[i], &where);
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

/* Works out the share of the subject's time that the rule's change saves. False where the rule has
 * no answer. */
static bool gain_of(const struct gp_rule *rule, const struct gp_subject *s, double *gain)
{
    char why[GP_WHY_SIZE];
    if (!concerns(rule, s) || !holds(s, rule->tests, rule->test_count) ||
        !gp_subject_evaluate(s, rule->estimate, gain, why, sizeof(why)))
        return false;
    *gain = fmin(fmax(*gain, 0), 1);
    return true;
}

/* Adds a piece of advice with its texts. Its groups are freed where it has none. False when out of
 * memory. */
static bool add_advice(struct gp_advice_list *list, struct gp_advice a, const struct gp_subject *s)
{
    a.up_to = a.rule->up_to;
    a.evidence = fill_in(s, a.rule->evidence);
    a.text = fill_in(s, a.rule->text);
    a.where = find_where(a.rule, s);
    if (a.evidence && a.text && append(list, &a))
        return true;
    bool lacks_value = !a.evidence || !a.text;
    free_advice(&a);
    return lacks_value;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* A second of the run is worth a second of the GPU's. */
static double rank_of(const struct gp_rule *rule, const struct gp_rows *rows, double gain)
{
    const double busy = 1 - gp_host_idle_share(rows);
    return rule->of_run && busy > 0 ? gain / busy : gain;
}

static bool advise_program(struct gp_findings *f, const struct gp_rows *rows)
{
    const struct gp_subject s = {.rows = rows, .rules = f->rules, .bounds = f->group_bounds};
    bool answer = true;
    for (size_t r = 0; r < f->rules->count && answer; r++) {
        const struct gp_rule *rule = f->rules->rules[r];
        double gain;
        if (gain_of(rule, &s, &gain) && gain >= GP_ADVISED_GAIN)
            answer = add_advice(&f->advice,
                                (struct gp_advice){.rule = rule,
                                                   .kernel_gain = gain,
                                                   .gain = gain,
                                                   .rank = rank_of(rule, rows, gain),
                                                   .grid_gain = gain},
                                &s);
    }
    return answer;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Gains of one row: gains[rule * groups + group], NAN where the rule has no answer. */
struct asking {
    struct gp_findings *findings;
    const struct gp_rows *rows;
    const struct gp_row *row;
    const struct gp_lines *lines;
    double mean_instructions; /* of a launch of the kernel; NAN: not known */
    double *gains;
    double *seconds; /* of each group; of a tuning's fastest, as if the whole tuning ran so */
};

/* The instructions of the mean launch of the kernel, in all configurations. */
static double mean_instructions(const struct gp_rows *rows, const char *kernel)
{
    double sum = 0, launches = 0, mean;
    for (size_t i = 0; i < rows->count; i++) {
        const struct gp_row *row = &rows->rows[i];
        if (strcmp(row->launch->kernel, kernel) != 0 ||
            !gp_rows_mean(rows, row, "inst_executed", &mean))
            continue;
        sum += mean * (double)row->launches;
        launches += (double)row->launches;
    }
    return launches > 0 ? sum / launches : (double)NAN;
}

/* Counts of single instructions are kept by kernel: those of a configuration are larger or smaller
 * as its launches execute more or fewer instructions. */
static double lines_scale(const struct gp_rows *rows, const struct gp_row *one, double all)
{
    double instructions;
    if (!gp_rows_mean(rows, one, "inst_executed", &instructions) || !(all > 0))
        return 1;
    return instructions / all;
}

static struct gp_subject subject_of(const struct gp_findings *f, const struct gp_rows *rows,
                                    const struct gp_row *one, const struct gp_lines *lines,
                                    double instructions)
{
    return (struct gp_subject){.rows = rows,
                               .row = one,
                               .rules = f->rules,
                               .bound = &f->group_bounds[one->first_group],
                               .bounds = f->group_bounds,
                               .sequences = &f->sequences,
                               .lines = lines,
                               .lines_scale = lines_scale(rows, one, instructions)};
}

struct gp_subject gp_findings_subject(const struct gp_findings *f, const struct gp_rows *rows,
                                      const struct gp_advice *a, const struct gp_lines *lines,
                                      struct gp_row *one)
{
    if (!a->row)
        return (struct gp_subject){.rows = rows, .rules = f->rules, .bounds = f->group_bounds};
    *one = gp_rows_of_group(rows, a->row, a->groups[0]);
    struct gp_subject s =
        subject_of(f, rows, one, lines, mean_instructions(rows, a->row->launch->kernel));
    s.sequence = a->sequence;
    return s;
}

static double *gain_at(const struct asking *a, size_t rule, size_t group)
{
    return &a->gains[rule * a->row->grids + group];
}

/* Asks the rules that are `last` or not; returns whether one had an answer worth a word. A guess
 * is none. */
static bool ask_rules(const struct asking *a, size_t group, const struct gp_subject *s, bool last)
{
    bool answered = false;
    double share = s->rows->seconds > 0 ? a->row->seconds / s->rows->seconds : 1;
    for (size_t r = 0; r < s->rules->count; r++) {
        double gain;
        if (s->rules->rules[r]->last != last || !gain_of(s->rules->rules[r], s, &gain))
            continue;
        *gain_at(a, r, group) = gain;
        answered = answered || (gain * share >= GP_ADVISED_GAIN && !s->rules->rules[r]->guess);
    }
    return answered;
}

/* True for a configuration of a tuning that is not the fastest: the fastest alone is advised on. */
static bool is_slower(const struct gp_findings *f, const struct gp_row *row, size_t group)
{
    const struct gp_tuning *tuning = f->tunings.of_group[row->first_group + group];
    return tuning && (tuning->tried[0].row != row || tuning->tried[0].group != group);
}

static void ask_group(const struct asking *a, size_t group)
{
    struct gp_row one = gp_rows_of_group(a->rows, a->row, group);
    const struct gp_subject s =
        subject_of(a->findings, a->rows, &one, a->lines, a->mean_instructions);
    if (is_slower(a->findings, a->row, group))
        return;
    if (!ask_rules(a, group, &s, false))
        ask_rules(a, group, &s, true);
}

struct gained {
    size_t group;
    double seconds;
};

static int by_gain(const void *x, const void *y)
{
    const struct gained *a = x, *b = y;
    return a->seconds != b->seconds ? (a->seconds < b->seconds ? 1 : -1)
                                    : (a->group > b->group) - (a->group < b->group);
}

/* Adds the rule's advice for all groups where it has an answer. */
static bool add_sum(const struct asking *a, size_t rule)
{
    struct gained *gained = calloc(a->row->grids, sizeof(*gained));
    struct gp_advice advice = {.row = a->row,
                               .rule = a->findings->rules->rules[rule],
                               .groups = calloc(a->row->grids, sizeof(*advice.groups))};
    double saved = 0, all = 0;
    bool answer = gained && advice.groups;
    for (size_t g = 0; g < a->row->grids && answer; g++) {
        double gain = *gain_at(a, rule, g);
        all += a->seconds[g];
        if (isnan(gain))
            continue;
        gained[advice.group_count++] = (struct gained){g, gain * a->seconds[g]};
        saved += gain * a->seconds[g];
    }
    if (answer && a->findings->seconds > 0 && saved >= GP_ADVISED_GAIN * a->findings->seconds) {
        qsort(gained, advice.group_count, sizeof(*gained), by_gain);
        for (size_t i = 0; i < advice.group_count; i++)
            advice.groups[i] = gained[i].group;
        advice.gain = advice.rank = saved / a->findings->seconds;
        advice.kernel_gain = saved / all;
        advice.grid_gain = *gain_at(a, rule, advice.groups[0]);
        struct gp_row one;
        const struct gp_subject s =
            gp_findings_subject(a->findings, a->rows, &advice, a->lines, &one);
        answer = add_advice(&a->findings->advice, advice, &s);
    } else {
        free(advice.groups);
    }
    free(gained);
    return answer;
}

/* The time of the group. The fastest configuration of a tuning has the time of all of the tuning's
 * launches, the others have none: it is known which one will be used. */
static double advised_seconds(const struct gp_findings *f, const struct gp_rows *rows,
                              const struct gp_row *row, size_t group)
{
    const struct gp_tuning *tuning = f->tunings.of_group[row->first_group + group];
    if (!tuning)
        return gp_rows_of_group(rows, row, group).seconds;
    return is_slower(f, row, group) ? 0 : (double)tuning->launches * tuning->tried[0].seconds;
}

static bool advise_row(struct asking *a,
                       const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                       void *user)
{
    size_t rules = a->findings->rules->count, groups = a->row->grids;
    a->gains = calloc(rules * groups + 1, sizeof(*a->gains));
    a->seconds = calloc(groups + 1, sizeof(*a->seconds));
    bool answer = a->gains && a->seconds;
    double seconds = 0;
    for (size_t g = 0; g < groups && answer; g++)
        seconds += a->seconds[g] = advised_seconds(a->findings, a->rows, a->row, g);
    if (answer && seconds >= GP_ADVISED_SHARE * a->findings->seconds) {
        a->lines = lines ? lines(user, a->row) : NULL;
        a->mean_instructions = mean_instructions(a->rows, a->row->launch->kernel);
        for (size_t i = 0; i < rules * groups; i++)
            a->gains[i] = (double)NAN;
        for (size_t g = 0; g < groups; g++)
            ask_group(a, g);
        for (size_t r = 0; r < rules && answer; r++)
            answer = add_sum(a, r);
    }
    free(a->gains);
    free(a->seconds);
    return answer;
}

/* ---- sequences of kernels ---------------------------------------------------------------------
 */

/* Its first kernel stands for all. */
static bool advise_sequence(struct gp_findings *f, const struct gp_rows *rows,
                            const struct gp_sequence *q, const struct gp_rule *rule,
                            const struct gp_lines *lines)
{
    const struct gp_in_sequence *first = &q->list[0];
    struct gp_advice a = {.row = first->row, .sequence = q, .rule = rule, .group_count = 1};
    struct gp_row one = gp_rows_of_group(rows, first->row, first->group);
    struct gp_subject s = subject_of(f, rows, &one, lines, (double)NAN);
    s.sequence = q;
    if (!gain_of(rule, &s, &a.gain) || a.gain < GP_ADVISED_GAIN)
        return true;
    a.rank = a.grid_gain = a.gain;
    a.kernel_gain = first->row->seconds > 0 ? fmin(1, first->saved / first->row->seconds) : 0;
    a.groups = malloc(sizeof(*a.groups));
    if (!a.groups)
        return false;
    a.groups[0] = first->group;
    return add_advice(&f->advice, a, &s);
}

static bool advise_sequences(struct gp_findings *f, const struct gp_rows *rows,
                             const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                             void *user)
{
    bool answer = true;
    for (size_t i = 0; i < f->sequences.count; i++) {
        const struct gp_sequence *q = &f->sequences.list[i];
        for (size_t r = 0; r < f->rules->count && answer; r++)
            if (f->rules->rules[r]->of_sequence)
                answer = advise_sequence(f, rows, q, f->rules->rules[r],
                                         lines ? lines(user, q->list[0].row) : NULL);
    }
    return answer;
}

/* Advice that follows from a measurement first, then by gain. */
static int compare(const void *x, const void *y)
{
    const struct gp_advice *a = x, *b = y;
    if (a->rule->guess != b->rule->guess)
        return a->rule->guess ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? 1 : -1;
    if (a->rule->line != b->rule->line)
        return a->rule->line < b->rule->line ? -1 : 1;
    return strcmp(a->rule->name, b->rule->name);
}

/* Grids that were left out have the bound of the grid nearest to them. */
static void guess_bounds(const struct gp_rows *rows, const struct gp_row *row,
                         struct gp_bound *bounds)
{
    const struct gp_group *const *groups = rows->groups + row->first_group;
    for (size_t g = 0; g < row->grids; g++)
        if (bounds[g].kind == GP_BOUND_UNKNOWN)
            bounds[g] = bounds[gp_left_out_stands_for(groups, row->grids, g)];
}

static bool find_bounds(struct gp_findings *f, const struct gp_rows *rows)
{
    size_t groups = gp_summary_group_count(rows->summary);
    const size_t all = gp_rows_all(rows);
    f->bounds = calloc(all + 1, sizeof(*f->bounds));
    f->group_bounds = calloc(groups + 1, sizeof(*f->group_bounds));
    if (!f->bounds || !f->group_bounds)
        return false;
    for (size_t i = 0; i < all; i++) {
        const struct gp_row *row = &rows->rows[i];
        for (size_t g = 0; g < row->grids; g++) {
            struct gp_row one = gp_rows_of_group(rows, row, g);
            gp_bound_find(&f->group_bounds[row->first_group + g], f->rules, rows, &one);
        }
        guess_bounds(rows, row, f->group_bounds + row->first_group);
        gp_bound_of_row(&f->bounds[i], f->rules, rows, row, f->group_bounds);
    }
    return true;
}

/* The time of all kernels, if each tuning ran in its fastest configuration. */
static double whole_seconds(const struct gp_findings *f, const struct gp_rows *rows)
{
    double seconds = rows->seconds;
    for (size_t i = 0; i < f->tunings.count; i++) {
        const struct gp_tuning *s = &f->tunings.list[i];
        seconds += (double)s->launches * s->tried[0].seconds - s->seconds;
    }
    return seconds;
}

bool gp_findings_make(struct gp_findings *f, const struct gp_rules *rules,
                      const struct gp_rows *rows,
                      const struct gp_lines *(*lines)(void *user, const struct gp_row *row),
                      void *user)
{
    *f = (struct gp_findings){.rules = rules};
    if (!find_bounds(f, rows) || !gp_tunings_find(&f->tunings, rows) ||
        !gp_sequences_find(&f->sequences, rules, rows, f->group_bounds, lines, user))
        return false;
    bool answer = true;
    f->seconds = whole_seconds(f, rows);
    for (size_t i = 0; i < rows->count && rows->timed && answer; i++) {
        struct asking a = {.findings = f, .rows = rows, .row = &rows->rows[i]};
        answer = advise_row(&a, lines, user);
    }
    answer = answer && advise_program(f, rows);
    answer = answer && (!rows->timed || advise_sequences(f, rows, lines, user));
    if (f->advice.count > 0)
        qsort(f->advice.list, f->advice.count, sizeof(*f->advice.list), compare);
    return answer;
}

bool gp_findings_assume_fastest(const struct gp_findings *f, const struct gp_rows *rows)
{
    return f->seconds < CLEARLY_SHORTER * rows->seconds;
}

void gp_findings_free(struct gp_findings *f)
{
    for (size_t i = 0; i < f->advice.count; i++)
        free_advice(&f->advice.list[i]);
    free(f->advice.list);
    free(f->bounds);
    free(f->group_bounds);
    gp_tunings_free(&f->tunings);
    gp_sequences_free(&f->sequences);
    *f = (struct gp_findings){0};
}

void gp_advice_grids(const struct gp_rows *rows, const struct gp_advice *a, struct gp_text *out)
{
    char grid[48];
    if (!a->row || a->row->grids == 1)
        return;
    gp_extent(rows->groups[a->row->first_group + a->groups[0]]->launch.grid, grid, sizeof(grid));
    gp_text_addf(out, "grid %s", grid);
    if (a->group_count == a->row->grids)
        gp_text_addf(out, " (as the other %zu)", a->group_count - 1);
    else if (a->group_count > 1)
        gp_text_addf(out, " (as %zu of the other %zu)", a->group_count - 1, a->row->grids - 1);
    gp_text_add(out, ": ");
}

const char *gp_gain_of(const struct gp_advice *a)
{
    return a->rule->of_run ? "the run" : "the GPU time";
}

/* A tenth of a percent is a large part of the time that large gains leave. */
void gp_gain_format(double gain, bool up_to, char out[GP_GAIN_SIZE])
{
    int digits = gain < 0.0995 || (gain > 0.9 && gain < 0.9995) ? 1 : 0;
    double steps = digits ? 1000 : 100, count = gain * steps;
    count = up_to ? ceil(count - 1e-6) : round(count);
    digits = count < steps ? digits : 0;
    snprintf(out, GP_GAIN_SIZE, "%s %.*f %%", up_to ? "up to" : "about", digits,
             100 * count / steps);
}
