/* Holds kernels to thresholds, launch by launch, in bounded memory: out of profiles, or inside the
 * process that is measured. Owns the values that it keeps.
 *
 * Not locked: the caller lets one thread in at a time. */
#ifndef GPUPROF_CHECK_JUDGE_H
#define GPUPROF_CHECK_JUDGE_H

#include "check/thresholds.h"
#include "check/verdict.h"
#include "profile/record.h"

#define GP_JUDGE_MOST_KERNELS 4096

struct gp_judge;

/* The thresholds and metrics must outlive it. NULL when out of memory. */
struct gp_judge *gp_judge_new(const struct gp_thresholds *t, const struct gp_metrics *m);
void gp_judge_free(struct gp_judge *j);

/* Begins the next run, which is judged by itself; its processes follow. With one run only this
 * need not be called. */
void gp_judge_run(struct gp_judge *j, const char *name);

/* The run at hand may have had more launches than those that come: a rule that they could break, or
 * fulfil, is not judged. `why` is a literal. */
void gp_judge_unfinished(struct gp_judge *j, const char *why);

/* The same where measuring ended, and why: such a run is never judged as if it were whole. */
void gp_judge_gave_up(struct gp_judge *j, const char *why);

/* Begins the next process: its launches, counts and devices follow. */
void gp_judge_process(struct gp_judge *j);
void gp_judge_device(struct gp_judge *j, const struct gp_device *device);
void gp_judge_launch(struct gp_judge *j, const struct gp_record *launch);
void gp_judge_count(struct gp_judge *j, const struct gp_count *count);

/* Says where a kernel (its mangled name) begins in its source; the first word counts. */
void gp_judge_source(struct gp_judge *j, const char *kernel, const char *file, int line);

/* Adds an outcome for each rule and each kernel that it is for. Once, at the end. */
void gp_judge_finish(struct gp_judge *j, struct gp_verdict *verdict);

#endif
