/* Profiles held to thresholds. */
#ifndef GPUPROF_CLI_JUDGING_H
#define GPUPROF_CLI_JUDGING_H

#include "check/thresholds.h"
#include "check/verdict.h"

/* Judges all the profiles together. A profile that cannot be read is a reason not to judge. */
void cli_judge_profiles(const struct gp_thresholds *t, const struct gp_metrics *m,
                        char *const *paths, int count, struct gp_verdict *verdict);

#endif
