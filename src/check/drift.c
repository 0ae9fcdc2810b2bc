#include "check/drift.h"

#include "check/kinds.h"
#include "check/quantity.h"
#include "check/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MORE_THAN_LET_PASS 1.5

/* Rates follow from durations, and counts are the same or a change. */
static bool is_judged(const struct gp_nature *n)
{
    return n->kind == GP_KIND_HARDWARE || (n->kind == GP_KIND_TIME && strcmp(n->unit, "s") == 0);
}

static void say_drift(const struct gp_subject *s, const struct gp_metric *metric,
                      const struct gp_series *series, double drift, bool worse, const char *file,
                      struct gp_verdict *verdict)
{
    char configuration[256], from[64], to[64], message[512];
    gp_subject_configuration(s, configuration, sizeof(configuration));
    gp_quantity_format(series->medians[0], metric->unit, from, sizeof(from));
    gp_quantity_format(series->medians[series->runs - 1], metric->unit, to, sizeof(to));
    snprintf(message, sizeof(message),
             "%s drifts: %s at first, %s at last, %+.2g %% over %zu runs by its slope (Theil-Sen; "
             "Mann-Kendall test, two-sided, significance 0.01)",
             metric->name, from, to, 100 * drift, series->runs);
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

static void judge_series(const struct gp_side *side, const struct gp_subject *s, size_t number,
                         const struct gp_metrics *m, const struct gp_tolerances *rules,
                         const char *file, struct gp_verdict *verdict)
{
    const struct gp_series *series = &s->series[number];
    const struct gp_metric *metric = gp_metrics_find(m, side->metrics[number]);
    struct gp_tolerance rule = gp_tolerance_of(rules, s->name, side->metrics[number]);
    double median, slope;
    int trend;
    if (!metric || series->runs < 5 || rule.kind == GP_TOLERANCE_IGNORE)
        return;
    struct gp_nature n = gp_nature_of(metric, &side->origin.device);
    if (!is_judged(&n))
        return;
    if (!gp_series_median(series, &median) ||
        !gp_trend_find(series->medians, series->runs, &slope, &trend)) {
        verdict->failed = true;
        return;
    }
    double tolerance = rule.kind == GP_TOLERANCE_RELATIVE ? rule.relative : gp_usual_tolerance(&n);
    struct gp_expected expected = gp_expected_of(&n, median, 0, 1, median);
    double drift = slope * (double)(series->runs - 1);
    if (trend == 0 || median == 0 ||
        fabs(drift) <= fmax(MORE_THAN_LET_PASS * tolerance * fabs(median), expected.least))
        return;
    say_drift(s, metric, series, drift / fabs(median),
              n.better != GP_BETTER_NEITHER && (drift > 0) == (n.better == GP_BETTER_LESS), file,
              verdict);
}

void gp_drift_judge(const struct gp_side *side, const struct gp_metrics *m,
                    const struct gp_tolerances *rules, const char *file, struct gp_verdict *verdict)
{
    for (size_t i = 0; i < side->count; i++)
        for (size_t k = 0; k < side->metric_count; k++)
            judge_series(side, &side->subjects[i], k, m, rules, file, verdict);
}
