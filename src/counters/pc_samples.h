/* PC sampling: the hardware notes every so many cycles at which instruction a warp is, and why it
 * is there. A launch takes three milliseconds more than by itself for thousands of samples. Owns
 * the sampling in CUPTI, which is one for the process.
 *
 * CUPTI samples in no process in which the Range Profiler is enabled, and behind ranges it gives
 * the samples of no module any more, until it is finalized, as where it is detached
 * (counters/attachment.c). docs/decisions.md has the measurements.
 *
 * Used with the gate locked and the context current, which is idle; one thread at a time. */
#ifndef GPUPROF_COUNTERS_PC_SAMPLES_H
#define GPUPROF_COUNTERS_PC_SAMPLES_H

#include "base/cause.h"
#include "counters/run.h"
#include "cuda/driver.h"

#include <stdbool.h>
#include <stdint.h>

/* From here to gp_pc_samples_close no collection has a session, and none comes; with `last` none
 * will. False with the reason in *why. */
bool gp_pc_samples_open(CUcontext context, bool last, struct gp_reason *why);
void gp_pc_samples_close(CUcontext context);

/* A kernel runs on, or the context has failed: CUPTI goes on sampling, and no session may come any
 * more. */
void gp_pc_samples_abandon(void);

/* The binary logarithm of the cycles between two samples of an SM, for a launch that takes so many
 * cycles on so many SMs (those without blocks have no samples): some ten thousand samples come, or
 * fewer of a short launch. */
unsigned gp_pc_samples_period(double cycles, unsigned sms);

/* How many samples come of one run of it. */
double gp_pc_samples_of_run(double cycles, unsigned sms);

/* Around one run of the launch; end: the run has ended. It adds the samples to the counts of the
 * kernel's instructions; how many in *samples. */
bool gp_pc_samples_begin(CUcontext context, unsigned period, struct gp_reason *why);
bool gp_pc_samples_end(CUcontext context, const struct gp_run *run, int cc, uint64_t *samples,
                       struct gp_reason *why);

#endif
