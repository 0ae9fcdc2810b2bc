/* Profiles held to thresholds. */
#ifndef GPUPROF_CLI_JUDGING_H
#define GPUPROF_CLI_JUDGING_H

#include "check/thresholds.h"
#include "check/verdict.h"

/* Judges the profiles, each a run. A profile that cannot be read is a reason not to judge. With
 * `by_process` the verdict names a run's process, not its profile. */
void cli_judge_profiles(const struct gp_thresholds *t, const struct gp_metrics *m,
                        char *const *paths, int count, bool by_process, struct gp_verdict *verdict);

#endif
