#include "check/compare.h"

#include "check/closeness.h"
#include "check/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char other_gpu[] = "it depends on the GPU, and this is another model";
static const char other_code[] =
    "it depends on the machine code, and this is another compute capability";

/* Why the metric need not be compared; NULL where it has to be. */
static const char *refusal(const struct gp_comparison *c, const struct gp_nature *n)
{
    if (c->other_gpu && !n->instrumented) {
        if (n->kind != GP_KIND_COUNT || !n->any_counter)
            return other_gpu;
        if (c->other_capability)
            return other_code;
    }
    return NULL;
}

static double launches_per_run(const struct gp_series *s)
{
    return s->runs ? (double)s->launches / (double)s->runs : 0;
}

/* Whether a count varies from launch to launch, or from run to run. */
static bool varies(const struct gp_series *s)
{
    return s->min != s->max;
}

static double seconds_of(const struct gp_side *side, const struct gp_side_kernel *s)
{
    double median;
    int duration = gp_side_metric(side, "duration");
    return duration >= 0 && gp_series_median(&s->series[duration], &median) ? median : 0;
}

static enum gp_change_kind direction_of(const struct gp_nature *n, double shift)
{
    if (n->better == GP_BETTER_NEITHER)
        return GP_CHANGE_OTHER;
    return (shift > 0) == (n->better == GP_BETTER_LESS) ? GP_CHANGE_WORSE : GP_CHANGE_BETTER;
}

static double over(double part, double whole)
{
    if (part == 0)
        return 0;
    return whole != 0 ? part / fabs(whole) : part > 0 ? INFINITY : -INFINITY;
}

struct comparing {
    struct gp_comparison *c;
    const struct gp_nature *nature;
    struct gp_tolerance rule;
    double seconds; /* the kernel's duration */
};

static bool compare_series(const struct comparing *k, const struct gp_series *a,
                           const struct gp_series *b, struct gp_change *change)
{
    const struct gp_nature *n = k->nature;
    double launches = fmin(launches_per_run(a), launches_per_run(b));
    double middle;
    if (!gp_series_median(a, &middle))
        return false;
    struct gp_expected expected =
        gp_expected_of(n, middle, fmax(a->spread, b->spread), launches, k->seconds);
    struct gp_shift shift;
    if (!gp_shift_find((struct gp_runs){a->medians, a->runs}, (struct gp_runs){b->medians, b->runs},
                       expected.deviation, &shift))
        return false;
    double tolerance = k->rule.kind == GP_TOLERANCE_RELATIVE ? k->rule.relative
                       : k->rule.kind == GP_TOLERANCE_EXACT  ? 0
                                                             : gp_usual_tolerance(n);
    double least = fmax(tolerance * fabs(shift.from), expected.least);
    change->tested = n->kind != GP_KIND_COUNT || varies(a) || varies(b);
    if (k->rule.kind == GP_TOLERANCE_EXACT) {
        change->tested = false;
        /* A profile has 17 digits, a baseline 9. */
        least = 1e-8 * fabs(shift.from);
    } else if (change->tested) {
        least = fmax(least, shift.detectable);
    }
    change->from = shift.from;
    change->to = shift.to;
    change->relative = over(shift.shift, shift.from);
    change->threshold = over(least, shift.from);
    change->detectable = over(shift.detectable, shift.from);
    change->freedom = shift.freedom;
    change->runs_a = a->runs;
    change->runs_b = b->runs;
    change->kind = fabs(shift.shift) > least ? direction_of(n, shift.shift) : GP_CHANGE_NONE;
    return true;
}

static bool explains(const struct gp_change *duration, const struct gp_change *rate)
{
    double of_rate = 1 / (1 + duration->relative) - 1;
    return duration->kind != GP_CHANGE_NONE && duration->relative > -1 &&
           fabs(rate->relative - of_rate) <= rate->threshold + duration->threshold;
}

/* A rate is a count over the time. Where the time is compared, a rate is no judgement of its own:
 * it fell because the time grew, or because there is less to do. */
static void mark_rates(struct gp_pair *pair, const struct gp_device *device)
{
    const struct gp_change *duration = NULL;
    for (size_t i = 0; i < pair->count; i++)
        if (strcmp(pair->changes[i].metric->name, "duration") == 0)
            duration = &pair->changes[i];
    if (!duration || duration->kind == GP_CHANGE_REFUSED)
        return;
    for (size_t i = 0; i < pair->count; i++) {
        struct gp_change *change = &pair->changes[i];
        struct gp_nature n = gp_nature_of(change->metric, device);
        if (n.kind == GP_KIND_TIME && !change->named && change != duration &&
            change->kind != GP_CHANGE_NONE && change->kind != GP_CHANGE_REFUSED)
            change->kind = explains(duration, change) ? GP_CHANGE_FOLLOWS : GP_CHANGE_OTHER;
    }
}

/* The changes of one matched pair. False when out of memory. */
static bool compare_pair(struct gp_comparison *c, const struct gp_metrics *m,
                         const struct gp_tolerances *rules, struct gp_pair *pair)
{
    const struct gp_side_kernel *a = pair->match.a, *b = pair->match.b;
    const struct gp_device *device = &c->b->origin.device;
    pair->changes = calloc(c->a->metric_count + 1, sizeof(*pair->changes));
    if (!pair->changes)
        return false;
    for (size_t i = 0; i < c->a->metric_count; i++) {
        const struct gp_metric *metric = gp_metrics_find(m, c->a->metrics[i]);
        int index = gp_side_metric(c->b, c->a->metrics[i]);
        struct gp_tolerance rule = gp_tolerance_of(rules, b->name, c->a->metrics[i]);
        if (!metric || a->series[i].runs == 0 || rule.kind == GP_TOLERANCE_IGNORE)
            continue;
        struct gp_nature n = gp_nature_of(metric, device);
        struct gp_change *change = &pair->changes[pair->count++];
        static const struct gp_series nothing;
        const struct gp_series *series = index >= 0 ? &b->series[index] : &nothing;
        change->metric = metric;
        change->named = gp_tolerance_names(&rule);
        change->why = refusal(c, &n);
        if (!change->why && series->runs == 0) {
            change->why = series->absent ? series->absent : "it was not measured";
            change->reason =
                (struct gp_reason){series->absent_cause, change->why + series->absent_named};
            change->missing = !rule.if_present;
        }
        if (change->why) {
            change->kind = GP_CHANGE_REFUSED;
            continue;
        }
        const struct comparing k = {
            .c = c, .nature = &n, .rule = rule, .seconds = seconds_of(c->a, a)};
        if (!compare_series(&k, &a->series[i], series, change))
            return false;
        c->compared += pair->judged;
    }
    mark_rates(pair, device);
    return true;
}

static double seconds_in_a_run(const struct gp_side *side, const struct gp_side_kernel *s)
{
    if (!s)
        return 0;
    return seconds_of(side, s) * (double)s->launches / (double)(s->runs ? s->runs : 1);
}

static int by_change(const void *x, const void *y)
{
    const struct gp_pair *a = x, *b = y;
    double of_a = fabs(a->seconds_b - a->seconds_a), of_b = fabs(b->seconds_b - b->seconds_a);
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    const struct gp_side_kernel *sa = a->match.a ? a->match.a : a->match.b;
    const struct gp_side_kernel *sb = b->match.a ? b->match.a : b->match.b;
    return gp_subject_compare(sa, sb);
}

static bool find_smallest_change(struct gp_comparison *c)
{
    double *found = malloc((c->count + 1) * sizeof(*found));
    size_t count = 0;
    if (!found)
        return false;
    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->pairs[i].count; k++)
            if (c->pairs[i].judged && c->pairs[i].changes[k].tested &&
                strcmp(c->pairs[i].changes[k].metric->name, "duration") == 0)
                found[count++] = c->pairs[i].changes[k].threshold;
    gp_sort_numbers(found, count);
    c->smallest_duration_change = gp_median(found, count);
    free(found);
    return true;
}

static bool is_other_gpu(const struct gp_side *a, const struct gp_side *b)
{
    return !a->origin.device.name[0] || !b->origin.device.name[0] || a->several_models ||
           b->several_models || strcmp(a->origin.device.name, b->origin.device.name) != 0;
}

/* With as many threads a kernel does the same work, as far as can be known; one that is paired by
 * hand does. */
static bool is_same_work(const struct gp_match *match)
{
    if (match->kind == GP_MATCH_SAME)
        return true;
    return match->kind == GP_MATCH_CHANGED && !match->chosen &&
           ((match->by & GP_BY_HAND) || gp_same_threads(match->a, match->b));
}

/* Whether its metrics are worth a reader's time: it is the same kernel, or more than one reason
 * speaks for it. */
static bool is_likely(const struct gp_match *match)
{
    if (!match->a || !match->b || match->chosen)
        return false;
    return match->kind != GP_MATCH_PROPOSED || __builtin_popcount(match->by) > 1;
}

bool gp_compare(const struct gp_side *a, const struct gp_side *b, const struct gp_metrics *m,
                const struct gp_tolerances *rules, struct gp_comparison *c)
{
    *c = (struct gp_comparison){.a = a, .b = b, .other_gpu = is_other_gpu(a, b)};
    c->other_capability = a->origin.device.cc_major != b->origin.device.cc_major ||
                          a->origin.device.cc_minor != b->origin.device.cc_minor;
    size_t count;
    struct gp_match *matches = gp_match_sides(a, b, &count);
    c->pairs = matches ? calloc(count + 1, sizeof(*c->pairs)) : NULL;
    bool compared = c->pairs != NULL;
    for (size_t i = 0; compared && i < count; i++) {
        struct gp_pair *pair = &c->pairs[c->count++];
        const struct gp_match *match = &matches[i];
        pair->match = *match;
        pair->seconds_a = seconds_in_a_run(a, match->a);
        pair->seconds_b = seconds_in_a_run(b, match->b);
        pair->judged = is_same_work(match);
        if (pair->judged || is_likely(match))
            compared = compare_pair(c, m, rules, pair);
    }
    free(matches);
    if (compared && c->count > 1)
        qsort(c->pairs, c->count, sizeof(*c->pairs), by_change);
    return compared && find_smallest_change(c);
}

void gp_comparison_free(struct gp_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->pairs[i].changes);
    free(c->pairs);
    memset(c, 0, sizeof(*c));
}
