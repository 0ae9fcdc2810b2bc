#include "check/judge_parts.h"

#include "base/escape.h"
#include "check/weight.h"

#include <stdlib.h>
#include <string.h>

struct gp_judge *gp_judge_new(const struct gp_thresholds *t, const struct gp_metrics *m)
{
    struct gp_judge *j = calloc(1, sizeof(*j));
    if (!j)
        return NULL;
    j->thresholds = t;
    j->metrics = m;
    j->violations = calloc(t->count + 1, sizeof(*j->violations));
    j->most_violations = calloc(t->count + 1, sizeof(*j->most_violations));
    if (j->violations && j->most_violations)
        return j;
    gp_judge_free(j);
    return NULL;
}

void gp_judge_free_shapes(struct gp_judge *j, struct gp_judged_kernel *k)
{
    struct gp_judged_shape *shape, *next;
    HASH_ITER(hh, k->shapes, shape, next)
    {
        HASH_DEL(k->shapes, shape);
        free(shape);
        j->shape_count--;
    }
}

static void free_kernel(struct gp_judge *j, struct gp_judged_kernel *k)
{
    gp_judge_free_shapes(j, k);
    for (size_t i = 0; i < k->trial_count; i++) {
        gp_values_free(&k->trials[i].now.values);
        free(k->trials[i].absent_why);
    }
    free(k->trials);
    gp_kernel_names_free(&k->names);
    free(k->mangled);
    free(k->source);
    free(k);
}

void gp_judge_free(struct gp_judge *j)
{
    if (!j)
        return;
    struct gp_judged_kernel *k, *next;
    HASH_ITER(hh, j->kernels, k, next)
    {
        HASH_DEL(j->kernels, k);
        free_kernel(j, k);
    }
    gp_renaming_free(&j->renaming);
    for (size_t i = 0; i < j->run_count; i++)
        free(j->runs[i]);
    free(j->runs);
    gp_text_free(&j->unfinished_runs);
    gp_text_free(&j->given_up);
    free(j->violations);
    free(j->most_violations);
    free(j);
}

/* ---- kernels and their trials ---- */

static size_t first_of_metric(const struct gp_judged_kernel *k, const struct gp_metric *metric)
{
    size_t i = 0;
    while (i < k->trial_count && k->trials[i].rule->metric != metric)
        i++;
    return i;
}

static bool add_trials(struct gp_judged_kernel *k, struct gp_section *section)
{
    if (section->count == 0)
        return true;
    struct gp_trial *trials =
        realloc(k->trials, (k->trial_count + section->count) * sizeof(*trials));
    if (!trials)
        return false;
    k->trials = trials;
    for (size_t i = 0; i < section->count; i++) {
        size_t same = first_of_metric(k, section->rules[i].metric);
        trials[k->trial_count++] = (struct gp_trial){.same = same,
                                                     .section = section,
                                                     .rule = &section->rules[i],
                                                     .now.values.most = GP_JUDGE_MOST_KEPT};
        k->stands_for_others |=
            section->rules[i].aggregate == GP_TOTAL || section->rules[i].aggregate == GP_AVERAGE;
    }
    return true;
}

static struct gp_judged_kernel *new_kernel(struct gp_judge *j, const char *mangled)
{
    struct gp_judged_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return NULL;
    k->mangled = strdup(mangled);
    bool made = k->mangled && gp_kernel_names_find(k->mangled, &k->names);
    for (size_t i = 0; made && i < j->thresholds->count; i++)
        if (gp_selector_matches(&j->thresholds->sections[i].selector, &k->names))
            made = add_trials(k, &j->thresholds->sections[i]);
    if (made) {
        HASH_ADD_KEYPTR(hh, j->kernels, k->mangled, strlen(k->mangled), k);
        if (k->hh.tbl)
            return k;
    }
    free_kernel(j, k);
    return NULL;
}

/* NULL where there are too many, or when out of memory. */
static struct gp_judged_kernel *kernel_of(struct gp_judge *j, const char *mangled)
{
    struct gp_judged_kernel *k = NULL;
    HASH_FIND_STR(j->kernels, mangled, k);
    if (k)
        return k;
    if (HASH_COUNT(j->kernels) >= GP_JUDGE_MOST_KERNELS) {
        j->unjudged++;
        return NULL;
    }
    k = new_kernel(j, mangled);
    j->failed |= !k;
    return k;
}

void gp_judge_source(struct gp_judge *j, const char *kernel, const char *file, int line)
{
    struct gp_judged_kernel *k = NULL;
    HASH_FIND_STR(j->kernels, kernel, k);
    if (!k || k->source)
        return;
    k->source = strdup(file);
    k->source_line = line;
}

/* NULL where no rule of the kernel asks for it, or there are too many. */
static struct gp_judged_shape *shape_of(struct gp_judge *j, struct gp_judged_kernel *k, int device,
                                        const struct gp_configuration *configuration)
{
    if (!k->stands_for_others)
        return NULL;
    const struct gp_shape_key key = {.device = device, .configuration = *configuration};
    struct gp_judged_shape *shape = NULL;
    HASH_FIND(hh, k->shapes, &key, sizeof(key), shape);
    if (shape || j->shape_count >= GP_JUDGE_MOST_SHAPES)
        return shape;
    shape = calloc(1, sizeof(*shape) + k->trial_count * sizeof(shape->values[0]));
    if (shape) {
        shape->key = key;
        HASH_ADD(hh, k->shapes, key, sizeof(key), shape);
        if (shape->hh.tbl) {
            j->shape_count++;
            return shape;
        }
    }
    free(shape);
    j->failed = true;
    return NULL;
}

/* ---- runs and processes ---- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void end_process(struct gp_judge *j)
{
    for (struct gp_judged_kernel *k = j->kernels; k; k = k->hh.next) {
        k->launches += larger(k->counted, k->recorded);
        k->recorded = k->counted = 0;
        for (struct gp_judged_shape *shape = k->shapes; shape; shape = shape->hh.next) {
            shape->launches += larger(shape->counted, shape->recorded);
            shape->recorded = shape->counted = 0;
        }
    }
}

void gp_judge_process(struct gp_judge *j)
{
    end_process(j);
    gp_devices_forget(&j->devices);
}

void gp_judge_run(struct gp_judge *j, const char *name)
{
    if (j->run_count > 0) {
        end_process(j);
        gp_judge_end_run(j);
    }
    char **runs = realloc(j->runs, (j->run_count + 1) * sizeof(*runs));
    if (runs)
        j->runs = runs;
    char *copy = runs ? strdup(name) : NULL;
    if (copy)
        j->runs[j->run_count++] = copy;
    else
        j->failed = true;
}

static const char *run_at_hand(const struct gp_judge *j)
{
    return j->run_count ? j->runs[j->run_count - 1] : "this run";
}

void gp_judge_unfinished(struct gp_judge *j, const char *why)
{
    if (!j->unfinished)
        gp_text_add_linef(&j->unfinished_runs, "%s: %s", run_at_hand(j), why);
    j->unfinished = true;
}

void gp_judge_gave_up(struct gp_judge *j, const char *why)
{
    gp_text_add_linef(&j->given_up, "%s: gpuprof stopped measuring: %s", run_at_hand(j), why);
    j->unfinished = true;
}

void gp_judge_windowed(struct gp_judge *j)
{
    j->windowed = true;
}

void gp_judge_note_empty_window(struct gp_judge *j)
{
    const struct gp_judged_kernel *k = j->kernels;
    while (k && k->launches == 0)
        k = k->hh.next;
    if (j->windowed && !k)
        gp_text_add_linef(&j->given_up, "%s: no launch lay in the window that was to be measured",
                          run_at_hand(j));
    j->windowed = false;
}

void gp_judge_device(struct gp_judge *j, const struct gp_device *device)
{
    gp_devices_add(&j->devices, device);
}

/* ---- launches ---- */

double gp_badness(enum gp_relation relation, double value, double bound)
{
    switch (relation) {
    case GP_AT_LEAST:
    case GP_MORE_THAN:
        return bound - value;
    case GP_AT_MOST:
    case GP_LESS_THAN:
        return value - bound;
    case GP_EQUAL_TO:
        return value > bound ? value - bound : bound - value;
    }
    return 0;
}

static void note_absence(struct gp_trial *t, const struct gp_record *launch, size_t run,
                         const struct gp_absence *absence)
{
    if (gp_cause_is_elsewhere(absence->cause)) {
        t->elsewhere++;
        return;
    }
    t->now.absent++;
    if (t->absent_why)
        return;
    t->absent_launch = launch->index;
    t->absent_run = run;
    t->absent_why = strdup(absence->text);
}

static void note_value(struct gp_trial *t, const struct gp_record *launch, double value)
{
    const struct gp_threshold *rule = t->rule;
    struct gp_trial_of_run *now = &t->now;
    if (rule->aggregate == GP_EVERY && !gp_relation_holds(rule->relation, value, rule->bound))
        now->violated++;
    if (now->values.count == 0 || gp_badness(rule->relation, value, rule->bound) >
                                      gp_badness(rule->relation, now->worst, rule->bound)) {
        now->worst = value;
        now->worst_launch = launch->index;
    }
    if (rule->aggregate != GP_QUANTILE)
        now->values.most = 0; /* their number, sum and extremes are all that is asked for */
    gp_values_add(&now->values, value);
}

static double note_weight(const struct gp_judge *j, struct gp_trial *t,
                          const struct gp_device *device, const struct gp_record *launch)
{
    double weight = gp_weight_of(j->metrics, t->rule->metric, device, launch);
    t->now.weighted += weight * t->value;
    t->now.weight += weight;
    return weight;
}

static void note_shape(struct gp_shape_values *of, double value, double weight)
{
    of->sum += value;
    of->count++;
    of->weighted += weight * value;
    of->weight += weight;
}

/* Many rules may be about one metric: it is computed once, unless it is absent. `shape`: NULL where
 * no rule asks for it. */
static void try_launch(struct gp_judge *j, struct gp_judged_kernel *k, size_t i,
                       const struct gp_record *launch, struct gp_judged_shape *shape)
{
    double weight = 0;
    struct gp_trial *t = &k->trials[i];
    const struct gp_trial *first = &k->trials[t->same];
    const struct gp_device *device = gp_devices_get(&j->devices, launch->device);
    struct gp_absence absence = gp_no_device_facts;
    if (t != first && first->has_value) {
        t->value = first->value;
        t->has_value = true;
    } else {
        t->has_value =
            device && gp_metric_evaluate(t->rule->metric, device, launch, &t->value, &absence);
    }
    if (!t->has_value) {
        note_absence(t, launch, j->run_count, &absence);
        return;
    }
    note_value(t, launch, t->value);
    if (t->rule->aggregate == GP_AVERAGE)
        weight = note_weight(j, t, device, launch);
    if (shape)
        note_shape(&shape->values[i], t->value, weight);
}

void gp_judge_launch(struct gp_judge *j, const struct gp_record *launch)
{
    struct gp_judged_kernel *k = kernel_of(j, launch->kernel);
    if (!k)
        return;
    k->recorded++;
    if (k->trial_count == 0)
        return;
    struct gp_judged_shape *shape = shape_of(j, k, launch->device, &launch->configuration);
    if (shape)
        shape->recorded++;
    struct gp_record renamed;
    if (!gp_rename_counters(&j->renaming, j->metrics, launch, &renamed)) {
        j->failed = true;
        return;
    }
    for (size_t i = 0; i < k->trial_count; i++)
        if (k->trials[i].rule->metric)
            try_launch(j, k, i, &renamed, shape);
}

void gp_judge_count(struct gp_judge *j, const struct gp_count *count)
{
    struct gp_judged_kernel *k = count->reason.cause ? NULL : kernel_of(j, count->kernel);
    if (!k)
        return;
    k->counted += count->launches;
    struct gp_judged_shape *shape = shape_of(j, k, count->device, &count->configuration);
    if (shape)
        shape->counted += count->launches;
}

void gp_judge_observe(struct gp_judge *j, void (*seen)(void *user, const struct gp_summed *s),
                      void *user)
{
    j->seen = seen;
    j->user = user;
}

bool gp_judge_end(struct gp_judge *j)
{
    end_process(j);
    gp_judge_end_run(j);
    return !j->failed;
}

void gp_judge_finish(struct gp_judge *j, struct gp_verdict *verdict)
{
    gp_judge_end(j);
    gp_judge_add_outcomes(j, verdict);
}
