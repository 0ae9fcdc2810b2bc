/* Slow drifts: a metric that gets a little worse from run to run, never so much at once that a
 * comparison sees it. */
#ifndef GPUPROF_CHECK_DRIFT_H
#define GPUPROF_CHECK_DRIFT_H

#include "check/side.h"
#include "check/tolerance.h"
#include "check/verdict.h"

/* History enough for a drift: so many runs are asked for. */
#define GP_DRIFT_RUNS 100

/* Judges the runs of a side in order: durations and counters of the hardware. The last `window`
 * runs are searched, twice as many and so on, and all. A drift for the worse is a violation if it
 * is more than 1.5 times the change that a comparison permits, and goes on: the later half of the
 * runs has a third of its slope at least, so a step that was accepted long ago is none. Rules may
 * be NULL. */
void gp_drift_judge(const struct gp_side *side, size_t window, const struct gp_metrics *m,
                    const struct gp_tolerances *rules, const char *file,
                    struct gp_verdict *verdict);

#endif
