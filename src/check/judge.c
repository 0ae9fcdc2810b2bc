#include "check/judge.h"

#include "base/hash.h"
#include "check/counters.h"
#include "check/quantity.h"
#include "check/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_KEPT 16384 /* values of one rule and kernel, for quantiles */

/* One rule held to one kernel. */
struct trial {
    const struct gp_section *section;
    const struct gp_threshold *rule;
    struct gp_values values; /* of the launches that have one */
    uint64_t violated;
    double worst; /* of those that violate, or of all for an extreme */
    uint64_t worst_launch;
    uint64_t absent, elsewhere;
    uint64_t absent_launch;
    char *absent_why;
};

struct kernel {
    UT_hash_handle hh;
    char *mangled;
    struct gp_kernel_names names;
    uint64_t launches;          /* of processes that are over */
    uint64_t recorded, counted; /* of the process at hand */

    char *source;
    int source_line;
    struct trial *trials;
    size_t trial_count;
};

struct gp_judge {
    const struct gp_thresholds *thresholds;
    const struct gp_metrics *metrics;
    struct gp_device *devices[GP_MAX_DEVICES];
    struct gp_renaming renaming;
    struct kernel *kernels; /* in order of their first launches */
    uint64_t unjudged;      /* launches of kernels beyond the most */
    bool failed;            /* out of memory */
};

struct gp_judge *gp_judge_new(const struct gp_thresholds *t, const struct gp_metrics *m)
{
    struct gp_judge *j = calloc(1, sizeof(*j));
    if (j) {
        j->thresholds = t;
        j->metrics = m;
    }
    return j;
}

static void free_kernel(struct kernel *k)
{
    for (size_t i = 0; i < k->trial_count; i++) {
        gp_values_free(&k->trials[i].values);
        free(k->trials[i].absent_why);
    }
    free(k->trials);
    gp_kernel_names_free(&k->names);
    free(k->mangled);
    free(k->source);
    free(k);
}

static void forget_devices(struct gp_judge *j)
{
    for (size_t i = 0; i < GP_MAX_DEVICES; i++) {
        free(j->devices[i]);
        j->devices[i] = NULL;
    }
}

void gp_judge_free(struct gp_judge *j)
{
    if (!j)
        return;
    struct kernel *k, *next;
    HASH_ITER(hh, j->kernels, k, next)
    {
        HASH_DEL(j->kernels, k);
        free_kernel(k);
    }
    forget_devices(j);
    gp_renaming_free(&j->renaming);
    free(j);
}

/* ---- kernels and their trials ---- */

static bool add_trials(struct kernel *k, struct gp_section *section)
{
    if (section->count == 0)
        return true;
    struct trial *trials = realloc(k->trials, (k->trial_count + section->count) * sizeof(*trials));
    if (!trials)
        return false;
    k->trials = trials;
    for (size_t i = 0; i < section->count; i++)
        trials[k->trial_count++] = (struct trial){
            .section = section, .rule = &section->rules[i], .values.most = MOST_KEPT};
    return true;
}

static struct kernel *new_kernel(struct gp_judge *j, const char *mangled)
{
    struct kernel *k = calloc(1, sizeof(*k));
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
    free_kernel(k);
    return NULL;
}

/* NULL where there are too many, or memory runs out. */
static struct kernel *kernel_of(struct gp_judge *j, const char *mangled)
{
    struct kernel *k = NULL;
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
    struct kernel *k = NULL;
    HASH_FIND_STR(j->kernels, kernel, k);
    if (!k || k->source)
        return;
    k->source = strdup(file);
    k->source_line = line;
}

/* ---- launches ---- */

static void finish_process(struct gp_judge *j)
{
    for (struct kernel *k = j->kernels; k; k = k->hh.next) {
        k->launches += k->counted > k->recorded ? k->counted : k->recorded;
        k->recorded = k->counted = 0;
    }
}

void gp_judge_process(struct gp_judge *j)
{
    finish_process(j);
    forget_devices(j);
}

void gp_judge_device(struct gp_judge *j, const struct gp_device *device)
{
    int i = device->ordinal;
    if (i < 0 || i >= GP_MAX_DEVICES || j->devices[i])
        return;
    j->devices[i] = malloc(sizeof(*device));
    if (j->devices[i])
        *j->devices[i] = *device;
    else
        j->failed = true;
}

/* How far a value is on the wrong side; more is worse. */
static double badness(enum gp_relation relation, double value, double bound)
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

static void note_absence(struct trial *t, const struct gp_record *launch, const char *why)
{
    if (strstr(why, GP_COUNTED_ELSEWHERE)) {
        t->elsewhere++;
        return;
    }
    if (t->absent++ > 0)
        return;
    t->absent_launch = launch->index;
    t->absent_why = strdup(why);
}

static void note_value(struct trial *t, const struct gp_record *launch, double value)
{
    const struct gp_threshold *rule = t->rule;
    if (rule->aggregate == GP_EVERY && !gp_relation_holds(rule->relation, value, rule->bound))
        t->violated++;
    if (t->values.count == 0 || badness(rule->relation, value, rule->bound) >
                                    badness(rule->relation, t->worst, rule->bound)) {
        t->worst = value;
        t->worst_launch = launch->index;
    }
    if (rule->aggregate != GP_QUANTILE)
        t->values.most = 0; /* their number, sum and extremes are all that is asked for */
    gp_values_add(&t->values, value);
}

static void try_launch(struct gp_judge *j, struct trial *t, const struct gp_record *launch)
{
    const struct gp_device *device =
        launch->device >= 0 && launch->device < GP_MAX_DEVICES ? j->devices[launch->device] : NULL;
    char why[GP_WHY_SIZE] = "the facts of the device are not known";
    double value;
    if (device && gp_metric_evaluate(t->rule->metric, device, launch, &value, why, sizeof(why)))
        note_value(t, launch, value);
    else
        note_absence(t, launch, why);
}

void gp_judge_launch(struct gp_judge *j, const struct gp_record *launch)
{
    struct kernel *k = kernel_of(j, launch->kernel);
    if (!k)
        return;
    k->recorded++;
    if (k->trial_count == 0)
        return;
    struct gp_record renamed;
    if (!gp_rename_counters(&j->renaming, j->metrics, launch, &renamed)) {
        j->failed = true;
        return;
    }
    for (size_t i = 0; i < k->trial_count; i++)
        if (k->trials[i].rule->metric)
            try_launch(j, &k->trials[i], &renamed);
}

void gp_judge_count(struct gp_judge *j, const struct gp_count *count)
{
    struct kernel *k = kernel_of(j, count->kernel);
    if (k)
        k->counted += count->launches;
}

/* ---- the verdict ---- */

/* The value of an aggregate. */
static double aggregate_of(const struct trial *t, const struct kernel *k)
{
    const struct gp_values *v = &t->values;
    switch (t->rule->aggregate) {
    case GP_MIN:
        return v->min;
    case GP_MAX:
        return v->max;
    case GP_AVERAGE:
        return v->sum / (double)v->count;
    case GP_QUANTILE:
        return gp_values_quantile(v, t->rule->quantile);
    case GP_SUM:
        return v->sum;
    case GP_TOTAL:
        return v->sum / (double)v->count * (double)k->launches;
    case GP_EVERY:
        break;
    }
    return t->worst;
}

static void describe_value(const struct gp_threshold *rule, double value, char *out, size_t size)
{
    const char *unit = rule->metric ? rule->metric->unit : "";
    gp_quantity_format(value, unit, out, size);
    /* Where the digits do not show on which side it lies, all of them do. */
    char bound[64];
    gp_quantity_format(rule->bound, unit, bound, sizeof(bound));
    if (strcmp(out, bound) == 0 && value != rule->bound)
        snprintf(out, size, "%.17g%s%s", value, unit[0] ? " " : "", unit);
}

/* The part of a rule behind the metric: ">= 90 %". */
static void bound_of(const struct gp_threshold *rule, char *out, size_t size)
{
    const char *at = strpbrk(rule->text, "<>=");
    snprintf(out, size, "%s", at ? at : rule->text);
    char *condition = rule->if_present ? strstr(out, " if ") : NULL;
    if (condition)
        *condition = '\0';
}

static const char *subject_of(const struct gp_threshold *rule, char *out, size_t size)
{
    size_t length = strcspn(rule->text, "<>=");
    while (length > 0 && strchr(" \t", rule->text[length - 1]))
        length--;
    snprintf(out, size, "%.*s", (int)length, rule->text);
    return out;
}

static struct gp_outcome outcome_of(const struct gp_judge *j, const struct kernel *k,
                                    const struct trial *t)
{
    return (struct gp_outcome){
        .rule = t->rule->text,
        .file = j->thresholds->file,
        .line = t->rule->line,
        .kernel = k->names.full,
        .source = k->source,
        .source_line = k->source_line,
        .launches = t->values.count + t->absent,
    };
}

static void judge_value(const struct gp_judge *j, const struct kernel *k, const struct trial *t,
                        double value, bool holds, struct gp_verdict *verdict)
{
    struct gp_outcome o = outcome_of(j, k, t);
    bool single = t->rule->metric && t->rule->aggregate == GP_EVERY;
    char shown[64], bound[128], subject[256], message[1024];
    describe_value(t->rule, value, shown, sizeof(shown));
    subject_of(t->rule, subject, sizeof(subject));
    bound_of(t->rule, bound, sizeof(bound));
    o.status = holds ? GP_HELD : GP_VIOLATED;
    o.value = shown;
    o.bound = bound;
    if (single) {
        o.has_launch = true;
        o.launch = t->worst_launch;
        o.violated = t->violated;
    }
    int n = snprintf(message, sizeof(message), "%s is %s, bound: %s", subject, shown, bound);
    if (single && !holds && n > 0 && (size_t)n < sizeof(message))
        snprintf(message + n, sizeof(message) - (size_t)n,
                 " (launch %llu; %llu of %llu launches violate it)", (unsigned long long)o.launch,
                 (unsigned long long)t->violated, (unsigned long long)o.launches);
    o.message = message;
    gp_verdict_add(verdict, &o);
}

static void judge_absence(const struct gp_judge *j, const struct kernel *k, const struct trial *t,
                          struct gp_verdict *verdict)
{
    struct gp_outcome o = outcome_of(j, k, t);
    char message[1024], bound[128];
    const char *why = t->absent_why  ? t->absent_why
                      : t->elsewhere ? "no launch has all its counters, they were counted in turns"
                                     : "no launch of this kernel was measured";
    o.status = t->rule->if_present ? GP_SKIPPED : GP_VIOLATED;
    bound_of(t->rule, bound, sizeof(bound));
    o.value = "absent";
    o.bound = bound;
    o.has_launch = t->absent > 0;
    o.launch = t->absent_launch;
    o.violated = t->absent;
    snprintf(message, sizeof(message), "%s is absent: %s%s", t->rule->metric->name, why,
             t->rule->if_present ? "" : "; 'if present' behind the rule lets it pass");
    o.message = message;
    gp_verdict_add(verdict, &o);
}

static bool value_holds(const struct trial *t, double value)
{
    if (t->rule->metric && t->rule->aggregate == GP_EVERY)
        return t->violated == 0;
    return gp_relation_holds(t->rule->relation, value, t->rule->bound);
}

/* Of one rule and kernel: how many violations there are, absent values among them. */
static uint64_t violations_of(const struct trial *t, const struct kernel *k)
{
    if (!t->rule->metric)
        return !value_holds(t, (double)k->launches);
    uint64_t absent = t->rule->if_present ? 0 : t->absent;
    if (t->values.count == 0)
        return t->rule->if_present ? 0 : absent ? absent : 1;
    if (t->rule->aggregate == GP_EVERY)
        return t->violated + absent;
    return !value_holds(t, aggregate_of(t, k)) + (absent > 0);
}

static void judge_trial(const struct gp_judge *j, const struct kernel *k, const struct trial *t,
                        bool allowed, struct gp_verdict *verdict)
{
    if (!t->rule->metric) {
        double launches = (double)k->launches;
        judge_value(j, k, t, launches, allowed || value_holds(t, launches), verdict);
        return;
    }
    if (t->values.count > 0) {
        double value = aggregate_of(t, k);
        judge_value(j, k, t, value, allowed || value_holds(t, value), verdict);
    }
    if (t->values.count == 0 || (t->absent > 0 && !t->rule->if_present && !allowed))
        judge_absence(j, k, t, verdict);
}

static void say_required(const struct gp_judge *j, const struct gp_section *section, bool met,
                         struct gp_verdict *verdict)
{
    char message[1024];
    snprintf(message, sizeof(message),
             met ? "a kernel matches [%s]" : "no kernel matches [%s], and one is required",
             section->selector.text);
    const struct gp_outcome o = {
        .status = met ? GP_HELD : GP_VIOLATED,
        .rule = "required",
        .file = j->thresholds->file,
        .line = section->required_line,
        .kernel = section->selector.text,
        .value = met ? "present" : "absent",
        .bound = "required",
        .message = message,
    };
    gp_verdict_add(verdict, &o);
}

static void judge_section(struct gp_judge *j, struct gp_section *section,
                          struct gp_verdict *verdict)
{
    uint64_t violations = 0;
    bool matched = false;
    for (struct kernel *k = j->kernels; k; k = k->hh.next) {
        matched |= gp_selector_matches(&section->selector, &k->names);
        for (size_t i = 0; i < k->trial_count; i++)
            if (k->trials[i].section == section)
                violations += violations_of(&k->trials[i], k);
    }
    bool allowed = violations > 0 && violations <= section->allowed;
    for (struct kernel *k = j->kernels; k; k = k->hh.next)
        for (size_t i = 0; i < k->trial_count; i++)
            if (k->trials[i].section == section)
                judge_trial(j, k, &k->trials[i], allowed, verdict);
    if (section->required)
        say_required(j, section, matched, verdict);
    else if (!matched)
        gp_text_addf(&verdict->notes, "%s:%d: no kernel matches [%s]\n", j->thresholds->file,
                     section->line, section->selector.text);
    if (section->selector.too_hard)
        gp_text_addf(&verdict->unjudged,
                     "%s:%d: [%s] takes too many steps to be compared with the name of a kernel\n",
                     j->thresholds->file, section->line, section->selector.text);
    if (allowed)
        gp_text_addf(&verdict->notes, "%s:%d: [%s] has %llu of %llu violations allowed\n",
                     j->thresholds->file, section->line, section->selector.text,
                     (unsigned long long)violations, (unsigned long long)section->allowed);
}

void gp_judge_finish(struct gp_judge *j, struct gp_verdict *verdict)
{
    finish_process(j);
    for (struct kernel *k = j->kernels; k; k = k->hh.next)
        for (size_t i = 0; i < k->trial_count; i++)
            gp_values_sort(&k->trials[i].values);
    size_t before = verdict->held + verdict->violated + verdict->skipped;
    for (size_t i = 0; i < j->thresholds->count; i++)
        judge_section(j, &j->thresholds->sections[i], verdict);
    if (!j->kernels)
        gp_text_add(&verdict->unjudged, "no kernel was launched\n");
    else if (verdict->held + verdict->violated + verdict->skipped == before)
        gp_text_addf(&verdict->unjudged, "%s: no section matches a kernel that was launched\n",
                     j->thresholds->file);
    if (j->unjudged > 0)
        gp_text_addf(&verdict->unjudged,
                     "%llu launches of kernels beyond the first %d were not judged\n",
                     (unsigned long long)j->unjudged, GP_JUDGE_MOST_KERNELS);
    verdict->failed |= j->failed;
}
