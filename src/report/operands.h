/* The values that the formulas of rules may name besides metrics and facts: how close a kernel is
 * to its bound, and the counts of its instructions. Owns the list of names. */
#ifndef GPUPROF_REPORT_OPERANDS_H
#define GPUPROF_REPORT_OPERANDS_H

#include "metrics/formula.h"

#include <stdbool.h>
#include <stddef.h>

struct gp_rows;
struct gp_row;
struct gp_bound;
struct gp_rules;
struct gp_lines;
struct gp_sequence;
struct gp_sequences;

/* The subject of a rule. */
struct gp_subject {
    const struct gp_rows *rows;
    const struct gp_row *row; /* of one configuration; NULL: the program */
    const struct gp_rules *rules;
    const struct gp_bound *bound;  /* of the row; NULL while it is being found */
    const struct gp_bound *bounds; /* of all groups of `rows`; NULL while they are being found */
    const struct gp_lines *lines;  /* NULL: its instructions were not counted */
    const struct gp_sequence *sequence;   /* that the rule is asked of; NULL: none */
    const struct gp_sequences *sequences; /* all of them; NULL while they are being found */
    double lines_scale; /* a launch of the row to the mean launch of which `lines` has the counts */
};

/* The names, "share" and so on; NULL behind the last. Those of units, "close_dram", are not among
 * them. */
const char *gp_operand_name(size_t i);

/* Its meaning, in one line; NULL behind the last. */
const char *gp_operand_help(size_t i);

/* True where the kernel is of a library or a framework: report/origin.h. */
bool gp_subject_is_ready_made(const struct gp_subject *subject);

/* Computes a formula for the subject. True with *value, or false with the reason in `why`. */
bool gp_subject_evaluate(const struct gp_subject *subject, const struct gp_node *formula,
                         double *value, char *why, size_t why_size);

#endif
