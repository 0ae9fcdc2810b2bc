/* The limit to the time that measuring adds: the time spent so far, the time that steps are
 * predicted to take, and whether one may begin. Owns the predictions. From any thread.
 *
 * Spent is, start-up apart, the wall time in which the program is held up (base/added_time.h), the
 * GPU's work of ours beside it, and the overlap that was lost, at most, as launches were waited
 * for. */
#ifndef GPUPROF_LAUNCH_LIMIT_H
#define GPUPROF_LAUNCH_LIMIT_H

#include "base/overhead.h"
#include "launch/worth.h"

#include <stdbool.h>

/* The seconds that a step takes, as learned of those before: a mean in which newer ones count more,
 * and the mean distance from it. All zero is no prediction. */
struct gp_prediction {
    double mean, distance;
    unsigned count;
};
void gp_prediction_learn(struct gp_prediction *p, double seconds);
/* The most that the next step may take, as far as that can be known. */
double gp_prediction_most(const struct gp_prediction *p);

/* The steps that cannot be divided. */
enum gp_limit_step {
    GP_LIMIT_LAUNCH, /* a launch: its copies and waits, and its passes in a drain */
    GP_LIMIT_KERNEL, /* the first passes of a kernel: it is instrumented */
    GP_LIMIT_DRAIN,  /* a drain, but for the passes of its launches */
    GP_LIMIT_SWITCH, /* the session goes to another context */
    GP_LIMIT_GRAPH,  /* a graph is launched by nodes, for each node */
    GP_LIMIT_TIMING, /* two events around a launch */
    GP_LIMIT_STEPS
};

/* Until this is said there is no limit. Before the first launch. */
void limit_start(const struct gp_overhead *overhead);

/* True where there is a limit. */
bool limit_is_set(void);
/* True while all is measured that can be: there is no limit, or the default one was not reached. */
bool limit_takes_all(void);
/* The default limit is reached: from here on it is a share. Says so, once. */
void limit_is_reached(void);

/* The money for gp_worth_choose. */
struct gp_money limit_money(void);
/* Whether so many seconds may be spent now, beside the drains to come. */
bool limit_permits(double seconds);
/* Whether a drain may go on, which has begun, with a step that takes so long. */
bool limit_permits_in_drain(double seconds);

double limit_predicts(enum gp_limit_step step);
double limit_usual(enum gp_limit_step step);
void limit_took(enum gp_limit_step step, double seconds);

/* Launches wait for a drain, or do not any more; and a kernel of one is to be instrumented there.
 */
void limit_promise(int launches);
void limit_promise_kernel(void);
/* A drain of so many launches took so long, beside their passes. */
void limit_drained(unsigned launches, double seconds);
/* Launches that share a drain, in the mean. */
double limit_usual_batch(void);

/* A launch is made into that stream. */
void limit_notes_stream(const void *stream);

/* Fills in the members of the limit, where there is one that was given, or was reached. The first
 * answer stands: the report that comes behind it is no step. */
struct gp_end;
void limit_sum_up(struct gp_end *end);

#endif
