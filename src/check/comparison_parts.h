/* The words of a comparison, for comparison_verdict.c and comparison_table.c only. */
#ifndef GPUPROF_CHECK_COMPARISON_PARTS_H
#define GPUPROF_CHECK_COMPARISON_PARTS_H

#include "check/comparison_verdict.h"

/* "+5.4 %", "from 0" */
void gp_format_relative(double relative, char *out, size_t size);

/* Whether both sides have registers and shared memory to compare. */
bool gp_resources_are_known(const struct gp_side_kernel *a, const struct gp_side_kernel *b);

/* "registers 40, was 16" where they differ, behind "; " where text is there already. */
void gp_add_number_change(struct gp_text *text, const char *what, unsigned now, unsigned before);
/* Adds the differences in grid, block and shared memory of the two of a match, each as
 * gp_add_number_change does. */
void gp_add_configuration_change(struct gp_text *text, const struct gp_match *match);

double gp_launches_in_a_run(const struct gp_side_kernel *s);

/* The name of a side's GPU. */
const char *gp_side_gpu(const struct gp_side *side);

/* Lines on the way in which it was compared. */
void gp_add_method(const struct gp_comparison *c, struct gp_text *notes);

#endif
