/* A comparison as a verdict, and as a table for people. */
#ifndef GPUPROF_CHECK_COMPARISON_VERDICT_H
#define GPUPROF_CHECK_COMPARISON_VERDICT_H

#include "check/compare.h"
#include "check/verdict.h"

/* `file` is the baseline's name, for messages. */
void gp_comparison_judge(const struct gp_comparison *c, const struct gp_tolerances *rules,
                         const char *file, struct gp_verdict *verdict);

/* Side by side; at most `top` kernels (0: all). */
void gp_comparison_table(const struct gp_comparison *c, const char *name_a, const char *name_b,
                         size_t top, struct gp_text *out);

/* Lines on runs whose launches may not be all: with one there is no judgement, unless the rules
 * (may be NULL) take it as it is. */
void gp_unfinished_judge(const char *lines, const struct gp_tolerances *rules,
                         struct gp_verdict *verdict);

#endif
