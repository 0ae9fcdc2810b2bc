/* The cost of an instrumented pass, learned from those that were made: a part that every pass has
 * and, by kernel, a part that grows with its time. */
#ifndef GPUPROF_COUNTERS_INSTRUMENTING_COST_H
#define GPUPROF_COUNTERS_INSTRUMENTING_COST_H

#include "counters/collector.h"

/* Milliseconds, 0 where not known: the quickest seen. */
struct gp_instrumenting_cost {
    double sass_ms, range_ms;  /* a pass by the SASS metrics, and by the Range Profiler */
    double step_ms, return_ms; /* to go on to the Range Profiler's, and back */
};

/* True when the run may be counted by the SASS metrics, to be compared with others, although the
 * Range Profiler may have to count it as well. Where it is false the known cost counts a little
 * less the next time: it may have been a pass that took long by chance. */
bool gp_is_worth_telling(struct gp_instrumenting_cost *cost, const struct gp_run *run);

/* A pass took so many milliseconds. */
void gp_learn_pass(struct gp_instrumenting_cost *cost, bool by_range, const struct gp_run *run,
                   double took_ms);
/* To go on to the Range Profiler's pass, or back from there, took so many. */
void gp_learn_step(struct gp_instrumenting_cost *cost, bool there, double took_ms);

#endif
