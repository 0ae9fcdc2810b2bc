/* A judge from within: judge.c holds launches to rules, judge_run.c sums a run up, judge_verdict.c
 * makes the verdict of that. Only for these. */
#ifndef GPUPROF_CHECK_JUDGE_PARTS_H
#define GPUPROF_CHECK_JUDGE_PARTS_H

#include "base/hash.h"
#include "check/counters.h"
#include "check/judge.h"
#include "check/values.h"
#include "profile/devices.h"

/* One rule held to one kernel in the run at hand. */
struct gp_trial_of_run {
    struct gp_values values; /* of the launches that have one */
    double weighted, weight; /* sums of value times weight, and of weights; of a mean alone */
    uint64_t violated;
    double worst;
    uint64_t worst_launch;
    uint64_t absent;
};

/* One rule held to one kernel. */
struct gp_trial {
    const struct gp_section *section;
    const struct gp_threshold *rule;
    struct gp_trial_of_run now;
    size_t same;    /* the first trial of the kernel that is about this metric; itself for one */
    bool has_value; /* of the launch at hand, where it is the first */
    double value;

    /* Over all runs that launched the kernel. */
    size_t measured_runs, violated_runs, empty_runs; /* empty: without a value */
    uint64_t launches, violated;                     /* with a value; of them, with a wrong one */
    double worst;                                    /* of a violation, where there is one */
    uint64_t worst_launch;
    size_t worst_run;
    bool worst_violates;
    uint64_t absent, elsewhere;
    uint64_t absent_launch;
    size_t absent_run;
    char *absent_why;
    bool unproven; /* launches that a run may have had besides could change the outcome */
};

/* The launches of a kernel in one configuration: those with a value stand for the others. */
struct gp_judged_shape {
    UT_hash_handle hh;
    struct gp_shape_key {
        int device;
        struct gp_configuration configuration;
    } key;                      /* no padding: it is compared bytewise */
    uint64_t launches;          /* of the run's processes that are over */
    uint64_t recorded, counted; /* of the process at hand */
    struct gp_shape_values {
        double sum;
        uint64_t count;
        double weighted, weight; /* as in struct gp_trial_of_run */
    } values[];                  /* of each trial of the kernel */
};

struct gp_judged_kernel {
    UT_hash_handle hh;
    char *mangled;
    struct gp_kernel_names names;
    uint64_t launches;          /* of the run's processes that are over */
    uint64_t recorded, counted; /* of the process at hand */
    size_t unfinished_runs;     /* with a launch of it */

    char *source;
    int source_line;
    struct gp_trial *trials;
    size_t trial_count;
    bool stands_for_others;         /* a rule is about all launches, also those without a value */
    struct gp_judged_shape *shapes; /* in the run at hand, where it has */
};

struct gp_judge {
    const struct gp_thresholds *thresholds;
    const struct gp_metrics *metrics;
    struct gp_devices devices; /* of the process at hand */
    struct gp_renaming renaming;
    struct gp_judged_kernel *kernels; /* in order of their first launches */
    char **runs;                      /* their names, the run at hand last; none: it has no name */
    size_t run_count;
    bool unfinished;                        /* the run at hand */
    bool windowed;                          /* the same: it has a window */
    size_t unfinished_count;                /* of the runs that are over */
    struct gp_text unfinished_runs;         /* a line for each */
    struct gp_text given_up;                /* a line for each process that was not measured */
    uint64_t *violations, *most_violations; /* by section: in the run at hand; in the worst run */
    uint64_t unjudged;                      /* launches of kernels beyond the most */
    size_t shape_count;
    void (*seen)(void *user, const struct gp_summed *s); /* NULL: nobody asks */
    void *user;                                          /* its first argument */
    bool failed;                                         /* out of memory */
};

#define GP_JUDGE_MOST_KEPT 16384  /* values of one rule, kernel and run, for quantiles */
#define GP_JUDGE_MOST_SHAPES 4096 /* of all kernels; launches beyond them are of one shape */

/* How far a value is on the wrong side; more is worse. */
double gp_badness(enum gp_relation relation, double value, double bound);

/* Forgets the shapes of a kernel. */
void gp_judge_free_shapes(struct gp_judge *j, struct gp_judged_kernel *k);

/* Notes it where the run at hand has a window, and its processes no launch in it. */
void gp_judge_note_empty_window(struct gp_judge *j);

/* The run at hand is over, and its last process: its outcomes count. */
void gp_judge_end_run(struct gp_judge *j);

/* All runs are over. */
void gp_judge_add_outcomes(struct gp_judge *j, struct gp_verdict *verdict);

#endif
