/* The diagnosis of kernels: samples of the instructions at which their warps are, and why
 * (counters/pc_samples.h). It is taken in a drain, of launches that are held: one of each kernel
 * that was not sampled yet. CUPTI counts nothing meanwhile.
 *
 * By default it is taken where it is a small part of the time that measuring took, of the kernels
 * that take most of the time of a batch: in the last act of the process, or where they take half of
 * it. With --diagnosis full every kernel that can be replayed is sampled. Used with the gate
 * locked.
 */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "counters/pc_samples.h"
#include "gate/waits.h"

#include <math.h>
#include <stdlib.h>

/* Kernels of one drain. */
#define MOST_KERNELS 64
/* A kernel with less of the time of its batch is left out, but for --diagnosis full. */
#define LEAST_SHARE 0.01
/* A launch is sampled again until it has so many samples, so often at most. */
#define ENOUGH_SAMPLES 8000
#define MOST_RUNS 4

/* A batch is sampled, before the last act of the process, where kernels that were not sampled yet
 * take so much of its time. */
#define LEAST_NEW 0.5

/* Seconds, by docs/decisions.md: to begin and end; to count again; for a run beside the kernel's
 * own time and that of its copies. */
#define LAST_ACT 0.15
#define COUNT_AGAIN 0.25
#define EACH_RUN 0.005

/* The part of the time that measuring takes which it may take; and seconds beside, in a process
 * that has run so long. */
#define MOST_OF_MEASURING 0.1
#define LONG_PROCESS 10.0
#define MORE_IN_LONG_PROCESS 0.3

static struct {
    bool over; /* CUPTI refused it */
    const struct gp_context *last;
    double spent;
} diagnosis;

void diagnosis_last_context(const struct gp_context *c)
{
    diagnosis.last = c;
}

/* ---- launches -------------------------------------------------------------------------------- */

struct chosen {
    struct gp_measurement *launch; /* the longest of its kernel */
    double ms;                     /* of all launches of the kernel in the batch */
};

static bool may_be_sampled(const struct gp_measurement *m)
{
    return m->member.state != GP_LAUNCH_LAUNCHED && m->member.state != GP_LAUNCH_GIVEN_UP &&
           m->runs > 0 && m->member.run.native_ms > 0 && !m->broken_off.cause &&
           !m->member.run.unsure && !tally_kernel_is(m->kernel->name, GP_KERNEL_DIAGNOSED);
}

/* By kernel, those with most of the time first. */
static int compare(const void *x, const void *y)
{
    const struct chosen *a = x, *b = y;
    return (a->ms < b->ms) - (a->ms > b->ms);
}

static size_t choose(const struct gp_context *c, struct chosen list[MOST_KERNELS], double *all_ms)
{
    size_t count = 0;
    *all_ms = 0;
    for (struct gp_measurement *m = held_first(c); m; m = held_next(m)) {
        const double ms = m->member.run.native_ms;
        size_t i = 0;
        *all_ms += ms;
        if (!measurement_waits(m) || !may_be_sampled(m))
            continue;
        while (i < count && list[i].launch->kernel != m->kernel)
            i++;
        if (i == MOST_KERNELS)
            continue;
        if (i == count)
            list[count++] = (struct chosen){.launch = m};
        list[i].ms += ms;
        if (ms > list[i].launch->member.run.native_ms)
            list[i].launch = m;
    }
    if (count > 0)
        qsort(list, count, sizeof(*list), compare);
    return count;
}

/* ---- time ------------------------------------------------------------------------------------ */

static double seconds_of(const struct gp_measurement *m)
{
    return EACH_RUN + 1e-3 * m->member.run.native_ms + 1e-11 * (double)gp_held_copy_bytes(m->copy);
}

static double left(void)
{
    const double measuring = gp_added_seconds() - gp_added_parts().start_up - diagnosis.spent;
    const double more = gp_process_seconds() > LONG_PROCESS ? MORE_IN_LONG_PROCESS : 0;
    return MOST_OF_MEASURING * measuring + more - diagnosis.spent;
}

/* So many of the launches as there is time for; without a limit all. */
static size_t within_time(const struct gp_context *c, const struct chosen *list, size_t count,
                          double all_ms)
{
    const bool full = user_settings.diagnosis == GP_DIAGNOSIS_FULL, last = c == diagnosis.last;
    const double most = full ? INFINITY : left();
    double seconds = LAST_ACT + (last ? 0 : COUNT_AGAIN), ms = 0;
    size_t n = 0;
    for (; n < count && (full || list[n].ms >= LEAST_SHARE * all_ms); n++) {
        seconds += seconds_of(list[n].launch);
        if (seconds > most || !limit_permits(seconds))
            break;
        ms += list[n].ms;
    }
    return full || last || ms >= LEAST_NEW * all_ms ? n : 0;
}

/* ---- samples --------------------------------------------------------------------------------- */

static double cycles_of(const struct gp_measurement *m)
{
    return m->member.run.native_ms * m->context->device.clock_khz;
}

/* NOT_THIS: the launch cannot run again, which is no matter of others. */
enum outcome { SAMPLED, NOT_THIS, NO_MORE };

/* Our own kernels, which put memory in place, have ended when sampling begins. */
static enum outcome sample_run(struct gp_measurement *m, uint64_t *samples, struct gp_reason *why)
{
    struct gp_context *c = m->context;
    const struct gp_device *device = &c->device;
    const struct gp_run *run = &m->member.run;
    const unsigned period = gp_pc_samples_period(cycles_of(m), (unsigned)device->sm_count);
    double waited;
    if (!rewind_memory(m, false))
        return NOT_THIS;
    if (run->empty_caches)
        run->empty_caches(run->empty_caches_data);
    *why = GP_REASON(BESIDE_WORK);
    if (gp_wait_for_rest(c->handle, c->event, gp_wait_computing_limit(), &waited) != CUDA_SUCCESS ||
        !gp_pc_samples_begin(c->handle, period, why))
        return NO_MORE;
    const bool ran = rehearse_launch(m);
    *why = gp_reason_or(m->broken_off, GP_REASON(LAUNCH_FAILED));
    if (!context_goes_on(c) ||
        !gp_pc_samples_end(c->handle, run, 10 * device->cc_major + device->cc_minor, samples, why))
        return NO_MORE;
    return ran ? SAMPLED : NOT_THIS;
}

/* Its counters stay as they are, also where samples are refused. */
static enum outcome sample_launch(struct gp_measurement *m, struct gp_reason *why)
{
    const struct gp_reason before = m->broken_off;
    uint64_t all = 0, samples = 0;
    unsigned runs = 0;
    enum outcome outcome;
    tally_kernel_note(m->kernel->name, GP_KERNEL_DIAGNOSED);
    do {
        outcome = sample_run(m, &samples, why);
        all += samples;
    } while (outcome == SAMPLED && ++runs < MOST_RUNS && samples > 0 && all < ENOUGH_SAMPLES);
    m->broken_off = before;
    return outcome;
}

static void sample(struct gp_context *c, const struct chosen *list, size_t count)
{
    static struct gp_say_limit said;
    const double began = gp_clock_seconds();
    struct gp_reason why;
    gp_collection_leave(c->collection);
    const bool open = gp_pc_samples_open(c->handle, c == diagnosis.last, &why);
    enum outcome outcome = open ? SAMPLED : NO_MORE;
    for (size_t i = 0; outcome != NO_MORE && i < count; i++)
        outcome = sample_launch(list[i].launch, &why);
    if (open && context_goes_on(c))
        gp_pc_samples_close(c->handle);
    else if (open)
        gp_pc_samples_abandon();
    diagnosis.over = outcome == NO_MORE;
    if (diagnosis.over)
        gp_say_limited(&said, 1, "not all instructions were sampled: %s", why.text);
    if (c != diagnosis.last && context_goes_on(c) && !gp_collection_come(c->collection, &why))
        c->not_come = why;
    diagnosis.spent += gp_clock_seconds() - began;
}

/* CUPTI ends for all contexts when it is finalized. */
static bool has_only_session(const struct gp_context *c)
{
    const struct gp_context *o = contexts_first();
    while (o && (o == c || !o->collection || context_is_away(o)))
        o = o->next;
    return !o && c->collection->facts.session && !context_is_away(c);
}

static bool may_sample(const struct gp_context *c)
{
    return user_settings.diagnosis != GP_DIAGNOSIS_OFF && !diagnosis.over && context_goes_on(c) &&
           c->collection->collector->leave && has_only_session(c) && !tool_has_come();
}

void diagnose_batch(struct gp_context *c)
{
    struct chosen list[MOST_KERNELS];
    double all_ms;
    if (!may_sample(c))
        return;
    size_t count = choose(c, list, &all_ms);
    count = within_time(c, list, count, all_ms);
    if (count > 0)
        sample(c, list, count);
}

void diagnose_launch(struct gp_measurement *m)
{
    const struct chosen one = {.launch = m};
    if (user_settings.diagnosis == GP_DIAGNOSIS_FULL && may_sample(m->context) && may_be_sampled(m))
        sample(m->context, &one, 1);
}
