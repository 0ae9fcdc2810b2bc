#include "report/bounds.h"

#include "report/operands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counts and time are of different runs, whose times differ by a few percent. */
#define MOST_UTILIZATION 1.05
/* So few SMs keep no unit of the GPU busy with any work: one of 40 SMs, or four of 132, read with a
 * fifth of DRAM's bandwidth at most. */
#define FAR_TOO_SMALL (1.0 / 32)

/* The operands of a unit's formula, on one device. */
struct unit_operands {
    const struct gp_subject *subject;
    const struct gp_metrics *metrics;
    const struct gp_device *device;
};

/* False where the device has no such metric, or lacks a counter for it. */
static bool can_be_had(void *user, struct gp_node *operand)
{
    const struct unit_operands *o = user;
    const struct gp_metric *metric =
        operand->kind == GP_NODE_METRIC ? gp_metrics_find(o->metrics, operand->name) : NULL;
    char why[GP_WHY_SIZE];
    if (!metric)
        return true;
    const struct gp_stat *stat = gp_rows_stat(o->subject->rows, o->subject->row, operand->name);
    const bool lacks = stat && stat->count == 0 && stat->absent.cause == GP_CAUSE_NO_SUCH_COUNTER;
    return !lacks && gp_metric_is_defined(metric, o->device, why, sizeof(why));
}

/* False where the chip has nothing that could be measured of the unit. */
static bool can_be_measured(const struct gp_subject *s, const struct gp_unit *unit)
{
    struct unit_operands o = {.subject = s,
                              .metrics = gp_summary_metrics(s->rows->summary),
                              .device =
                                  gp_summary_get_device(s->rows->summary, s->row->launch->device)};
    return unit->utilization && o.device && gp_formula_walk(unit->utilization, can_be_had, &o);
}

static bool evaluate(const struct gp_subject *s, const struct gp_node *formula, double *value,
                     char why[GP_WHY_SIZE])
{
    return formula && gp_subject_evaluate(s, formula, value, why, GP_WHY_SIZE);
}

/* Works out how busy the unit is, 0 to 1: the hardware's count, where there is one, stands for
 * itself, and other counts may be estimates. False with the reason in `why`; then *value is set
 * where its counts are wrong. */
static bool measure_unit(const struct gp_subject *s, const struct gp_unit *unit, double *value,
                         char why[GP_WHY_SIZE])
{
    if (!evaluate(s, unit->counted, value, why) && !evaluate(s, unit->utilization, value, why))
        return false;
    if (*value > MOST_UTILIZATION) {
        snprintf(why, GP_WHY_SIZE, "%s would work at %.0f %% of its peak, so its counts are wrong",
                 unit->title, 100 * *value);
        return false;
    }
    *value = fmin(*value, 1);
    return true;
}

/* True where the unit cannot be the bound, though it was not measured. */
static bool is_surely_idle(const struct gp_subject *s, const struct gp_unit *unit)
{
    char why[GP_WHY_SIZE];
    double most;
    return unit->at_most && gp_subject_evaluate(s, unit->at_most, &most, why, sizeof(why)) &&
           most < GP_BOUND_BY * unit->ceiling;
}

/* The unit that is closest to its roof but for the unit `other`; -1: none is known. */
static int closest(const struct gp_bound *b, const struct gp_rules *rules, int other)
{
    int best = -1;
    for (int i = 0; i < (int)rules->unit_count; i++)
        if (i != other && !isnan(b->units[i]) && (best < 0 || b->units[i] > b->units[best]))
            best = i;
    return best;
}

static void name_units(struct gp_bound *b, const struct gp_rules *rules, int first, int second)
{
    if (first >= 0) {
        b->closeness = b->units[first];
        b->utilization = b->closeness * rules->units[first].ceiling;
        b->name = rules->units[first].name;
        b->title = b->unit = rules->units[first].title;
    }
    if (second >= 0) {
        b->next_title = rules->units[second].title;
        b->next_closeness = b->units[second];
        b->next_utilization = b->next_closeness * rules->units[second].ceiling;
    }
}

static void rank_units(struct gp_bound *b, const struct gp_rules *rules)
{
    int first = closest(b, rules, -1), second = closest(b, rules, first);
    /* Two units are swapped only where both are busy; else the busiest is the first. */
    bool swap = second >= 0 && rules->units[first].last && b->units[second] >= GP_BOUND_BY &&
                b->units[second] > b->units[first] - GP_CLEARLY;
    name_units(b, rules, swap ? second : first, swap ? first : second);
}

/* Computes the closeness of each unit; the answer is how many are known. */
static size_t measure(struct gp_bound *b, const struct gp_subject *s)
{
    size_t known = 0;
    for (size_t i = 0; i < s->rules->unit_count; i++) {
        const struct gp_unit *unit = &s->rules->units[i];
        char why[GP_WHY_SIZE];
        double value = (double)NAN;
        b->units[i] = (double)NAN;
        if (!measure_unit(s, unit, &value, why)) {
            const bool wrong = !isnan(value), idle = !wrong && is_surely_idle(s, unit);
            if (!b->why[0] && can_be_measured(s, unit) && !idle)
                snprintf(b->why, sizeof(b->why), "%s", why);
            continue;
        }
        known++;
        b->units[i] = value / unit->ceiling;
    }
    rank_units(b, s->rules);
    return known;
}

static void name_bound(struct gp_bound *b, enum gp_bound_kind kind, const char *name,
                       const char *title)
{
    b->kind = kind;
    b->name = name;
    b->title = title;
}

/* Whether the blocks are fewer than such a part of the SMs. */
static bool is_small(const struct gp_subject *s, double part)
{
    const struct gp_device *device =
        gp_summary_get_device(s->rows->summary, s->row->launch->device);
    const unsigned *grid = s->row->largest_grid;
    return device && gp_blocks_of(grid) < part * device->sm_count;
}

/* The consequences of the use of the busiest unit. */
static void judge_closeness(struct gp_bound *b)
{
    b->at_roof = b->closeness >= GP_AT_ROOF;
    b->balanced = b->next_title && b->next_closeness > b->closeness - GP_CLEARLY;
}

void gp_bound_find(struct gp_bound *bound, const struct gp_rules *rules, const struct gp_rows *rows,
                   const struct gp_row *row)
{
    const struct gp_subject subject = {.rows = rows, .row = row, .rules = rules};
    double seconds;
    *bound = (struct gp_bound){.closeness = (double)NAN, .utilization = (double)NAN, .share = 1};
    size_t known = measure(bound, &subject);
    bound->complete = known > 0 && !bound->why[0];
    bool timed = gp_rows_mean(rows, row, "duration", &seconds);
    bool busy = known > 0 && bound->closeness >= GP_BOUND_BY;
    if (timed && seconds < GP_SHORT_LAUNCH) {
        name_bound(bound, GP_BOUND_LAUNCH, "launch", "launch overhead");
    } else if (busy) {
        bound->kind = GP_BOUND_UNIT;
        judge_closeness(bound);
    } else if (!bound->complete && !(timed && is_small(&subject, FAR_TOO_SMALL))) {
        /* One that was not measured may be the busy one. */
        name_bound(bound, GP_BOUND_UNKNOWN, "unknown", "not known");
    } else if (is_small(&subject, 1)) {
        name_bound(bound, GP_BOUND_SMALL, "small", "too small");
    } else {
        name_bound(bound, GP_BOUND_LATENCY, "latency", "latency");
    }
    if (rules->unit_count == 0)
        snprintf(bound->why, sizeof(bound->why), "no rule names a unit of the GPU");
    if (bound->kind != GP_BOUND_UNKNOWN)
        bound->why[0] = '\0';
}

/* ---- several configurations ------------------------------------------------------------------ */

/* Bounds by number: of the units first, then the other kinds. */
#define MOST_KINDS (GP_MOST_UNITS + GP_BOUND_LAUNCH + 1)

static int unit_of(const struct gp_bound *b, const struct gp_rules *rules)
{
    for (size_t i = 0; b->kind == GP_BOUND_UNIT && i < rules->unit_count; i++)
        if (strcmp(rules->units[i].name, b->name) == 0)
            return (int)i;
    return -1;
}

static size_t number_of(const struct gp_bound *b, const struct gp_rules *rules)
{
    int unit = unit_of(b, rules);
    return unit >= 0 ? (size_t)unit : GP_MOST_UNITS + b->kind;
}

/* The time of a group, or where no launch of the row was timed its launches. */
static double weight_of(const struct gp_rows *rows, const struct gp_row *row, size_t group)
{
    return row->seconds > 0 ? gp_rows_of_group(rows, row, group).seconds
                            : (double)rows->groups[row->first_group + group]->launches;
}

/* Groups under one bound, added up. */
struct sum_of_bounds {
    double weight;
    const struct gp_bound *first;
};

/* The use of each unit, in the mean of the groups in which it is known. */
struct use_of_units {
    double sum[GP_MOST_UNITS], weight[GP_MOST_UNITS];
};

static void add_use(struct use_of_units *use, const struct gp_bound *b, double weight)
{
    for (size_t i = 0; i < GP_MOST_UNITS; i++) {
        use->sum[i] += isnan(b->units[i]) ? 0 : weight * b->units[i];
        use->weight[i] += isnan(b->units[i]) ? 0 : weight;
    }
}

void gp_bound_of_row(struct gp_bound *bound, const struct gp_rules *rules,
                     const struct gp_rows *rows, const struct gp_row *row,
                     const struct gp_bound *bounds)
{
    struct sum_of_bounds sums[MOST_KINDS] = {0}, *most = NULL;
    struct use_of_units use = {0};
    double all = 0;
    for (size_t g = 0; g < row->grids; g++) {
        const struct gp_bound *b = &bounds[row->first_group + g];
        struct sum_of_bounds *sum = &sums[number_of(b, rules)];
        double weight = weight_of(rows, row, g);
        sum->first = sum->first ? sum->first : b;
        sum->weight += weight;
        add_use(&use, b, weight);
        all += weight;
        if (!most || sum->weight > most->weight)
            most = sum;
    }
    *bound = *most->first;
    if (row->grids == 1)
        return;
    for (size_t i = 0; i < GP_MOST_UNITS; i++)
        bound->units[i] = use.weight[i] > 0 ? use.sum[i] / use.weight[i] : (double)NAN;
    int unit = unit_of(bound, rules);
    if (unit >= 0) {
        name_units(bound, rules, unit, closest(bound, rules, unit));
        judge_closeness(bound);
    } else {
        const char *name = bound->name, *title = bound->title;
        rank_units(bound, rules);
        bound->name = name;
        bound->title = title;
    }
    bound->share = all > 0 ? most->weight / all : 1;
}
