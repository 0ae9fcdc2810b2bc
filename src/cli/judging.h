/* Profiles held to thresholds. */
#ifndef GPUPROF_CLI_JUDGING_H
#define GPUPROF_CLI_JUDGING_H

#include "check/thresholds.h"
#include "check/verdict.h"
#include "profile/run_files.h"

/* Judges the profiles, each a run. A profile that cannot be read is a reason not to judge. */
void cli_judge_profiles(const struct gp_thresholds *t, const struct gp_metrics *m,
                        char *const *paths, int count, struct gp_verdict *verdict);

/* Judges the processes of one run that has just been, as cli_judge_profiles does. Where its
 * profiles were not `named` by the user the verdict names the process. */
void cli_judge_run(const struct gp_thresholds *t, const struct gp_metrics *m,
                   const struct gp_run_files *profiles, bool named, struct gp_verdict *verdict);

#endif
