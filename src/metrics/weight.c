#include "metrics/weight.h"

#include "metrics/entries.h"

#include <math.h>
#include <string.h>

#define MOST_STEPS 10000 /* parts of formulas that are read for one metric */

/* How a value grows with the number of launches that it stands for. */
enum growth {
    CONSTANT, /* a number, or a fact of the device or of the launch */
    AMOUNT,   /* a sum over launches is the value of all together */
    RATIO,    /* neither */
};

/* Metrics of metrics may be read many times: a formula that takes too many steps counts as a ratio.
 */
struct reading {
    const struct gp_device *device;
    unsigned steps;
};

static enum growth growth_of_node(struct reading *r, const struct gp_node *node);

/* CUPTI's suffixes: ".sum", ".avg", ".min" and ".max" are over the units of the chip, and amounts.
 * An end behind them (".avg.pct_of_peak_sustained_elapsed") and ".pct", ".ratio" are ratios. */
static enum growth growth_of_counter(const char *name)
{
    static const char *const amounts[] = {".sum", ".avg", ".min", ".max"};
    const char *dot = strchr(name, '.');
    if (!dot)
        return AMOUNT; /* an event of older GPUs */
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        if (strcmp(dot, amounts[i]) == 0)
            return AMOUNT;
    return RATIO;
}

static const struct gp_node *formula_of(const struct reading *r, const struct gp_entry *e)
{
    const struct gp_variant *v = gp_variant_for(e, r->device);
    return v ? v->formula : NULL;
}

static enum growth growth_of_product(enum growth left, enum growth right)
{
    if (left == CONSTANT || right == CONSTANT)
        return left == CONSTANT ? right : left;
    return left != right ? AMOUNT : RATIO; /* seconds times cycles per second */
}

static enum growth growth_of_quotient(enum growth left, enum growth right)
{
    if (right == CONSTANT)
        return left;
    return left == AMOUNT && right == RATIO ? AMOUNT : RATIO;
}

static enum growth growth_of_sum(enum growth left, enum growth right)
{
    if (left == RATIO || right == RATIO)
        return RATIO;
    return left == AMOUNT ? left : right;
}

static enum growth growth_of_node(struct reading *r, const struct gp_node *node)
{
    const struct gp_node *formula;
    if (++r->steps > MOST_STEPS)
        return RATIO;
    switch (node->kind) {
    case GP_NODE_NUMBER:
    case GP_NODE_FACT:
        return CONSTANT;
    case GP_NODE_COUNTER:
        return growth_of_counter(node->name);
    case GP_NODE_METRIC:
        formula = formula_of(r, node->bound);
        return formula ? growth_of_node(r, formula) : RATIO;
    case GP_NODE_NEGATE:
        return growth_of_node(r, node->left);
    case GP_NODE_MULTIPLY:
        return growth_of_product(growth_of_node(r, node->left), growth_of_node(r, node->right));
    case GP_NODE_DIVIDE:
        return growth_of_quotient(growth_of_node(r, node->left), growth_of_node(r, node->right));
    default:
        return growth_of_sum(growth_of_node(r, node->left), growth_of_node(r, node->right));
    }
}

static bool is_constant(struct reading *r, const struct gp_node *node)
{
    return growth_of_node(r, node) == CONSTANT;
}

/* The denominator of a formula that is an amount over an amount, but for constant factors, or that
 * is such a metric. NULL for other formulas. */
static const struct gp_node *denominator_of(struct reading *r, const struct gp_node *node)
{
    while (node) {
        bool product = node->kind == GP_NODE_MULTIPLY;
        if (node->kind == GP_NODE_METRIC)
            node = formula_of(r, node->bound);
        else if (product && is_constant(r, node->left))
            node = node->right;
        else if ((product || node->kind == GP_NODE_DIVIDE) && is_constant(r, node->right))
            node = node->left;
        else
            break;
    }
    if (!node || node->kind != GP_NODE_DIVIDE || growth_of_node(r, node->left) != AMOUNT ||
        growth_of_node(r, node->right) != AMOUNT)
        return NULL;
    return node->right;
}

enum gp_weighting gp_metric_weighting(const struct gp_metric *metric,
                                      const struct gp_device *device,
                                      const struct gp_node **formula)
{
    struct reading r = {.device = device};
    const struct gp_variant *v = gp_variant_for((const struct gp_entry *)metric, device);
    *formula = NULL;
    if (!v || !v->formula)
        return GP_BY_TIME;
    *formula = v->weight ? v->weight : denominator_of(&r, v->formula);
    if (*formula)
        return GP_BY_FORMULA;
    return growth_of_node(&r, v->formula) == AMOUNT ? GP_BY_LAUNCHES : GP_BY_TIME;
}

void gp_metric_weighting_text(const struct gp_metric *metric, const struct gp_device *device,
                              struct gp_text *out)
{
    const struct gp_node *formula;
    enum gp_weighting weighting = gp_metric_weighting(metric, device, &formula);
    if (formula)
        gp_formula_print(formula, out);
    else
        gp_text_add(out, weighting == GP_BY_LAUNCHES ? "launches" : "time");
}

bool gp_metric_weight(const struct gp_metrics *m, const struct gp_metric *metric,
                      const struct gp_device *device, const struct gp_record *launch,
                      double *weight)
{
    const struct gp_node *formula;
    enum gp_weighting weighting = gp_metric_weighting(metric, device, &formula);
    const struct gp_metric *duration = gp_metrics_find(m, "duration");
    *weight = 1;
    if (weighting == GP_BY_FORMULA && !gp_formula_of_launch(formula, device, launch, weight, NULL))
        return false;
    if (weighting == GP_BY_TIME &&
        (!duration || !gp_metric_evaluate(duration, device, launch, weight, NULL)))
        return false;
    return isfinite(*weight) && *weight > 0;
}
