/* The bounds of a proposal: of a rule that runs of a kernel have values of, the bound that runs of
 * an unchanged program keep to, and the change that it finds. */
#ifndef GPUPROF_CHECK_SUGGEST_BOUNDS_H
#define GPUPROF_CHECK_SUGGEST_BOUNDS_H

#include "check/suggest_values.h"

struct gp_bounds_asked {
    const struct gp_metrics *metrics;
    const struct gp_device *device;
    double margin; /* the least margin for values that vary: 0.1 of 10 % */
    double tick;   /* of the clock, in seconds */
};

enum gp_suggested_kind {
    GP_SUGGESTED_NONE,     /* there is no value, or no bound that says anything */
    GP_SUGGESTED_FOUND,    /* a line for the file */
    GP_SUGGESTED_LEFT_OUT, /* its margin would be as large as the value itself */
};

struct gp_suggested_bound {
    enum gp_suggested_kind kind;
    char aggregate[8]; /* of the rule: "median", "p95"; empty: every launch */
    bool at_most;      /* else at least */
    double bound;      /* not rounded */
    bool exact;        /* the value of each of several runs, which agree */
    bool if_present;
    size_t runs; /* with a value; of these the extremes and the mean, of one number a run: */
    double least, most, middle;
    double margin; /* relative to the middle */
    double finds;  /* relative: a change that breaks the bound in 95 of 100 runs */
};

/* Finds the bound for a rule of gp_suggested_rules from GP_SUGGEST_OTHERS on. */
void gp_suggest_bound(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                      size_t rule, struct gp_suggested_bound *b);

/* Finds the bound for the kernel's time: for the median of its launches; for a kernel with several
 * configurations for their total, where they are launched equally often in each run, else for the
 * percentile where half of the time is spent in quicker launches. */
void gp_suggest_time(const struct gp_bounds_asked *asked, const struct gp_suggest_kernel *k,
                     struct gp_suggested_bound *b);

/* Whether each run, of several, launched the same configurations equally often. */
bool gp_suggest_repeats(const struct gp_suggest_kernel *k);

/* The kernel's mean time of all launches in a run, in seconds; 0: not known. */
double gp_suggest_seconds(const struct gp_suggest_kernel *k);

/* The step of the clock, as the times of all kernels show it, in seconds; 0 where they have none.
 * Where they are too few to show it, it is the one that CUDA's manual gives, if that can be. */
double gp_suggest_tick(const struct gp_suggest_values *v, bool *shown);

#endif
