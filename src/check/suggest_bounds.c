#include "check/suggest_parts.h"

#include "check/kinds.h"
#include "check/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A count that varies, or of which one run is known, has this margin at least. */
#define MARGIN_OF_COUNT 0.01

bool gp_suggest_repeats(const struct gp_suggest_kernel *k)
{
    for (size_t i = 1; i < k->run_count; i++)
        if (k->runs[i].composition != k->runs[0].composition ||
            k->runs[i].configurations != k->runs[0].configurations)
            return false;
    return k->run_count > 1;
}

bool gp_suggest_several(const struct gp_suggest_kernel *k)
{
    for (size_t i = 0; i < k->run_count; i++)
        if (k->runs[i].configurations > 1)
            return true;
    return false;
}

bool gp_suggest_absent(const struct gp_suggest_kernel *k, size_t rule)
{
    for (size_t i = 0; i < k->run_count; i++)
        if (k->runs[i].of[rule].absent)
            return true;
    return false;
}

double gp_suggest_seconds(const struct gp_suggest_kernel *k)
{
    double sum = 0;
    for (size_t i = 0; i < k->run_count; i++)
        sum += k->runs[i].of[GP_SUGGEST_TOTAL_TIME].value;
    return k->run_count ? sum / (double)k->run_count : 0;
}

/* ---- one number a run ---- */

bool gp_suggest_begin(struct gp_run_numbers *n, const struct gp_suggest_kernel *k)
{
    *n = (struct gp_run_numbers){.of_runs = calloc(k->run_count + 1, sizeof(*n->of_runs))};
    return n->of_runs != NULL;
}

/* Student's t that is exceeded, upwards, in 50 of 1000 cases: off by less than 2 %, on the safe
 * side, from 4 degrees of freedom on. */
static double usual_student(unsigned freedom)
{
    return 1.645 + 1.95 / freedom;
}

/* Sets the bound from the numbers, and frees them. The direction is set already. */
void gp_suggest_settle(struct gp_run_numbers *n, struct gp_suggested_bound *b)
{
    struct gp_next next;
    gp_next_find((struct gp_runs){n->of_runs, n->count}, n->expected, &next);
    b->runs = n->count;
    b->middle = b->exact ? n->of_runs[0] : next.middle; /* a mean may be rounded */
    b->least = b->most = n->of_runs[0];
    for (size_t i = 1; i < n->count; i++) {
        b->least = fmin(b->least, n->of_runs[i]);
        b->most = fmax(b->most, n->of_runs[i]);
    }
    double margin = b->exact ? 0 : fmax(next.margin, n->least_margin);
    b->bound = b->at_most ? b->middle + margin : b->middle - margin;
    b->margin = margin > 0 ? margin / fabs(b->middle) : 0;
    /* The runs' mean may be off as well, and a slower kernel varies by more. */
    double off = usual_student(next.freedom) * next.deviation * sqrt(1 + 1 / (double)n->count);
    b->finds = b->exact ? 0 : b->margin + off * (1 + b->margin) / fabs(b->middle);
    /* Numbers near the end of the type have no mean, or no deviation. */
    bool finite = isfinite(b->bound) && isfinite(next.margin);
    b->kind = finite && b->margin < 1 ? GP_SUGGESTED_FOUND : GP_SUGGESTED_LEFT_OUT;
    free(n->of_runs);
}

/* True where there are several runs, and all have the same number. */
static bool agrees(const struct gp_run_numbers *n)
{
    for (size_t i = 1; i < n->count; i++)
        if (n->of_runs[i] != n->of_runs[0])
            return false;
    return n->count > 1;
}

static double seconds_of_launch(const struct gp_suggest_kernel *k)
{
    double launches = 0;
    for (size_t i = 0; i < k->run_count; i++)
        launches += (double)k->runs[i].launches;
    return launches > 0 ? gp_suggest_seconds(k) * (double)k->run_count / launches : 0;
}

void gp_suggest_bound(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                      size_t rule, struct gp_suggested_bound *b)
{
    const struct gp_suggested_rule *suggested = &gp_suggested_rules[rule];
    const struct gp_metric *metric = gp_metrics_find(asked->metrics, suggested->metric);
    struct gp_run_numbers n;
    double spread = 0, sum = 0, measured = 0;
    *b = (struct gp_suggested_bound){.if_present = gp_suggest_absent(k, rule)};
    if (!metric || !gp_suggest_begin(&n, k))
        return;
    struct gp_nature nature = gp_nature_of(metric, asked->device);
    b->at_most = nature.better == GP_BETTER_LESS;
    for (size_t i = 0; i < k->run_count; i++) {
        const struct gp_rule_values *of = &k->runs[i].of[rule];
        if (of->count == 0)
            continue;
        double launches = (double)of->count;
        measured = n.count ? fmin(measured, launches) : launches;
        spread = fmax(spread, of->spread);
        sum += n.of_runs[n.count++] = suggested->aggregate[0] ? of->value
                                      : b->at_most            ? of->most
                                                              : of->least;
    }
    double middle = n.count ? sum / (double)n.count : 0;
    bool is_count = nature.kind == GP_KIND_COUNT;
    /* A bound of 0 from below says nothing, and 0 of a counter that varies no scatter. */
    if (n.count == 0 || (middle == 0 && !(b->at_most && is_count))) {
        free(n.of_runs);
        return;
    }
    if (is_count) {
        bool is_ratio = strcmp(nature.unit, "%") == 0 || strcmp(nature.unit, "ratio") == 0;
        bool repeats = agrees(&n);
        n.expected = repeats ? 0 : GP_VARYING_COUNT * fabs(middle);
        n.least_margin = (is_ratio ? asked->margin : MARGIN_OF_COUNT) * fabs(middle);
        b->exact = !is_ratio && (middle == 0 || repeats);
    } else {
        /* Launches of other configurations differ, and yet the same in each run. */
        bool mixed = gp_suggest_repeats(k) && gp_suggest_several(k);
        struct gp_expected expected =
            gp_expected_of(&nature, middle, mixed ? 0 : spread, measured, seconds_of_launch(k));
        n.expected = expected.deviation;
        n.least_margin = fmax(asked->margin * fabs(middle), expected.least);
    }
    snprintf(b->aggregate, sizeof(b->aggregate), "%s", suggested->aggregate);
    gp_suggest_settle(&n, b);
}
