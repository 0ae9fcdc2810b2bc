/* The counts of each kernel's instructions so far, over all its launches whose instructions were
 * counted, and the cubin that they stand in. Owns both, which are bounded. Used with the gate
 * closed, one thread at a time. */
#ifndef GPUPROF_COUNTERS_CODE_COUNTS_H
#define GPUPROF_COUNTERS_CODE_COUNTS_H

#include "counters/collector.h"
#include "profile/code_counts.h"

#include <stdbool.h>

/* A launch of the run's kernel was counted, and these kinds of it (a bit mask). False where nothing
 * is to be added: there are too many kernels, or no memory. */
bool code_counts_begin(const struct gp_run *run, int cc, unsigned kinds);

/* No launch of the run's kernel is counted: only its code is given. The same. */
bool gp_code_counts_note(const struct gp_run *run, int cc);

/* Adds the counts of one instruction of that launch. */
void code_counts_add(const char *function, uint32_t offset, enum gp_count_kind kind,
                     uint64_t value);

/* The kind that a base metric counts; GP_COUNT_KINDS for all others. */
enum gp_count_kind count_kind_of(const char *base_metric);

/* Gives each kernel, those of one name with different code one after the other, and before it its
 * cubin where there is one; one of which nothing was counted only with a cubin. Their arguments
 * live until they return. */
void gp_code_counts_visit(void (*take_cubin)(void *user, const struct gp_cubin_image *cubin),
                          void (*take)(void *user, const struct gp_code_counts *source),
                          void *user);

#endif
