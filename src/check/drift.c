#include "check/drift.h"

#include "check/kinds.h"
#include "check/quantity.h"
#include "check/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MORE_THAN_LET_PASS 1.5
#define FEWEST_RUNS 5

/* Rates follow from durations, and counts are the same or a change. */
static bool is_judged(const struct gp_nature *n)
{
    return n->kind == GP_KIND_HARDWARE || (n->kind == GP_KIND_TIME && strcmp(n->unit, "s") == 0);
}

struct drift {
    size_t runs;     /* the last ones */
    double relative; /* over all of them, by the slope */
    double least;    /* relative: less is none */
};

static void say_drift(const struct gp_side_kernel *s, const struct gp_metric *metric,
                      const struct gp_series *series, const struct drift *d, bool worse,
                      const char *file, struct gp_verdict *verdict)
{
    char configuration[256], from[64], to[64], message[512];
    gp_subject_configuration(s, configuration, sizeof(configuration));
    gp_quantity_format(series->medians[series->runs - d->runs], metric->unit, from, sizeof(from));
    gp_quantity_format(series->medians[series->runs - 1], metric->unit, to, sizeof(to));
    snprintf(message, sizeof(message),
             "%s drifts: %s at first, %s at last, %+.2g %% over %zu runs by its slope (Theil-Sen; "
             "Mann-Kendall test, two-sided, significance 0.01; a drift is found from %.2g %% on)",
             metric->name, from, to, 100 * d->relative, d->runs, 100 * d->least);
    const struct gp_outcome o = {
        .status = worse ? GP_VIOLATED : GP_NOTED,
        .rule = "drift",
        .file = file,
        .kernel = s->name,
        .configuration = configuration,
        .value = to,
        .bound = from,
        .launches = series->launches,
        .message = message,
    };
    gp_verdict_add(verdict, &o);
}

static double launches_in_a_run(const struct gp_series *series)
{
    return series->launches > series->runs ? (double)series->launches / (double)series->runs : 1;
}

/* Whether the last `d->runs` drift, and by how much. */
static bool find_drift(const struct gp_series *series, const struct gp_nature *n, double tolerance,
                       struct drift *d, bool *failed)
{
    const double *values = series->medians + (series->runs - d->runs);
    const struct gp_series window = {.medians = (double *)values, .runs = d->runs};
    double median, slope, later_slope;
    int trend, later_trend;
    size_t later = (d->runs + 1) / 2;
    if (!gp_series_median(&window, &median) || !gp_trend_find(values, d->runs, &slope, &trend) ||
        !gp_trend_find(values + (d->runs - later), later, &later_slope, &later_trend)) {
        *failed = true;
        return false;
    }
    if (trend == 0 || median == 0)
        return false;
    struct gp_expected expected = gp_expected_of(n, median, 0, launches_in_a_run(series), median);
    double detectable;
    if (!gp_trend_detectable(values, d->runs, slope, expected.deviation, &detectable)) {
        *failed = true;
        return false;
    }
    double least =
        fmax(detectable, fmax(MORE_THAN_LET_PASS * tolerance * fabs(median), expected.least));
    double drift = slope * (double)(d->runs - 1);
    d->relative = drift / fabs(median);
    d->least = least / fabs(median);
    /* A slope needs at least 4 runs. */
    bool goes_on = later < 4 || later_slope / slope > 1.0 / 3;
    return fabs(drift) > least && goes_on;
}

static void judge_series(const struct gp_side *side, const struct gp_side_kernel *s, size_t number,
                         size_t window, const struct gp_metrics *m,
                         const struct gp_tolerances *rules, const char *file,
                         struct gp_verdict *verdict)
{
    const struct gp_series *series = &s->series[number];
    const struct gp_metric *metric = gp_metrics_find(m, side->metrics[number]);
    struct gp_tolerance rule = gp_tolerance_of(rules, s->name, side->metrics[number]);
    struct drift largest = {0};
    if (!metric || series->runs < FEWEST_RUNS || rule.kind == GP_TOLERANCE_IGNORE)
        return;
    struct gp_nature n = gp_nature_of(metric, &side->origin.device);
    if (!is_judged(&n))
        return;
    double tolerance = rule.kind == GP_TOLERANCE_RELATIVE ? rule.relative : gp_usual_tolerance(&n);
    size_t runs = window < FEWEST_RUNS ? FEWEST_RUNS : window;
    for (bool all = false; !all; runs *= 2) {
        all = runs >= series->runs;
        struct drift d = {.runs = all ? series->runs : runs};
        if (find_drift(series, &n, tolerance, &d, &verdict->failed) &&
            fabs(d.relative) > fabs(largest.relative))
            largest = d;
    }
    if (largest.runs > 0)
        say_drift(s, metric, series, &largest,
                  n.better != GP_BETTER_NEITHER &&
                      (largest.relative > 0) == (n.better == GP_BETTER_LESS),
                  file, verdict);
}

void gp_drift_judge(const struct gp_side *side, size_t window, const struct gp_metrics *m,
                    const struct gp_tolerances *rules, const char *file, struct gp_verdict *verdict)
{
    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < side->metric_count; k++)
            judge_series(side, &side->subjects[i], k, window, m, rules, file, verdict);
    if (side->runs >= FEWEST_RUNS)
        gp_text_addf(&verdict->notes,
                     "slow drifts: slope by Theil and Sen over up to %zu runs, Mann-Kendall test, "
                     "two-sided, significance 0.01; found from 1.5 times the tolerance on, %.2g %% "
                     "of a duration where no rule says otherwise, and beyond the runs' scatter\n",
                     side->runs,
                     100 * MORE_THAN_LET_PASS *
                         gp_usual_tolerance(&(struct gp_nature){.kind = GP_KIND_TIME}));
}
