/* The value of a metric for one launch, and the formula that gives it on a device. */
#include "metrics/entries.h"

#include <stdio.h>
#include <string.h>

#define MOST_STEPS 100000 /* operands looked up for one value */

const struct gp_absence gp_no_device_facts = {.cause = GP_CAUSE_FACT_UNKNOWN,
                                              .text = "the facts of the device are not known"};

static const struct gp_entry *entry_of(const struct gp_metric *metric)
{
    return (const struct gp_entry *)metric;
}

const char *gp_metric_absent(const struct gp_metric *metric)
{
    return gp_entry_absent(entry_of(metric));
}

static void say_not_defined(const struct gp_entry *e, const struct gp_device *device, char *why,
                            size_t why_size)
{
    const struct gp_variant *absent = gp_variant_for(e, device);
    if (absent) {
        snprintf(why, why_size, "%s", absent->absent);
        return;
    }
    if (device->event_counters && gp_entry_counts_in_ranges(e)) {
        snprintf(why, why_size,
                 "%s has no formula over CUPTI's events, which this GPU counts alone (compute "
                 "capability "
                 "%d.%d)",
                 e->metric.name, device->cc_major, device->cc_minor);
        return;
    }
    struct gp_text conditions = {0};
    for (const struct gp_variant *v = e->variants; v; v = v->next)
        gp_text_addf(&conditions, "%s%s", v == e->variants ? "" : ", or ",
                     v->when_text ? v->when_text : "always");
    snprintf(why, why_size, "%s is not defined for compute capability %d.%d, only when %s",
             e->metric.name, device->cc_major, device->cc_minor, gp_text_string(&conditions));
    gp_text_free(&conditions);
}

struct evaluation {
    const struct gp_device *device;
    const struct gp_record *launch;
    unsigned steps;
    bool lacks_counter; /* the last value is missing as the record has no such counter */
    /* The cause for which the last value is missing, and the bytes of its text that name the
     * counter. */
    enum gp_cause cause;
    size_t named;
};

/* False: a value is missing for that cause. */
static bool lacks(struct evaluation *e, enum gp_cause cause, size_t named)
{
    e->cause = cause;
    e->named = named;
    return false;
}

static bool counter_value(struct evaluation *e, const char *name, double *value, char *why,
                          size_t why_size)
{
    const struct gp_counter *counters = e->launch->counters, *found = NULL;
    size_t count = e->launch->counter_count;
    /* Names recorded as gp_metrics_counters gave them are found without comparing letters. */
    for (size_t i = 0; i < count && !found; i++)
        if (counters[i].name == name)
            found = &counters[i];
    for (size_t i = 0; i < count && !found; i++)
        if (strcmp(counters[i].name, name) == 0)
            found = &counters[i];
    e->lacks_counter = !found;
    if (found && !found->absent.cause) {
        *value = found->value;
        return true;
    }
    const struct gp_reason reason =
        found ? found->absent : gp_reason_or(e->launch->skipped, GP_REASON(NOT_MEASURED));
    snprintf(why, why_size, "counter %s: %s", name, reason.text);
    return lacks(e, reason.cause, strlen("counter : ") + strlen(name));
}

static bool evaluate_entry(struct evaluation *ev, const struct gp_entry *e, double *value,
                           char *why, size_t why_size);

static bool operand_value(void *user, const struct gp_node *operand, double *value, char *why,
                          size_t why_size)
{
    struct evaluation *e = user;
    if (++e->steps > MOST_STEPS) {
        snprintf(why, why_size, "the formula takes more than %d steps", MOST_STEPS);
        return lacks(e, GP_CAUSE_NO_VALUE, 0);
    }
    switch (operand->kind) {
    case GP_NODE_COUNTER:
        return counter_value(e, operand->bound, value, why, why_size);
    case GP_NODE_FACT:
        return operand->fact->get(operand->fact, e->device, e->launch, value, why, why_size) ||
               lacks(e, GP_CAUSE_FACT_UNKNOWN, 0);
    default:
        return evaluate_entry(e, operand->bound, value, why, why_size);
    }
}

/* A formula of which no operand is missing may have no value for itself: it divides by 0. */
static bool evaluate_formula(struct evaluation *ev, const struct gp_node *formula,
                             const struct gp_operands *operands, double *value, char *why,
                             size_t why_size)
{
    lacks(ev, GP_CAUSE_NO_VALUE, 0);
    return gp_formula_evaluate(formula, operands, value, why, why_size);
}

static bool evaluate_entry(struct evaluation *ev, const struct gp_entry *e, double *value,
                           char *why, size_t why_size)
{
    const struct gp_variant *v = gp_variant_for(e, ev->device);
    if (!v || !v->formula) {
        say_not_defined(e, ev->device, why, why_size);
        return lacks(ev, GP_CAUSE_NOT_DEFINED, 0);
    }
    const struct gp_operands operands = {.user = ev, .value_of = operand_value};
    double needed = 1;
    ev->lacks_counter = false;
    bool answer = evaluate_formula(ev, v->formula, &operands, value, why, why_size);
    if (!answer && v->older && ev->lacks_counter)
        answer = evaluate_formula(ev, v->older, &operands, value, why, why_size);
    /* Also where there is no value: a needed operand may be the divisor. */
    const struct evaluation before = *ev;
    char why_not[GP_WHY_SIZE];
    if (v->needs && !evaluate_formula(ev, v->needs, &operands, &needed, why_not, sizeof(why_not))) {
        if (answer)
            snprintf(why, why_size, "%s", why_not);
        return answer ? false : lacks(ev, before.cause, before.named);
    }
    if (needed != 0)
        return answer || lacks(ev, before.cause, before.named);
    struct gp_text text = {0};
    gp_formula_print(v->needs, &text);
    snprintf(why, why_size, "does not apply: %s is 0", gp_text_string(&text));
    gp_text_free(&text);
    return lacks(ev, GP_CAUSE_DOES_NOT_APPLY, 0);
}

/* Where the evaluation has failed. */
static void give_absence(const struct evaluation *e, struct gp_absence *absence)
{
    absence->cause = e->cause;
    absence->named = e->named < strlen(absence->text) ? e->named : 0;
}

bool gp_metric_evaluate(const struct gp_metric *metric, const struct gp_device *device,
                        const struct gp_record *launch, double *value, struct gp_absence *absence)
{
    struct evaluation ev = {.device = device, .launch = launch};
    struct gp_absence unsaid, *a = absence ? absence : &unsaid;
    bool answer = evaluate_entry(&ev, entry_of(metric), value, a->text, sizeof(a->text));
    if (!answer)
        give_absence(&ev, a);
    return answer;
}

bool gp_formula_of_launch(const struct gp_node *formula, const struct gp_device *device,
                          const struct gp_record *launch, double *value, struct gp_absence *absence)
{
    struct evaluation ev = {.device = device, .launch = launch};
    const struct gp_operands operands = {.user = &ev, .value_of = operand_value};
    struct gp_absence unsaid, *a = absence ? absence : &unsaid;
    bool answer = evaluate_formula(&ev, formula, &operands, value, a->text, sizeof(a->text));
    if (!answer)
        give_absence(&ev, a);
    return answer;
}

struct definedness {
    const struct gp_device *device;
    char *why;
    size_t why_size;
};

static bool is_operand_defined(void *user, struct gp_node *operand)
{
    const struct definedness *d = user;
    return operand->kind != GP_NODE_METRIC ||
           gp_metric_is_defined(operand->bound, d->device, d->why, d->why_size);
}

bool gp_metric_is_defined(const struct gp_metric *metric, const struct gp_device *device, char *why,
                          size_t why_size)
{
    const struct gp_variant *v = gp_variant_for(entry_of(metric), device);
    struct definedness d = {.device = device, .why = why, .why_size = why_size};
    if (v && v->formula)
        return gp_variant_walk(v, is_operand_defined, &d);
    say_not_defined(entry_of(metric), device, why, why_size);
    return false;
}

bool gp_metric_formula(const struct gp_metric *metric, const struct gp_device *device,
                       struct gp_text *out, char *why, size_t why_size)
{
    const struct gp_variant *v = gp_variant_for(entry_of(metric), device);
    if (!v || !v->formula) {
        say_not_defined(entry_of(metric), device, why, why_size);
        return false;
    }
    gp_formula_print(v->formula, out);
    if (v->needs) {
        gp_text_add(out, ", where not 0: ");
        gp_formula_print(v->needs, out);
    }
    return true;
}

const char *gp_metric_source(const struct gp_metric *metric, const struct gp_device *device)
{
    const struct gp_variant *v = gp_variant_for(entry_of(metric), device);
    return v && v->source ? v->source : metric->source;
}
