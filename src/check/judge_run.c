/* A run by itself: launches, sums and violations do not add up over runs. */
#include "base/estimate.h"
#include "check/judge_parts.h"

/* Over all launches, those of shapes beyond the most as of one more shape. */
static double total_of(const struct gp_trial *t, const struct gp_judged_kernel *k)
{
    struct gp_estimate e = {0};
    double sum = t->now.values.sum;
    uint64_t values = t->now.values.count;
    for (const struct gp_judged_shape *shape = k->shapes; shape; shape = shape->hh.next) {
        const struct gp_shape_values *of = &shape->values[t - k->trials];
        gp_estimate_add(&e, of->sum, of->count, shape->launches);
        sum -= of->sum;
        values -= of->count;
    }
    if (k->launches > e.launches)
        gp_estimate_add(&e, sum, values, k->launches - e.launches);
    return gp_estimate_total(&e);
}

/* Launches with a value, and all for which these stand. */
static double times_of(uint64_t launches, uint64_t values)
{
    return launches > values ? (double)launches / (double)values : 1;
}

/* Weighted: a launch that is most of the time may be most of a ratio. As in a report, those with a
 * value stand for the others of their shape. Where no launch has any weight all count alike. */
static double mean_of(const struct gp_trial *t, const struct gp_judged_kernel *k)
{
    const struct gp_trial_of_run *now = &t->now;
    struct gp_shape_values rest = {
        .count = now->values.count, .weighted = now->weighted, .weight = now->weight};
    double weighted = 0, weight = 0;
    uint64_t launches = k->launches;
    for (const struct gp_judged_shape *shape = k->shapes; shape; shape = shape->hh.next) {
        const struct gp_shape_values *of = &shape->values[t - k->trials];
        launches -= launches > shape->launches ? shape->launches : launches;
        if (of->count == 0)
            continue;
        double times = times_of(shape->launches, of->count);
        weighted += times * of->weighted;
        weight += times * of->weight;
        rest.weighted -= of->weighted;
        rest.weight -= of->weight;
        rest.count -= of->count;
    }
    if (rest.count > 0) {
        double times = times_of(launches, rest.count);
        weighted += times * rest.weighted;
        weight += times * rest.weight;
    }
    return weight > 0 ? weighted / weight : now->values.sum / (double)now->values.count;
}

/* The value that a rule is about; of a rule for every launch, the worst one. */
static double value_of(const struct gp_trial *t, const struct gp_judged_kernel *k)
{
    const struct gp_values *v = &t->now.values;
    if (!t->rule->metric)
        return (double)k->launches;
    switch (t->rule->aggregate) {
    case GP_MIN:
        return v->min;
    case GP_MAX:
        return v->max;
    case GP_AVERAGE:
        return mean_of(t, k);
    case GP_QUANTILE:
        return gp_values_quantile(v, t->rule->quantile);
    case GP_SUM:
        return v->sum;
    case GP_TOTAL:
        return total_of(t, k);
    case GP_EVERY:
        break;
    }
    return t->now.worst;
}

static bool is_for_every_launch(const struct gp_threshold *rule)
{
    return rule->metric && rule->aggregate == GP_EVERY;
}

/* Whether more launches in the same run could not change the answer. */
static bool is_final(const struct gp_threshold *rule, double value, bool holds)
{
    bool grows = !rule->metric || rule->aggregate == GP_SUM || rule->aggregate == GP_TOTAL;
    if (!grows)
        return !holds;
    switch (rule->relation) {
    case GP_AT_LEAST:
    case GP_MORE_THAN:
        return holds;
    case GP_AT_MOST:
    case GP_LESS_THAN:
        return !holds;
    case GP_EQUAL_TO:
        break;
    }
    return !holds && value > rule->bound;
}

/* A violation counts more than a value that holds, however bad. */
static void note_worst(struct gp_trial *t, double value, bool violates, size_t run)
{
    const struct gp_threshold *rule = t->rule;
    bool worse = violates == t->worst_violates
                     ? gp_badness(rule->relation, value, rule->bound) >
                           gp_badness(rule->relation, t->worst, rule->bound)
                     : violates;
    if (t->measured_runs > 0 && !worse)
        return;
    t->worst = value;
    t->worst_launch = t->now.worst_launch;
    t->worst_violates = violates;
    t->worst_run = run;
}

/* Returns the number of violations. */
static uint64_t judge_value(const struct gp_judge *j, struct gp_trial *t,
                            const struct gp_judged_kernel *k)
{
    bool every = is_for_every_launch(t->rule);
    double value = value_of(t, k);
    bool holds =
        every ? t->now.violated == 0 : gp_relation_holds(t->rule->relation, value, t->rule->bound);
    bool final = !j->unfinished || is_final(t->rule, value, holds);
    bool violates = final && !holds;
    t->unproven |= !final;
    note_worst(t, value, violates, j->run_count);
    t->measured_runs++;
    t->violated_runs += violates;
    return !violates ? 0 : every ? t->now.violated : 1;
}

static void show(const struct gp_judge *j, const struct gp_trial *t,
                 const struct gp_judged_kernel *k, bool absent)
{
    const struct gp_values *values = &t->now.values;
    struct gp_summed s = {.kernel = k->names.full,
                          .rule = t->rule,
                          .values = values,
                          .absent = absent,
                          .launches = k->launches};
    if (!t->rule->metric || values->count > 0)
        s.value = value_of(t, k);
    for (const struct gp_judged_shape *shape = k->shapes; shape; shape = shape->hh.next) {
        s.configurations += shape->launches > 0;
        s.composition += gp_configuration_hash(&shape->key.configuration, shape->launches);
    }
    j->seen(j->user, &s);
}

static uint64_t judge_trial(const struct gp_judge *j, struct gp_trial *t,
                            const struct gp_judged_kernel *k)
{
    struct gp_trial_of_run *now = &t->now;
    bool measured = !t->rule->metric || now->values.count > 0;
    /* The counters of the last launches of an unfinished run were not read any more. */
    bool excused = j->unfinished && !t->rule->if_present && (now->absent > 0 || !measured);
    uint64_t absent = excused ? 0 : now->absent;
    t->unproven |= excused;
    t->empty_runs += !measured && !excused;
    if (!measured && !excused && absent == 0)
        absent = 1;
    gp_values_sort(&now->values);
    if (j->seen)
        show(j, t, k, absent > 0);
    uint64_t violations = measured ? judge_value(j, t, k) : 0;
    if (!t->rule->if_present)
        violations += is_for_every_launch(t->rule) ? absent : absent > 0;
    t->launches += now->values.count;
    t->violated += now->violated;
    t->absent += excused ? 0 : now->absent;
    gp_values_free(&now->values);
    *now = (struct gp_trial_of_run){.values.most = GP_JUDGE_MOST_KEPT};
    return violations;
}

void gp_judge_end_run(struct gp_judge *j)
{
    const struct gp_thresholds *t = j->thresholds;
    gp_judge_note_empty_window(j);
    j->unfinished &= !t->takes_unfinished;
    j->unfinished_count += j->unfinished;
    for (struct gp_judged_kernel *k = j->kernels; k; k = k->hh.next) {
        k->unfinished_runs += j->unfinished && k->launches > 0;
        for (size_t i = 0; k->launches > 0 && i < k->trial_count; i++)
            j->violations[k->trials[i].section - t->sections] += judge_trial(j, &k->trials[i], k);
        k->launches = 0;
        gp_judge_free_shapes(j, k);
    }
    for (size_t i = 0; i < t->count; i++) {
        if (j->violations[i] > j->most_violations[i])
            j->most_violations[i] = j->violations[i];
        j->violations[i] = 0;
    }
    j->unfinished = false;
}
