#include "metrics/program.h"

#include "base/mix.h"
#include "metrics/entries.h"
#include "metrics/weight.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    NUMBER, /* known beforehand */
    COUNTER,
    FACT,
    OPERATION,
    WHERE_NEEDED,  /* left, where right is not 0 */
    WHERE_LACKING, /* left, or right where the record has not all counters of left */
};

/* Its value stands in an array of its own, NAN where there is none. */
struct step {
    enum kind kind;
    enum gp_node_kind operation;
    unsigned left, right;
};

/* Seldom read. */
struct detail {
    const void *what;        /* the name of a counter, a fact, or an entry whose result this is */
    size_t found;            /* a counter: where it stood among those of the last launch */
    uint64_t lacking_in;     /* a counter: the list of counters that has it not; 0: none */
    struct gp_reason absent; /* a counter: why it has no value */
    bool lacking;            /* a counter: the record does not have it */
    unsigned origin;         /* where there is no value: the step that has none by itself */
};

/* A metric that several formulas use is computed once. */
struct result {
    const struct gp_entry *entry;
    unsigned step;
};

/* Why a metric had no value the last time, as the reason is text that takes long to make. */
struct reason {
    bool known;
    unsigned step;            /* that has no value by itself */
    enum gp_cause of_counter; /* its cause; none where the step is no counter */
    char *text_of_counter;
    struct gp_absence absence;
};

struct gp_program {
    const struct gp_metrics *metrics;
    const struct gp_device *device;
    struct step *steps;
    double *values;
    struct detail *details;
    unsigned count, capacity;
    struct result *results;
    size_t result_count;
    unsigned *of_metric; /* by selected metric: its step */
    unsigned *of_weight; /* that of its weight */
    struct reason *reasons;
    uint64_t list;  /* of counters that the launch has */
    uint64_t names; /* so often names have gone */
};

#define NO_STEP (-1u)
#define MOST_STEPS 100000

/* ---- making ---------------------------------------------------------------------------------- */

static bool make_room(struct gp_program *p)
{
    if (p->count < p->capacity)
        return true;
    unsigned capacity = 2 * p->capacity + 64;
    if (capacity > 2 * MOST_STEPS)
        return false;
    struct step *steps = realloc(p->steps, capacity * sizeof(*steps));
    p->steps = steps ? steps : p->steps;
    double *values = realloc(p->values, capacity * sizeof(*values));
    p->values = values ? values : p->values;
    struct detail *details = realloc(p->details, capacity * sizeof(*details));
    p->details = details ? details : p->details;
    if (!steps || !values || !details)
        return false;
    p->capacity = capacity;
    return true;
}

static unsigned add_step(struct gp_program *p, struct step step, double value, const void *what)
{
    if (!make_room(p))
        return NO_STEP;
    p->steps[p->count] = step;
    p->values[p->count] = value;
    p->details[p->count] = (struct detail){.what = what, .origin = p->count};
    return p->count++;
}

/* A counter, a fact: there once. */
static unsigned add_leaf(struct gp_program *p, enum kind kind, const void *what, double value)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->steps[i].kind == kind && p->details[i].what == what)
            return i;
    return add_step(p, (struct step){.kind = kind}, value, what);
}

/* A value that depends on the device alone is known beforehand. */
static unsigned add_fact(struct gp_program *p, const struct gp_fact *fact)
{
    static const struct gp_record no_launch;
    char why[GP_WHY_SIZE];
    double value = NAN;
    if (strncmp(fact->name, "device.", 7) != 0)
        return add_leaf(p, FACT, fact, NAN);
    if (!fact->get(fact, p->device, &no_launch, &value, why, sizeof(why)))
        value = NAN;
    return add_leaf(p, NUMBER, fact, value);
}

static unsigned add_number(struct gp_program *p, double value)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->steps[i].kind == NUMBER && p->values[i] == value && !p->details[i].what)
            return i;
    return add_step(p, (struct step){.kind = NUMBER}, value, NULL);
}

/* NAN where there is no such number. */
static inline double operate(enum gp_node_kind operation, double left, double right)
{
    switch (operation) {
    case GP_NODE_NEGATE:
        return -left;
    case GP_NODE_ADD:
        return left + right;
    case GP_NODE_SUBTRACT:
        return left - right;
    case GP_NODE_MULTIPLY:
        return left * right;
    case GP_NODE_DIVIDE:
        return right == 0 ? NAN : left / right;
    case GP_NODE_MIN:
        return isnan(left) || left < right ? left : right;
    case GP_NODE_MAX:
        return isnan(left) || left > right ? left : right;
    default:
        return NAN;
    }
}

static unsigned add_operation(struct gp_program *p, enum gp_node_kind operation, unsigned left,
                              unsigned right)
{
    if (left == NO_STEP || right == NO_STEP)
        return NO_STEP;
    const struct step step = {
        .kind = OPERATION, .operation = operation, .left = left, .right = right};
    double value = operate(operation, p->values[left], p->values[right]);
    bool is_known = p->steps[left].kind == NUMBER && p->steps[right].kind == NUMBER;
    if (is_known && isfinite(value))
        return add_number(p, value);
    for (unsigned i = 0; i < p->count; i++)
        if (memcmp(&p->steps[i], &step, sizeof(step)) == 0)
            return i;
    return add_step(p, step, NAN, NULL);
}

static unsigned add_entry(struct gp_program *p, const struct gp_entry *e);

static unsigned add_node(struct gp_program *p, const struct gp_node *node)
{
    unsigned left;
    switch (node->kind) {
    case GP_NODE_NUMBER:
        return add_number(p, node->number);
    case GP_NODE_COUNTER:
        return add_leaf(p, COUNTER, node->bound, NAN);
    case GP_NODE_FACT:
        return add_fact(p, node->fact);
    case GP_NODE_METRIC:
        return add_entry(p, node->bound);
    default:
        left = add_node(p, node->left);
        return add_operation(p, node->kind, left, node->right ? add_node(p, node->right) : left);
    }
}

static unsigned add_variant(struct gp_program *p, const struct gp_variant *v)
{
    if (!v || !v->formula)
        return add_step(p, (struct step){.kind = NUMBER}, NAN, NULL);
    unsigned formula = add_node(p, v->formula);
    unsigned older = v->older && formula != NO_STEP ? add_node(p, v->older) : NO_STEP;
    if (v->older && older != NO_STEP) {
        const struct step step = {.kind = WHERE_LACKING, .left = formula, .right = older};
        formula = add_step(p, step, NAN, NULL);
    }
    unsigned needs = v->needs && formula != NO_STEP ? add_node(p, v->needs) : NO_STEP;
    if (!v->needs || formula == NO_STEP)
        return formula;
    const struct step step = {.kind = WHERE_NEEDED, .left = formula, .right = needs};
    return needs == NO_STEP ? NO_STEP : add_step(p, step, NAN, NULL);
}

static unsigned add_entry(struct gp_program *p, const struct gp_entry *e)
{
    for (size_t i = 0; i < p->result_count; i++)
        if (p->results[i].entry == e)
            return p->results[i].step;
    unsigned step = add_variant(p, gp_variant_for(e, p->device));
    struct result *more = realloc(p->results, (p->result_count + 1) * sizeof(*more));
    if (!more)
        return NO_STEP;
    p->results = more;
    p->results[p->result_count++] = (struct result){.entry = e, .step = step};
    return step;
}

/* A step without a value where the weight is time and no metric is the duration. */
static unsigned add_weight(struct gp_program *p, const struct gp_entry *e)
{
    const struct gp_node *formula;
    enum gp_weighting weighting = gp_metric_weighting(&e->metric, p->device, &formula);
    struct gp_entry **duration = gp_metrics_slot(p->metrics, "duration");
    if (weighting == GP_BY_LAUNCHES)
        return add_number(p, 1);
    if (weighting == GP_BY_FORMULA)
        return add_node(p, formula);
    return duration ? add_entry(p, *duration)
                    : add_step(p, (struct step){.kind = NUMBER}, NAN, NULL);
}

void gp_program_free(struct gp_program *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->reasons && i < p->metrics->selected_count; i++)
        free(p->reasons[i].text_of_counter);
    free(p->steps);
    free(p->values);
    free(p->details);
    free(p->results);
    free(p->of_metric);
    free(p->of_weight);
    free(p->reasons);
    free(p);
}

struct gp_program *gp_program_new(const struct gp_metrics *m, const struct gp_device *device)
{
    struct gp_program *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->metrics = m;
    p->device = device;
    p->of_metric = calloc(m->selected_count + 1, sizeof(*p->of_metric));
    p->of_weight = calloc(m->selected_count + 1, sizeof(*p->of_weight));
    p->reasons = calloc(m->selected_count + 1, sizeof(*p->reasons));
    bool ok = p->of_metric && p->of_weight && p->reasons;
    for (size_t i = 0; ok && i < m->selected_count; i++) {
        p->of_metric[i] = add_entry(p, m->selected[i]);
        p->of_weight[i] = add_weight(p, m->selected[i]);
        ok = p->of_metric[i] != NO_STEP && p->of_weight[i] != NO_STEP;
    }
    if (ok)
        return p;
    gp_program_free(p);
    return NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

/* A hash of the names' addresses. */
static uint64_t list_of(const struct gp_program *p, const struct gp_record *launch)
{
    uint64_t list = gp_mix(p->names, launch->counter_count);
    for (size_t i = 0; i < launch->counter_count; i++)
        list = gp_mix(list, (uintptr_t)launch->counters[i].name);
    return list;
}

/* Launches mostly have the same counters in the same order, and lack the same. */
static const struct gp_counter *find_counter(struct detail *d, const struct gp_record *launch,
                                             uint64_t list)
{
    const struct gp_counter *counters = launch->counters;
    if (d->lacking_in == list)
        return NULL;
    if (d->found < launch->counter_count &&
        (counters[d->found].name == d->what || strcmp(counters[d->found].name, d->what) == 0))
        return &counters[d->found];
    for (size_t i = 0; i < launch->counter_count; i++)
        if (counters[i].name == d->what)
            return &counters[d->found = i];
    for (size_t i = 0; i < launch->counter_count; i++)
        if (strcmp(counters[i].name, d->what) == 0)
            return &counters[d->found = i];
    d->lacking_in = list;
    return NULL;
}

static double value_of_counter(struct detail *d, const struct gp_record *launch, uint64_t list)
{
    const struct gp_counter *c = find_counter(d, launch, list);
    d->absent = c ? c->absent : gp_reason_or(launch->skipped, GP_REASON(NOT_MEASURED));
    d->lacking = !c;
    return d->absent.cause ? NAN : c->value;
}

static double value_of_fact(const struct gp_fact *fact, const struct gp_device *device,
                            const struct gp_record *launch)
{
    double value;
    char why[GP_WHY_SIZE];
    return fact->get(fact, device, launch, &value, why, sizeof(why)) ? value : NAN;
}

/* Whether the step has no value because the record does not have a counter. */
static bool lacks_counter(const struct gp_program *p, unsigned i)
{
    return isnan(p->values[i]) && p->details[p->details[i].origin].lacking;
}

/* The step has no value: because another one has none, or by itself. */
static void note_origin(struct gp_program *p, unsigned i)
{
    const struct step *s = &p->steps[i];
    bool is_made_of_others = s->kind == OPERATION || s->kind == WHERE_NEEDED;
    unsigned origin = i;
    if (s->kind == WHERE_LACKING)
        origin = p->details[lacks_counter(p, s->left) ? s->right : s->left].origin;
    else if (s->kind == WHERE_NEEDED && p->values[s->right] == 0)
        origin = i;
    else if (is_made_of_others && isnan(p->values[s->left]))
        origin = p->details[s->left].origin;
    else if (is_made_of_others && isnan(p->values[s->right]))
        origin = p->details[s->right].origin;
    p->details[i].origin = origin;
    p->values[i] = NAN;
}

static void run_steps(struct gp_program *p, const struct gp_record *launch)
{
    double *values = p->values;
    for (unsigned i = 0; i < p->count; i++) {
        const struct step *s = &p->steps[i];
        switch (s->kind) {
        case NUMBER:
            continue;
        case COUNTER:
            values[i] = value_of_counter(&p->details[i], launch, p->list);
            break;
        case FACT:
            values[i] = value_of_fact(p->details[i].what, p->device, launch);
            break;
        case OPERATION:
            values[i] = operate(s->operation, values[s->left], values[s->right]);
            break;
        case WHERE_NEEDED:
            values[i] = values[s->right] == 0 || isnan(values[s->right]) ? NAN : values[s->left];
            break;
        case WHERE_LACKING:
            values[i] = values[lacks_counter(p, s->left) ? s->right : s->left];
            break;
        }
        if (!isfinite(values[i]))
            note_origin(p, i);
    }
}

static bool is_same(const struct reason *r, enum kind kind, const struct detail *origin,
                    unsigned number)
{
    if (!r->known || r->step != number || kind == FACT)
        return false;
    if (kind != COUNTER || !origin->absent.cause || !r->of_counter)
        return kind != COUNTER || (!origin->absent.cause && !r->of_counter);
    return r->of_counter == origin->absent.cause &&
           strcmp(r->text_of_counter, origin->absent.text) == 0;
}

/* Why the metric has no value. */
static const struct gp_absence *absence_of(struct gp_program *p, const struct gp_record *launch,
                                           size_t metric)
{
    struct reason *r = &p->reasons[metric];
    const unsigned number = p->details[p->of_metric[metric]].origin;
    const struct detail *origin = &p->details[number];
    bool counts = p->steps[number].kind == COUNTER && origin->absent.cause;
    double value;
    if (is_same(r, p->steps[number].kind, origin, number))
        return &r->absence;
    gp_metric_evaluate(&p->metrics->selected[metric]->metric, p->device, launch, &value,
                       &r->absence);
    free(r->text_of_counter);
    r->of_counter = counts ? origin->absent.cause : GP_CAUSE_NONE;
    r->text_of_counter = counts ? strdup(origin->absent.text) : NULL;
    r->known = !counts || r->text_of_counter;
    r->step = number;
    return &r->absence;
}

void gp_program_forget_names(struct gp_program *p)
{
    p->names++;
}

void gp_program_run(struct gp_program *p, const struct gp_record *launch,
                    void (*take)(void *user, size_t i, double value, double weight,
                                 const struct gp_absence *absence),
                    void *user)
{
    p->list = list_of(p, launch);
    run_steps(p, launch);
    for (size_t i = 0; i < p->metrics->selected_count; i++) {
        double value = p->values[p->of_metric[i]], weight = p->values[p->of_weight[i]];
        take(user, i, isnan(value) ? 0 : value, weight > 0 ? weight : NAN,
             isnan(value) ? absence_of(p, launch, i) : NULL);
    }
}
