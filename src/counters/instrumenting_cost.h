/* The cost of an instrumented pass, learned from those that were made: a part that every pass has
 * and, by kernel, a part that grows with its time. */
#ifndef GPUPROF_COUNTERS_INSTRUMENTING_COST_H
#define GPUPROF_COUNTERS_INSTRUMENTING_COST_H

#include "counters/collector.h"

/* Milliseconds, 0 where not known: the quickest seen. */
struct gp_instrumenting_cost {
    double sass_ms, range_ms;  /* a pass by the SASS metrics, and by the Range Profiler */
    double step_ms, return_ms; /* to go on to the Range Profiler's, and back */
    double long_ms;            /* spent on passes that take long */
    double not_short_ms;       /* on these, and on those that would take long if there were many */
};

/* True when the run may be counted by the SASS metrics, to be compared with others, although the
 * Range Profiler may have to count it as well. Where it is false the known cost counts a little
 * less the next time: it may have been a pass that took long by chance. */
bool fingerprint_pays(struct gp_instrumenting_cost *cost, const struct gp_run *run);

/* Launches like this one of which one may be counted by the SASS metrics, to be compared with
 * others, so that it takes a tenth of the time that all of them take to be measured. */
unsigned launches_to_one_telling(const struct gp_instrumenting_cost *cost,
                                 const struct gp_run *run);

/* Milliseconds that it is expected to take by the SASS metrics. */
double expected_fingerprint_ms(const struct gp_instrumenting_cost *cost, const struct gp_run *run);
/* Milliseconds that the run is expected to take in the Range Profiler's pass, once that is there.
 */
double expected_range_ms(const struct gp_instrumenting_cost *cost, const struct gp_run *run);

/* So much is spent on a pass, or will be; or that pass is not made. */
void cost_spend(struct gp_instrumenting_cost *cost, double ms);
void cost_give_back(struct gp_instrumenting_cost *cost, double ms);

/* True where an instrumented pass of the run is expected to take long, and those that took long
 * have together taken so many times the time that the run allows (gp_run); or where it is not
 * expected to be short, and all that were not have taken two times more of it. */
bool cost_is_too_long(const struct gp_instrumenting_cost *cost, const struct gp_run *run,
                      unsigned times);

/* A pass took so many milliseconds. */
void cost_learn_pass(struct gp_instrumenting_cost *cost, bool by_range, const struct gp_run *run,
                     double took_ms);
/* To go on to the Range Profiler's pass, or back from there, took so many. */
void cost_learn_step(struct gp_instrumenting_cost *cost, bool there, double took_ms);

#endif
