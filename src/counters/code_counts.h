/* The counts of each kernel's instructions so far, over all its launches whose instructions were
 * counted, and the cubin that they stand in. Owns both, which are bounded. Used with the gate
 * closed, one thread at a time. */
#ifndef GPUPROF_COUNTERS_CODE_COUNTS_H
#define GPUPROF_COUNTERS_CODE_COUNTS_H

#include "profile/code_counts.h"

#include <stdbool.h>

struct gp_run;

/* No launch of the run's kernel is counted: only its code is given. The same. */
bool gp_code_counts_note(const struct gp_run *run, int cc);

/* Gives each kernel, those of one name with different code one after the other, and before it its
 * cubin where there is one; one of which nothing was counted only with a cubin. Their arguments
 * live until they return. */
void gp_code_counts_visit(void (*take_cubin)(void *user, const struct gp_cubin_image *cubin),
                          void (*take)(void *user, const struct gp_code_counts *source),
                          void *user);

/* From now on sessions that compare launches count every instruction beside, for the lines of
 * the source. */
void gp_sass_sessions_count_instructions(void);

#endif
