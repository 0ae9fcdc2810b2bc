/* A judge from within: judge.c holds launches to rules, judge_verdict.c makes the verdict of that.
 * Only for these. */
#ifndef GPUPROF_CHECK_JUDGE_PARTS_H
#define GPUPROF_CHECK_JUDGE_PARTS_H

#include "base/hash.h"
#include "check/counters.h"
#include "check/judge.h"
#include "check/values.h"

/* One rule held to one kernel. */
struct gp_trial {
    const struct gp_section *section;
    const struct gp_threshold *rule;
    struct gp_values values; /* of the launches that have one */
    uint64_t violated;
    double worst; /* of those that violate, or of all for an extreme */
    uint64_t worst_launch;
    uint64_t absent, elsewhere;
    uint64_t absent_launch;
    char *absent_why;
};

struct gp_judged_kernel {
    UT_hash_handle hh;
    char *mangled;
    struct gp_kernel_names names;
    uint64_t launches;          /* of processes that are over */
    uint64_t recorded, counted; /* of the process at hand */

    char *source;
    int source_line;
    struct gp_trial *trials;
    size_t trial_count;
};

struct gp_judge {
    const struct gp_thresholds *thresholds;
    const struct gp_metrics *metrics;
    struct gp_device *devices[GP_MAX_DEVICES];
    struct gp_renaming renaming;
    struct gp_judged_kernel *kernels; /* in order of their first launches */
    uint64_t unjudged;                /* launches of kernels beyond the most */
    bool failed;                      /* out of memory */
};

/* A process is over: its launches count. */
void gp_judge_end_process(struct gp_judge *j);

#endif
