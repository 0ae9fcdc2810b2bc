/* The values that a proposal of thresholds is made from: those that the judge sees, kernel by
 * kernel and run by run. Owns all of it, the judge too. */
#ifndef GPUPROF_CHECK_SUGGEST_VALUES_H
#define GPUPROF_CHECK_SUGGEST_VALUES_H

#include "base/hash.h"
#include "check/judge.h"

/* The rules that may be proposed, in the order of the file. */
enum { GP_SUGGEST_TIME, GP_SUGGEST_TOTAL_TIME, GP_SUGGEST_OTHERS, GP_SUGGEST_MOST = 16 };
struct gp_suggested_rule {
    const char *aggregate; /* "avg"; empty: every launch */
    const char *metric;
};
extern const struct gp_suggested_rule gp_suggested_rules[];

/* One rule in one run. */
struct gp_rule_values {
    uint64_t count; /* launches with a value; without any all else is zero */
    double value;   /* the aggregate */
    double least, most;
    double spread; /* of the launches: a standard deviation */
    bool absent;   /* 'if present' has to stand behind the rule */
};

/* One kernel in one run. */
struct gp_kernel_run {
    struct gp_rule_values of[GP_SUGGEST_MOST];
    uint64_t launches; /* measured or not */
    size_t configurations;
    uint64_t composition; /* a hash of these and of how often each was launched */
    double *seconds;      /* of the measured launches, in ascending order: all, or an even choice */
    size_t seconds_count;
};

struct gp_suggest_kernel {
    UT_hash_handle hh;
    char *name; /* demangled, with parameters */
    struct gp_kernel_run *runs;
    size_t run_count; /* that launched it */
};

struct gp_suggest_values {
    struct gp_metrics *metrics;
    struct gp_thresholds *rules; /* one section with all of gp_suggested_rules that are defined */
    struct gp_judge *judge;      /* is given the runs' launches, see judge.h */
    struct gp_suggest_kernel *kernels;
    bool failed; /* out of memory */
};

/* `m` outlives it. False with lines in `problems` where the definition of a metric does not fit;
 * free in both cases. */
bool gp_suggest_values_open(struct gp_suggest_values *v, struct gp_metrics *m,
                            struct gp_text *problems);
void gp_suggest_values_free(struct gp_suggest_values *v);

/* Ends the last run. False when out of memory. */
bool gp_suggest_values_finish(struct gp_suggest_values *v);

#endif
