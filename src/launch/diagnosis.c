/* The diagnosis of kernels, beside the counters that every launch has: more counters of the
 * hardware (launch/diagnosis_counts.c), and samples of the instructions at which warps are, with
 * the reason why (counters/pc_samples.h). It is taken in a drain, of launches that are held, and
 * the collection's session is away meanwhile.
 *
 * By default it is taken where it is a small part of the time that measuring took, of the kernels
 * that take most of the time of a batch: in the last act of the process, or where they take half of
 * it. With --diagnosis full every kernel that can be replayed has it. Used with the gate locked.
 */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "counters/diagnosis_set.h"
#include "counters/pc_samples.h"
#include "gate/waits.h"

#include <math.h>
#include <stdlib.h>

/* A kernel with less of the time of its batch is left out, but for --diagnosis full. */
#define LEAST_SHARE 0.01
/* A launch is sampled again until it has so many samples, so often at most. Shares are sure to 2.2
 * points then, and to 1.5 with --diagnosis full. */
static const struct wanted {
    double samples;
    unsigned runs;
} usually = {2000, 4}, in_full = {4000, 16};

/* The milliseconds of a launch that is not run again for samples: where few of its blocks take that
 * long, few come. */
#define LONG_MS 50

/* A batch is sampled, before the last act of the process, where kernels that were not sampled yet
 * take so much of its time. */
#define LEAST_NEW 0.5

/* Seconds, by docs/decisions.md: to begin and end samples; to count the default set again; for a
 * run that is sampled, beside the kernel's own time and that of its copies. */
#define TO_SAMPLE 0.15
#define COUNT_AGAIN 0.25
#define EACH_SAMPLED 0.005
/* Seconds for counters: to open their session and read it, for each pass, for each range. */
#define TO_COUNT 0.25
#define EACH_PASS 0.025
#define EACH_RANGE 0.0015

/* The part of the time that measuring takes which it may take; and seconds beside, in a process
 * that has run so long. */
#define MOST_OF_MEASURING 0.1
#define LONG_PROCESS 10.0
#define MORE_IN_LONG_PROCESS 0.3

/* One of the two parts of the diagnosis. */
struct part {
    bool over;     /* CUPTI refused it */
    double dearer; /* than was predicted, the last time */
    double fixed;  /* seconds, beside those of launches */
    double (*seconds)(const struct gp_measurement *m);
    struct gp_chosen list[GP_MOST_DIAGNOSED];
    size_t count;
    double predicted;
};

static double seconds_to_count(const struct gp_measurement *m);
static double seconds_to_sample(const struct gp_measurement *m);

static struct {
    const struct gp_context *last;
    double spent;
    struct part counters, samples;
} diagnosis = {.counters = {.dearer = 1,
                            .fixed = TO_COUNT + GP_DIAGNOSIS_PASSES * EACH_PASS,
                            .seconds = seconds_to_count},
               .samples = {.dearer = 1, .fixed = TO_SAMPLE, .seconds = seconds_to_sample}};

void diagnosis_last_context(const struct gp_context *c)
{
    diagnosis.last = c;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Counters are those of a configuration, instructions those of a kernel. */
static bool is_of_counters(const struct part *part)
{
    return part == &diagnosis.counters;
}

static bool is_diagnosed(const struct gp_measurement *m)
{
    return tally_is_diagnosed(m->kernel->name, m->context->device.ordinal, &m->call->configuration);
}

/* A launch whose record is written would be counted in vain. */
static bool is_new(const struct gp_measurement *m, const struct part *part)
{
    if (is_of_counters(part))
        return !record_is_written(m) && !is_diagnosed(m);
    return !tally_kernel_is(m->kernel->name, GP_KERNEL_SAMPLED);
}

/* A launch that made a pass of the hardware runs again, also where instrumented code of it was
 * refused or takes too long. */
static bool runs_again(const struct gp_measurement *m)
{
    return m->runs > 0 && (!m->broken_off.cause || m->member.passes > 0);
}

static bool may_have(const struct gp_measurement *m, const struct part *part)
{
    return m->member.state != GP_LAUNCH_LAUNCHED && m->member.state != GP_LAUNCH_GIVEN_UP &&
           runs_again(m) && m->member.run.native_ms > 0 && !m->member.run.unsure && is_new(m, part);
}

static bool are_of_one(const struct part *part, const struct gp_measurement *a,
                       const struct gp_measurement *b)
{
    return a->kernel == b->kernel &&
           (!is_of_counters(part) || a->member.run.shape == b->member.run.shape);
}

/* The order of a list: those with most of the time come first. */
static int compare(const void *x, const void *y)
{
    const struct gp_chosen *a = x, *b = y;
    return (a->ms < b->ms) - (a->ms > b->ms);
}

/* The longest launch of each kernel, or configuration. */
static void choose(const struct gp_context *c, struct part *part)
{
    struct gp_chosen *list = part->list;
    part->count = 0;
    for (struct gp_measurement *m = held_first(c); m; m = held_next(m)) {
        const double ms = m->member.run.native_ms;
        size_t i = 0;
        if (part->over || !measurement_waits(m) || !may_have(m, part))
            continue;
        while (i < part->count && !are_of_one(part, list[i].launch, m))
            i++;
        if (i == GP_MOST_DIAGNOSED)
            continue;
        if (i == part->count)
            list[part->count++] = (struct gp_chosen){.launch = m};
        list[i].ms += ms;
        if (ms > list[i].launch->member.run.native_ms)
            list[i].launch = m;
    }
    if (part->count > 0)
        qsort(list, part->count, sizeof(*list), compare);
}

static double milliseconds_of_batch(const struct gp_context *c)
{
    double ms = 0;
    for (const struct gp_measurement *m = held_first(c); m; m = held_next(m))
        ms += m->member.run.native_ms;
    return ms;
}

/* ---- time ------------------------------------------------------------------------------------ */

static double seconds_of_run(const struct gp_measurement *m)
{
    const double bytes = m->copy ? (double)gp_held_copy_bytes(m->copy) : 0;
    return 1e-3 * m->member.run.native_ms + 1e-11 * bytes;
}

static double seconds_to_count(const struct gp_measurement *m)
{
    return GP_DIAGNOSIS_PASSES * (EACH_RANGE + seconds_of_run(m));
}

static double cycles_of(const struct gp_measurement *m)
{
    return m->member.run.native_ms * m->context->device.clock_khz;
}

static unsigned busy_sms(const struct gp_measurement *m)
{
    const unsigned *grid = m->call->grid, sms = (unsigned)m->context->device.sm_count;
    const double blocks = (double)grid[0] * grid[1] * grid[2];
    return blocks < sms ? (unsigned)blocks : sms;
}

static const struct wanted *wanted(void)
{
    return user_settings.diagnosis == GP_DIAGNOSIS_FULL ? &in_full : &usually;
}

static double seconds_to_sample(const struct gp_measurement *m)
{
    const double each = gp_pc_samples_of_run(cycles_of(m), busy_sms(m));
    const double runs = fmin(wanted()->runs, ceil(wanted()->samples / fmax(1, each)));
    return runs * (EACH_SAMPLED + seconds_of_run(m));
}

static double left(void)
{
    const double measuring = gp_added_seconds() - gp_added_parts().start_up - diagnosis.spent;
    const double more = gp_process_seconds() > LONG_PROCESS ? MORE_IN_LONG_PROCESS : 0;
    return MOST_OF_MEASURING * measuring + more - diagnosis.spent;
}

/* As many launches of the part as there is time for, without a limit all, where so many seconds are
 * spent besides. */
static void fit(struct part *part, const struct gp_context *c, double all_ms, double besides)
{
    const bool full = user_settings.diagnosis == GP_DIAGNOSIS_FULL, last = c == diagnosis.last;
    const double most = full ? INFINITY : left();
    double seconds = part->fixed, ms = 0;
    size_t n = 0;
    for (; n < part->count && (full || part->list[n].ms >= LEAST_SHARE * all_ms); n++) {
        const double more = seconds + part->seconds(part->list[n].launch);
        const double all = besides + part->dearer * more;
        if (all > most || !limit_permits(all))
            break;
        seconds = more;
        ms += part->list[n].ms;
    }
    part->count = full || last || ms >= LEAST_NEW * all_ms ? n : 0;
    part->predicted = part->count > 0 ? seconds : 0;
}

static bool has_instrumented_counters(const struct gp_measurement *m)
{
    const enum gp_launch_state state = m->member.state;
    return state == GP_LAUNCH_MEASURED || state == GP_LAUNCH_LEARNABLE ||
           state == GP_LAUNCH_RECALLED || state == GP_LAUNCH_COUNTED;
}

/* Counters say of a kernel without instrumented ones which unit bounds it, which is not known else.
 * Of others most is known, and samples say where its warps wait. */
static bool counters_come_first(const struct part *counters)
{
    return counters->count > 0 && !has_instrumented_counters(counters->list[0].launch);
}

static void plan(const struct gp_context *c)
{
    struct part *first = &diagnosis.samples, *second = &diagnosis.counters;
    const double all_ms = milliseconds_of_batch(c);
    choose(c, first);
    choose(c, second);
    const double again = c == diagnosis.last ? 0 : COUNT_AGAIN;
    if (counters_come_first(second)) {
        first = &diagnosis.counters;
        second = &diagnosis.samples;
    }
    fit(first, c, all_ms, again);
    fit(second, c, all_ms, again + first->dearer * first->predicted);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* NOT_THIS: the launch cannot run again, which is no matter of others. */
enum outcome { SAMPLED, NOT_THIS, NO_MORE };

/* Our own kernels, which put memory in place, have ended when sampling begins. */
static enum outcome sample_run(struct gp_measurement *m, uint64_t *samples, struct gp_reason *why)
{
    struct gp_context *c = m->context;
    const struct gp_device *device = &c->device;
    const struct gp_run *run = &m->member.run;
    const unsigned period = gp_pc_samples_period(cycles_of(m), busy_sms(m));
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
static enum outcome sample_launch(struct gp_chosen *of, struct gp_reason *why)
{
    struct gp_measurement *m = of->launch;
    const struct gp_reason before = m->broken_off;
    uint64_t samples = 0;
    tally_kernel_note(m->kernel->name, GP_KERNEL_SAMPLED);
    const enum outcome outcome = sample_run(m, &samples, why);
    m->broken_off = before;
    of->samples += samples;
    of->is_sampled = outcome != SAMPLED || samples == 0 ||
                     (double)of->samples >= wanted()->samples || m->member.run.native_ms > LONG_MS;
    return outcome;
}

/* Launches take turns: a kernel that runs again at once finds its code in the caches, and hardly
 * waits for it. */
static enum outcome sample_in_turns(struct part *part, struct gp_reason *why)
{
    for (unsigned run = 0; run < wanted()->runs; run++)
        for (size_t i = 0; i < part->count; i++)
            if (!part->list[i].is_sampled && sample_launch(&part->list[i], why) == NO_MORE)
                return NO_MORE;
    return SAMPLED;
}

static void sample(struct gp_context *c)
{
    static struct gp_say_limit said;
    struct part *part = &diagnosis.samples;
    struct gp_reason why;
    const bool open = gp_pc_samples_open(c->handle, c == diagnosis.last, &why);
    const enum outcome outcome = open ? sample_in_turns(part, &why) : NO_MORE;
    if (open && context_goes_on(c))
        gp_pc_samples_close(c->handle);
    else if (open)
        gp_pc_samples_abandon();
    part->over = outcome == NO_MORE;
    if (part->over)
        gp_say_limited(&said, 1, "not all instructions were sampled: %s", why.text);
}

/* ---- counters -------------------------------------------------------------------------------- */

static void count(struct gp_context *c)
{
    static struct gp_say_limit said;
    struct part *part = &diagnosis.counters;
    struct gp_reason why;
    part->over = !diagnosis_count(c, part->list, part->count, &why);
    if (part->over)
        gp_say_limited(&said, 1, "the counters of the diagnosis were not counted: %s", why.text);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* The price of the next time follows from that of this one. */
static void take_part(struct part *part, struct gp_context *c, void (*take)(struct gp_context *))
{
    const double began = gp_clock_seconds();
    if (part->count == 0 || !context_goes_on(c))
        return;
    take(c);
    part->dearer = fmax(1, (gp_clock_seconds() - began) / part->predicted);
}

/* A kernel that has not ended keeps CUPTI in its context, which holds the code of all that ran. */
static void hold_kernels(void)
{
    kernels_all_collected();
    kernels_hold();
}

static void diagnose(struct gp_context *c)
{
    const double began = gp_clock_seconds();
    struct gp_reason why;
    if (diagnosis.counters.count == 0 && diagnosis.samples.count == 0)
        return;
    gp_collection_leave(c->collection);
    take_part(&diagnosis.counters, c, count);
    take_part(&diagnosis.samples, c, sample);
    if (c->busy)
        hold_kernels();
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

/* Names of other metrics than the default ones choose all counters there are to be. */
static bool may_diagnose(const struct gp_context *c)
{
    if (!gp_metrics_have_diagnosis(results_metrics()))
        diagnosis.counters.over = true;
    return user_settings.diagnosis != GP_DIAGNOSIS_OFF &&
           !(diagnosis.counters.over && diagnosis.samples.over) && context_goes_on(c) &&
           c->collection->collector->leave && has_only_session(c) && !tool_has_come();
}

void diagnose_batch(struct gp_context *c)
{
    if (!may_diagnose(c))
        return;
    plan(c);
    diagnose(c);
}

static void choose_one(struct part *part, struct gp_measurement *m)
{
    part->count = !part->over && may_have(m, part);
    part->list[0] = (struct gp_chosen){.launch = m};
    part->predicted = part->fixed + part->seconds(m);
}

void diagnose_launch(struct gp_measurement *m)
{
    if (user_settings.diagnosis != GP_DIAGNOSIS_FULL || !may_diagnose(m->context))
        return;
    choose_one(&diagnosis.counters, m);
    choose_one(&diagnosis.samples, m);
    diagnose(m->context);
}
