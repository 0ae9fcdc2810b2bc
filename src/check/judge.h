/* Holds kernels to thresholds, launch by launch, in bounded memory: out of profiles, or inside the
 * process that is measured. Owns the values that it keeps.
 *
 * Not locked: the caller lets one thread in at a time. */
#ifndef GPUPROF_CHECK_JUDGE_H
#define GPUPROF_CHECK_JUDGE_H

#include "check/thresholds.h"
#include "check/values.h"
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

/* Measuring ended in the run at hand, for the reason `why`: such a run is never judged as if it
 * were whole. */
void gp_judge_gave_up(struct gp_judge *j, const char *why);

/* A part of the run at hand was to be measured (GPUPROF_WINDOW): where no launch lies in that, it
 * is not judged. */
void gp_judge_windowed(struct gp_judge *j);

/* Begins the next process: its launches, counts and devices follow. */
void gp_judge_process(struct gp_judge *j);
void gp_judge_device(struct gp_judge *j, const struct gp_device *device);
void gp_judge_launch(struct gp_judge *j, const struct gp_record *launch);
void gp_judge_count(struct gp_judge *j, const struct gp_count *count);

/* Says where a kernel (its mangled name) begins in its source; the first word counts. */
void gp_judge_source(struct gp_judge *j, const char *kernel, const char *file, int line);

/* One rule of one kernel in one run, summed up. */
struct gp_summed {
    const char *kernel; /* demangled, with parameters */
    const struct gp_threshold *rule;
    const struct gp_values *values; /* of the launches that have one, sorted */
    double value;                   /* that is held to the rule; 0 where no launch has one */
    bool absent;                    /* a launch has none: 'if present' would let it pass */
    uint64_t launches;              /* of the kernel, measured or not */
    size_t configurations; /* of these; 0 where none of the kernel's rules is for a total */
    uint64_t composition;  /* a hash of the configurations and of how often each was launched */
};

/* `seen` is given each rule of each kernel when a run ends that launched it. */
void gp_judge_observe(struct gp_judge *j, void (*seen)(void *user, const struct gp_summed *s),
                      void *user);

/* Ends the last run without a verdict, where the runs are observed. False when out of memory. */
bool gp_judge_end(struct gp_judge *j);

/* Adds an outcome for each rule and each kernel that it is for. Once, at the end. */
void gp_judge_finish(struct gp_judge *j, struct gp_verdict *verdict);

#endif
