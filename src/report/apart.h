/* Launches of autotuners, which a report keeps apart from those of the program's own work: tries,
 * and kernels that accompany them. docs/decisions.md has the evidence that is asked for. */
#ifndef GPUPROF_REPORT_APART_H
#define GPUPROF_REPORT_APART_H

#include "report/summary.h"

#include <stdbool.h>

/* Whether the kernel, by its symbol, is one that XLA launches to try others, and for nothing else.
 */
bool gp_is_of_xla_tuner(const char *kernel);

/* Sets apart[i] for each of the groups that is of an autotuner; never for all. Returns true, or
 * false when out of memory. */
bool gp_apart_find(const struct gp_summary *s, const struct gp_group *const *groups, size_t count,
                   bool *apart);

#endif
