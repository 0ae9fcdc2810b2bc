#include "report/bounds.h"

#include "report/operands.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counts and time are of different runs, whose times differ by a few percent. */
#define MOST_UTILIZATION 1.05

/* The operands of a unit's formula, on one device. */
struct unit_operands {
    const struct gp_metrics *metrics;
    const struct gp_device *device;
};

static bool is_defined(void *user, struct gp_node *operand)
{
    const struct unit_operands *o = user;
    const struct gp_metric *metric =
        operand->kind == GP_NODE_METRIC ? gp_metrics_find(o->metrics, operand->name) : NULL;
    char why[GP_WHY_SIZE];
    return !metric || gp_metric_is_defined(metric, o->device, why, sizeof(why));
}

/* False where the chip has nothing that could be measured of the unit: that is `why` it has no
 * value. */
static bool can_be_measured(const struct gp_subject *s, const struct gp_unit *unit, const char *why)
{
    struct unit_operands o = {.metrics = gp_summary_metrics(s->rows->summary),
                              .device =
                                  gp_summary_get_device(s->rows->summary, s->row->launch->device)};
    return o.device && !strstr(why, GP_NO_SUCH_COUNTER) &&
           gp_formula_walk(unit->utilization, is_defined, &o);
}

/* Works out how busy the unit is, 0 to 1. False with the reason in `why`. */
static bool measure_unit(const struct gp_subject *s, const struct gp_unit *unit, double *value,
                         char why[GP_WHY_SIZE])
{
    if (!gp_subject_evaluate(s, unit->utilization, value, why, GP_WHY_SIZE))
        return false;
    if (*value > MOST_UTILIZATION) {
        snprintf(why, GP_WHY_SIZE, "%s would work at %.0f %% of its peak, so its counts are wrong",
                 unit->title, 100 * *value);
        return false;
    }
    *value = fmin(*value, 1);
    return true;
}

/* Closeness of each unit, and the two that are closest to their roofs. */
static size_t measure(struct gp_bound *b, const struct gp_subject *s)
{
    size_t known = 0;
    int first = -1, second = -1;
    for (size_t i = 0; i < s->rules->unit_count; i++) {
        const struct gp_unit *unit = &s->rules->units[i];
        char why[GP_WHY_SIZE];
        double value;
        b->units[i] = (double)NAN;
        if (!measure_unit(s, unit, &value, why)) {
            if (!b->why[0] && can_be_measured(s, unit, why))
                snprintf(b->why, sizeof(b->why), "%s", why);
            continue;
        }
        known++;
        b->units[i] = value / unit->ceiling;
        if (first < 0 || b->units[i] > b->units[first]) {
            second = first;
            first = (int)i;
        } else if (second < 0 || b->units[i] > b->units[second]) {
            second = (int)i;
        }
    }
    /* Of two that are both busy; else the busiest is the busiest. */
    if (second >= 0 && s->rules->units[first].last && b->units[second] >= GP_BOUND_BY &&
        b->units[second] > b->units[first] - GP_CLEARLY) {
        int other = first;
        first = second;
        second = other;
    }
    if (first >= 0) {
        b->closeness = b->units[first];
        b->utilization = b->closeness * s->rules->units[first].ceiling;
        b->name = s->rules->units[first].name;
        b->title = b->unit = s->rules->units[first].title;
    }
    if (second >= 0) {
        b->next_title = s->rules->units[second].title;
        b->next_closeness = b->units[second];
        b->next_utilization = b->next_closeness * s->rules->units[second].ceiling;
    }
    return known;
}

static void name_bound(struct gp_bound *b, enum gp_bound_kind kind, const char *name,
                       const char *title)
{
    b->kind = kind;
    b->name = name;
    b->title = title;
}

static bool is_small(const struct gp_subject *s)
{
    const struct gp_device *device =
        gp_summary_get_device(s->rows->summary, s->row->launch->device);
    const unsigned *grid = s->row->largest_grid;
    return device && (double)grid[0] * grid[1] * grid[2] < device->sm_count;
}

void gp_bound_find(struct gp_bound *bound, const struct gp_rules *rules, const struct gp_rows *rows,
                   const struct gp_row *row)
{
    const struct gp_subject subject = {.rows = rows, .row = row, .rules = rules};
    double seconds;
    *bound = (struct gp_bound){.closeness = (double)NAN, .utilization = (double)NAN};
    size_t known = measure(bound, &subject);
    bound->complete = known > 0 && !bound->why[0];
    bool timed = gp_rows_mean(rows, row, "duration", &seconds);
    bool busy = known > 0 && bound->closeness >= GP_BOUND_BY;
    if (timed && seconds < GP_SHORT_LAUNCH) {
        name_bound(bound, GP_BOUND_LAUNCH, "launch", "launch overhead");
    } else if (busy) {
        bound->kind = GP_BOUND_UNIT;
        bound->at_roof = bound->closeness >= GP_AT_ROOF;
        bound->balanced =
            bound->next_title && bound->next_closeness > bound->closeness - GP_CLEARLY;
    } else if (known == 0 || !bound->complete) {
        /* One that was not measured may be the busy one. */
        name_bound(bound, GP_BOUND_UNKNOWN, "unknown", "not known");
    } else if (is_small(&subject)) {
        name_bound(bound, GP_BOUND_SMALL, "small", "too small");
    } else {
        name_bound(bound, GP_BOUND_LATENCY, "latency", "latency");
    }
    if (rules->unit_count == 0)
        snprintf(bound->why, sizeof(bound->why), "no rule names a unit of the GPU");
    if (bound->kind != GP_BOUND_UNKNOWN)
        bound->why[0] = '\0';
}
