/* Two sides compared, kernel by kernel and metric by metric. Owns the comparison, not the sides. */
#ifndef GPUPROF_CHECK_COMPARE_H
#define GPUPROF_CHECK_COMPARE_H

#include "check/kinds.h"
#include "check/match.h"
#include "check/statistics.h"
#include "check/tolerance.h"

enum gp_change_kind {
    GP_CHANGE_NONE,
    GP_CHANGE_WORSE,
    GP_CHANGE_BETTER,
    GP_CHANGE_OTHER,   /* neither: it cannot be said which way is better */
    GP_CHANGE_FOLLOWS, /* a rate that changed as the time it is taken over did */
    GP_CHANGE_REFUSED, /* not compared: `why` says it */
};

struct gp_change {
    enum gp_change_kind kind;
    const struct gp_metric *metric;
    double from, to;  /* medians */
    double relative;  /* the shift over `from` */
    double threshold; /* relative: more than this is a change */
    bool tested;      /* by statistics, see statistics.h; else by the tolerance alone */
    unsigned freedom;
    double detectable; /* relative: the smallest change that the test finds */
    size_t runs_a, runs_b;
    const char *why;         /* a literal, or a string of the sides */
    struct gp_reason reason; /* that of a metric without a value, without the counter's name */
    bool
        named; /* a rule limits it by its name: it is judged, also where it follows from the time */
    bool missing; /* not compared: side b should have a value, and has none */
};

struct gp_pair {
    struct gp_match match;
    /* It is the same kernel with the same work, as far as can be known. Changes of others are for
     * people to read, and no judgement follows from them. */
    bool judged;
    struct gp_change *changes; /* of the metrics that side a has of it */
    size_t count;
    double seconds_a, seconds_b; /* of its launches in one run; 0: not known */
};

struct gp_comparison {
    const struct gp_side *a, *b;
    bool other_gpu;        /* not the same model */
    bool other_capability; /* nor the same compute capability: not the same machine code */
    struct gp_pair *pairs; /* the one whose time changed most first */
    size_t count;
    size_t compared;                 /* metrics of kernels that are judged */
    double smallest_duration_change; /* relative: that the test can find; median over kernels */
};

/* Rules may be NULL. False when out of memory; free in both cases. */
bool gp_compare(const struct gp_side *a, const struct gp_side *b, const struct gp_metrics *m,
                const struct gp_tolerances *rules, struct gp_comparison *c);
void gp_comparison_free(struct gp_comparison *c);

#endif
