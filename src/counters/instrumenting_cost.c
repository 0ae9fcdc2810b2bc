/* The cost of an instrumented pass, learned from those that were made: a part that every pass has
 * and, by kernel, a part that grows with its time. */
#include "counters/inside.h"

#include <limits.h>
#include <math.h>

/* Guesses until a kernel has been seen: how many times slower instrumented code is that tells
 * launches apart, and that of the Range Profiler. */
#define SASS_SLOWDOWN 15.0
#define RANGE_SLOWDOWN 25.0
/* So many times the cost of the Range Profiler's pass may be spent on a fingerprint. */
#define WORTH_TELLING 2
/* Milliseconds that a launch takes to be measured without instrumented code, beside the kernel; and
 * the part of that time that may be added to compare some. */
#define MEASURED_MS 2.0
#define TELLING_PART 10
/* The part of a cost that remains, each time that a launch is not compared because of it. */
#define FADES 0.97
/* Guesses of the cost of such a pass beside the kernel, in milliseconds, and of the way to the
 * Range Profiler's pass and back. */
#define SASS_PASS_MS 0.3
#define RANGE_PASS_MS 1.0
#define STEP_MS 20.0

/* Milliseconds from which on an instrumented pass takes long; and from which on many of them do:
 * one that is shorter takes no longer than the rest of a launch's measurement. */
#define LONG_MS 100.0
#define NOT_SHORT_MS 10.0
/* All that are not short may take so many times more of the time than those that take long. */
#define MORE_TIMES 2

static double or_guess(double learned, double guess)
{
    return learned > 0 ? learned : guess;
}

double expected_fingerprint_ms(const struct gp_instrumenting_cost *cost, const struct gp_run *run)
{
    return or_guess(cost->sass_ms, SASS_PASS_MS) +
           run->native_ms * or_guess(run->cost->sass, SASS_SLOWDOWN);
}

/* The way there and back, which is most of a short kernel's pass, is one for many launches. A
 * kernel that was slow in one kind of instrumented code is so in the other. */
double expected_range_ms(const struct gp_instrumenting_cost *cost, const struct gp_run *run)
{
    double guess = fmax(RANGE_SLOWDOWN, run->cost->sass);
    return or_guess(cost->range_ms, RANGE_PASS_MS) +
           run->native_ms * or_guess(run->cost->range, guess);
}

static double expect_range(const struct gp_instrumenting_cost *cost, const struct gp_run *run)
{
    return or_guess(cost->step_ms, STEP_MS) + or_guess(cost->return_ms, STEP_MS) +
           expected_range_ms(cost, run);
}

bool fingerprint_pays(struct gp_instrumenting_cost *cost, const struct gp_run *run)
{
    if (expected_fingerprint_ms(cost, run) <= WORTH_TELLING * expect_range(cost, run))
        return true;
    cost->sass_ms *= FADES;
    run->cost->sass *= FADES;
    return false;
}

unsigned launches_to_one_telling(const struct gp_instrumenting_cost *cost, const struct gp_run *run)
{
    double launches = TELLING_PART * expected_fingerprint_ms(cost, run) /
                      (MEASURED_MS + 2 * fmax(run->native_ms, 0));
    return launches < UINT_MAX ? (unsigned)launches : UINT_MAX;
}

void cost_spend(struct gp_instrumenting_cost *cost, double ms)
{
    if (ms > LONG_MS)
        cost->long_ms += ms;
    if (ms > NOT_SHORT_MS)
        cost->not_short_ms += ms;
}

void cost_give_back(struct gp_instrumenting_cost *cost, double ms)
{
    if (ms > LONG_MS)
        cost->long_ms -= ms;
    if (ms > NOT_SHORT_MS)
        cost->not_short_ms -= ms;
}

bool cost_is_too_long(const struct gp_instrumenting_cost *cost, const struct gp_run *run,
                      unsigned times)
{
    double longer = fmax(expected_range_ms(cost, run), expected_fingerprint_ms(cost, run));
    if (run->native_ms <= 0)
        longer = run->cost->last_ms;
    if (run->most_long_ms <= 0)
        return false;
    return (longer > LONG_MS && cost->long_ms >= times * run->most_long_ms) ||
           (longer > NOT_SHORT_MS &&
            cost->not_short_ms >= (times + MORE_TIMES) * run->most_long_ms);
}

static void learn_least(double *least_ms, double took_ms)
{
    if (*least_ms <= 0 || took_ms < *least_ms)
        *least_ms = took_ms;
}

/* The kernel's own cost becomes a value between the known one and the one seen now, so that one odd
 * launch does not decide. */
void cost_learn_pass(struct gp_instrumenting_cost *cost, bool by_range, const struct gp_run *run,
                     double took_ms)
{
    double *pass_ms = by_range ? &cost->range_ms : &cost->sass_ms;
    double *slowdown = by_range ? &run->cost->range : &run->cost->sass;
    run->cost->last_ms = took_ms;
    if (run->native_ms <= 0)
        return;
    learn_least(pass_ms, took_ms);
    double seen = (took_ms - *pass_ms) / run->native_ms;
    *slowdown = *slowdown > 0 ? (*slowdown + seen) / 2 : seen;
}

void cost_learn_step(struct gp_instrumenting_cost *cost, bool there, double took_ms)
{
    learn_least(there ? &cost->step_ms : &cost->return_ms, took_ms);
}
