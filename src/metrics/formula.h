/* Formulas: text into a tree, the tree computed, the tree printed back. Owns the trees.
 *
 *   sum     = product { ("+" | "-") product }
 *   product = factor { ("*" | "/") factor }
 *   factor  = "-" factor | number | operand | ("min" | "max") "(" sum "," sum ")" | "(" sum ")"
 *   operand = a counter's name (with "__" in it) | device.FACT | launch.FACT | a metric's name */
#ifndef GPUPROF_METRICS_FORMULA_H
#define GPUPROF_METRICS_FORMULA_H

#include "base/text.h"
#include "metrics/facts.h"

#include <stdbool.h>

enum gp_node_kind {
    GP_NODE_NUMBER,
    GP_NODE_COUNTER,
    GP_NODE_FACT,
    GP_NODE_METRIC,
    GP_NODE_NEGATE,
    GP_NODE_ADD,
    GP_NODE_SUBTRACT,
    GP_NODE_MULTIPLY,
    GP_NODE_DIVIDE,
    GP_NODE_MIN,
    GP_NODE_MAX,
};

struct gp_node {
    enum gp_node_kind kind;
    unsigned height; /* 1 for a leaf */
    double number;
    char *name; /* of a counter or metric */
    const struct gp_fact *fact;
    const void *bound; /* made of this one by the code that resolves names; not owned */
    struct gp_node *left, *right;
};

/* NULL with "column N: the mistake" in `why`. */
struct gp_node *gp_formula_parse(const char *text, char *why, size_t why_size);
void gp_formula_free(struct gp_node *node);

/* Parsing the printed text gives the same tree again. */
void gp_formula_print(const struct gp_node *node, struct gp_text *out);

/* Where the values of counters, facts and metrics come from. `value_of` answers 0, or -1 with the
 * reason in `why`. */
struct gp_operands {
    void *user;
    bool (*value_of)(void *user, const struct gp_node *operand, double *value, char *why,
                     size_t why_size);
};

/* Returns true, or false with the reason in `why`: an operand is missing, a division by zero, a
 * result that is no finite number. */
bool gp_formula_evaluate(const struct gp_node *node, const struct gp_operands *operands,
                         double *value, char *why, size_t why_size);

/* Calls visit for every operand; false from it ends the walk, and is the answer. */
bool gp_formula_walk(struct gp_node *node, bool (*visit)(void *user, struct gp_node *operand),
                     void *user);

#endif
