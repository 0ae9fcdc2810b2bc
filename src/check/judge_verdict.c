#include "check/judge_parts.h"

#include "check/quantity.h"

#include <stdio.h>
#include <string.h>

/* The value of an aggregate. */
static double aggregate_of(const struct gp_trial *t, const struct gp_judged_kernel *k)
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

static struct gp_outcome outcome_of(const struct gp_judge *j, const struct gp_judged_kernel *k,
                                    const struct gp_trial *t)
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

static void judge_value(const struct gp_judge *j, const struct gp_judged_kernel *k,
                        const struct gp_trial *t, double value, bool holds,
                        struct gp_verdict *verdict)
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

static void judge_absence(const struct gp_judge *j, const struct gp_judged_kernel *k,
                          const struct gp_trial *t, struct gp_verdict *verdict)
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

static bool value_holds(const struct gp_trial *t, double value)
{
    if (t->rule->metric && t->rule->aggregate == GP_EVERY)
        return t->violated == 0;
    return gp_relation_holds(t->rule->relation, value, t->rule->bound);
}

/* Of one rule and kernel: how many violations there are, absent values among them. */
static uint64_t violations_of(const struct gp_trial *t, const struct gp_judged_kernel *k)
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

static void judge_trial(const struct gp_judge *j, const struct gp_judged_kernel *k,
                        const struct gp_trial *t, bool allowed, struct gp_verdict *verdict)
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
    for (struct gp_judged_kernel *k = j->kernels; k; k = k->hh.next) {
        matched |= gp_selector_matches(&section->selector, &k->names);
        for (size_t i = 0; i < k->trial_count; i++)
            if (k->trials[i].section == section)
                violations += violations_of(&k->trials[i], k);
    }
    bool allowed = violations > 0 && violations <= section->allowed;
    for (struct gp_judged_kernel *k = j->kernels; k; k = k->hh.next)
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
    gp_judge_end_process(j);
    for (struct gp_judged_kernel *k = j->kernels; k; k = k->hh.next)
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
