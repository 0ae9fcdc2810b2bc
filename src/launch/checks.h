/* GPUPROF_CHECK: holds the launches of this process to thresholds; the verdict stands behind the
 * report. Owns the thresholds and the values seen.
 *
 * Not locked: the session lets one thread in at a time. Without GPUPROF_CHECK nothing here does
 * anything. */
#ifndef GPUPROF_LAUNCH_CHECKS_H
#define GPUPROF_LAUNCH_CHECKS_H

#include "base/text.h"
#include "metrics/metrics.h"
#include "report/sources.h"

#include <stdbool.h>

/* Reads the file that GPUPROF_CHECK names. The metrics of its rules are selected beside the others.
 * After a message on a mistake nothing is checked. */
void checks_open(struct gp_metrics *m);

/* True where `gpuprof --check` judges by a profile that the user did not ask for. */
bool checks_need_profile(void);

void checks_device(const struct gp_device *device);
void checks_launch(const struct gp_record *launch);
void checks_count(const struct gp_count *count);
void checks_give_up(const char *why);

/* Appends the verdict. Once, at the end. The sources (may be NULL) say where kernels begin. */
void checks_report(const struct gp_sources *sources, struct gp_text *out);

#endif
