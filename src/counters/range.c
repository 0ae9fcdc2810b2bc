/* Counters of GPUs of compute capability 7.0 and later, by CUPTI's Range Profiler: a collection and
 * its passes.
 *
 * The hardware's counters are collected in a session that stays started from launch to launch.
 * Counters of instrumented code cost more: for their pass that session is stopped, and started
 * again for the next launch. So launches are held, and that pass is made for all that are new at
 * once. Whether a launch is new the SASS metrics tell, which work beside the session: a launch that
 * is, instruction for instruction, as one that was measured has its counters (counters/recall.c),
 * and the hardware's counters of it have to agree. Where all launches of a kind have been alike,
 * that alone has to tell of the next ones. And where a few launches were counted that are alike,
 * the hardware counts others together, or not at all.
 *
 * Where the hardware's counters cannot be had, the SASS metrics count: in the order in which that
 * may work, beside a session that is not started, and without one. Nobody has written down whether
 * they need the right to read counters, so it is tried, and given up where launches have no
 * records. */
#include "base/clock.h"
#include "counters/inside.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_SESSION GP_REASON(SESSION_LOST)

/* ---- open and close -------------------------------------------------------------------------- */

static void range_close(struct gp_collection *collection, bool context_alive)
{
    struct gp_range_collection *c = range_collection_of(collection);
    if (c->sass && context_alive)
        sass_session_rest(c->sass, c->context);
    sass_session_close(c->sass, context_alive);
    own_close(c->own);
    range_session_close(c->session, context_alive);
    gp_counter_list_free(&c->list);
    free(c->counters);
    free(c->sass_unavailable);
    recall_free(c->recall);
    bundles_free(c);
    free(c->values);
    free(c->row);
    free(c->hardware_row);
    free(c->absent);
    free(c->share_facts);
    free(c);
}

static bool allocate(struct gp_range_collection *c)
{
    size_t count = c->list.count, width = c->list.width;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->sass_unavailable = calloc(count + 1, sizeof(*c->sass_unavailable));
    c->values = calloc(width * GP_MOST_MEMBERS, sizeof(*c->values));
    c->row = calloc(c->list.used + GP_OWN_COUNT + GP_ALL_CHECKS, sizeof(*c->row));
    c->hardware_row = calloc(c->list.hardware_used + 1, sizeof(*c->hardware_row));
    c->absent = calloc(width * GP_MOST_MEMBERS, sizeof(*c->absent));
    c->share_facts = calloc(GP_MOST_MEMBERS, sizeof(*c->share_facts));
    return c->counters && c->sass_unavailable && c->values && c->row && c->hardware_row &&
           c->absent && c->share_facts;
}

/* Launches in a batch. Where there are few ranges each needs one. */
static unsigned most_members(const struct gp_range_collection *c)
{
    const unsigned ranges = c->session ? range_session_ranges(c->session) : GP_MOST_RANGES;
    return ranges < GP_MOST_RANGES ? ranges : GP_MOST_MEMBERS;
}

/* The SASS metrics are set up behind the first session of the context. Launches that wait for it in
 * vain stay open, so that they have the reason. */
static bool range_come(struct gp_collection *collection, struct gp_reason *why)
{
    struct gp_range_collection *c = range_collection_of(collection);
    const struct gp_batch_facts before = c->base.facts;
    if (!gp_cupti_find(why) || !gp_profiler_initialize(why))
        return false;
    /* Whether the counters are free shows when they are taken. */
    if (!range_collection_open_session(c, why) || !range_session_start(c->session, why))
        range_collection_lose_session(c, *why);
    if (!c->session && why->cause != GP_CAUSE_NO_PERMISSION) {
        c->base.facts = before;
        return false;
    }
    if (c->came)
        return true;
    c->came = true;
    c->base.most = most_members(c);
    range_collection_open_sass(c);
    return true;
}

static void range_leave(struct gp_collection *collection)
{
    struct gp_range_collection *c = range_collection_of(collection);
    if (c->sass)
        sass_session_leave(c->sass, c->context);
    range_collection_settle(c, true);
    range_session_close(c->session, true);
    c->session = NULL;
}

static struct gp_collection *range_open(CUcontext context, const struct gp_device *device,
                                        const char *const *names, size_t count,
                                        const struct gp_collection_facts *away,
                                        struct gp_reason *why)
{
    if (!gp_cupti_find(why))
        return NULL;
    *why = GP_REASON_TEXT(
        OTHER_CUPTI, "this CUPTI is too old for the GPU; that of CUDA 12.6 or later is needed");
    if (!gp_cupti_has_ranges() || !gp_profiler_initialize(why))
        return NULL;
    *why = GP_REASON_TEXT(OTHER_CUPTI, "CUPTI does not name this GPU's chip");
    if (!device->chip[0])
        return NULL;
    struct gp_range_collection *c = calloc(1, sizeof(*c));
    *why = GP_REASON(NO_MEMORY);
    if (!c)
        return NULL;
    c->base.collector = &range_collector;
    c->context = context;
    c->device = *device;
    if (!gp_counter_list_make(&c->list, c->device.chip, names, count, why)) {
        range_close(&c->base, true);
        return NULL;
    }
    *why = GP_REASON(NO_MEMORY);
    if (!allocate(c)) {
        range_close(&c->base, true);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        c->counters[i].name = names[i];
    c->own = c->list.own_count ? own_open() : NULL;
    if (away) {
        c->base.away = true;
        c->base.facts = away->batch;
        c->base.most = away->most;
    } else if (!range_come(&c->base, why)) {
        range_close(&c->base, true);
        return NULL;
    }
    return &c->base;
}

/* The context has gone that CUPTI was set up in. */
static void drop_lost_sass(struct gp_range_collection *c)
{
    if (!c->sass || sass_session_is_set_up(c->sass))
        return;
    sass_session_close(c->sass, true);
    c->sass = NULL;
    c->no_sass = GP_REASON_TEXT(CONTEXT_GONE,
                                "the context is gone that CUPTI's instrumented code was set up in");
}

static void range_enter(struct gp_collection *collection, struct gp_member *m)
{
    struct gp_range_collection *c = range_collection_of(collection);
    drop_lost_sass(c);
    m->hardware_lost = c->no_session;
    values_clear(c, m);
}

/* ---- the hardware's passes ------------------------------------------------------------------- */

static bool wants_hardware(const struct gp_range_collection *c)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (!c->list.is_instrumented[i] && !c->list.unavailable[i].cause &&
            strcmp(c->counters[i].name, GP_DURATION_COUNTER) != 0)
            return true;
    return false;
}

/* Reads all that the session has counted so far. */
static bool read_session(struct gp_range_collection *c, struct gp_reason *why)
{
    bool settled = range_session_settle(c->session, why);
    if (!settled)
        range_collection_lose_session(c, *why);
    range_collection_take(c);
    return settled;
}

static bool stand_in(struct gp_range_collection *c, unsigned pass, struct gp_reason *why)
{
    return (!range_session_is_past(c->session, pass) || read_session(c, why)) &&
           range_session_advance(c->session, pass, why);
}

/* Launches and bundles have their range until all are read. */
static bool take_range(struct gp_range_collection *c, unsigned *range, struct gp_reason *why)
{
    *why = GP_REASON_TEXT(SESSION_LOST, "the session has no range left");
    if (*range)
        return true;
    const unsigned left = range_collection_ranges(c);
    c->base.used_up = left <= 1;
    if (left)
        *range = ++c->ranges;
    return left > 0;
}

/* A bundle, or a blank, which empties no caches: their contents change no check counter. */
static bool push_bundle(struct gp_range_collection *c, const struct gp_step *step,
                        struct gp_reason *why)
{
    unsigned *range = bundles_range(c, step);
    if (!take_range(c, range, why))
        return false;
    if (stand_in(c, 0, why) && range_session_push(c->session, *range - 1, why))
        return true;
    range_collection_lose_session(c, *why);
    return false;
}

static bool push(struct gp_range_collection *c, struct gp_member *m, unsigned pass,
                 struct gp_reason *why)
{
    double before = 1e3 * gp_clock_seconds();
    if (!take_range(c, &m->range, why))
        return false;
    /* Neither a start alone, after all was read, nor a step among the hardware's passes counts. */
    unsigned instrumented = range_session_hardware_passes(c->session);
    bool back = pass < instrumented && range_session_stands_in(c->session, instrumented);
    bool there =
        pass == instrumented && pass > 0 && range_session_stands_in(c->session, instrumented - 1);
    bool stands = stand_in(c, pass, why);
    m->in_session = true;
    double took = 1e3 * gp_clock_seconds() - before;
    /* Not earlier: a start leaves memory of CUPTI's dirty in the L2. */
    if (stands && pass < instrumented)
        m->run.empty_caches(m->run.empty_caches_data);
    if (!stands || !range_session_push(c->session, m->range - 1, why)) {
        range_collection_lose_session(c, *why);
        return false;
    }
    if (there || back)
        cost_learn_step(&c->cost, there, took);
    c->retry_after = 0;
    return true;
}

static bool pop(struct gp_range_collection *c, struct gp_reason *why)
{
    if (range_session_pop(c->session, why))
        return true;
    range_collection_lose_session(c, *why);
    return false;
}

/* ---- the instrumented pass ------------------------------------------------------------------- */

static bool instruments(const struct gp_range_collection *c)
{
    return c->list.instrumented > 0 && (c->base.facts.session || (c->sass && !c->tells));
}

static struct gp_passes range_passes(struct gp_collection *collection)
{
    struct gp_range_collection *c = range_collection_of(collection);
    const bool there = c->base.away || range_collection_has_session(c);
    return (struct gp_passes){
        .hardware = there ? c->base.facts.hardware_passes : 0,
        .instrumented = instruments(c),
        .hardware_wanted = wants_hardware(c),
        .on_trial = range_collection_is_on_trial(c),
        .no_hardware = c->list.hardware_used || !instruments(c) ? c->no_session : GP_NO_REASON,
    };
}

static bool begin_measuring(struct gp_range_collection *c, struct gp_member *m,
                            struct gp_reason *why)
{
    *why = c->no_session;
    if (!c->base.facts.session)
        return false;
    if (m->identity != GP_FOUND_IDENTITY)
        likeness_note_no_matrices(c, m);
    bool begun = push(c, m, c->base.facts.hardware_passes, why);
    m->started_ms = 1e3 * gp_clock_seconds();
    return begun;
}

static bool begin_identifying(struct gp_range_collection *c, struct gp_member *m,
                              struct gp_reason *why)
{
    if (!c->sass || c->tells != !c->no_session.cause) {
        *why = gp_reason_or(c->no_session,
                            GP_REASON_TEXT(SESSION_LOST, "counters are being set up anew"));
        return false;
    }
    m->started_ms = 1e3 * gp_clock_seconds();
    bool begun = sass_session_begin(c->sass, c->context, why);
    if (!begun)
        range_collection_note_sass(c, false, *why);
    return begun;
}

static void take_own(struct gp_range_collection *c, const struct gp_member *m)
{
    double values[GP_OWN_COUNT];
    struct gp_reason absent[GP_OWN_COUNT];
    if (!c->own)
        return;
    own_end(c->own, values, absent);
    for (size_t i = 0; i < c->list.own_count; i++) {
        values_of_member(c, m)[c->list.own_columns[i]] = values[c->list.own[i]];
        absent_of_member(c, m)[c->list.own_columns[i]] = absent[c->list.own[i]];
    }
}

static void take_counted(const struct gp_range_collection *c, const struct gp_member *m,
                         const double *values, const struct gp_reason *absent)
{
    const size_t first = c->list.hardware_used;
    for (size_t i = 0; i < c->list.used - first; i++) {
        const struct gp_reason why_not = gp_reason_or(c->sass_unavailable[i], absent[i]);
        values_of_member(c, m)[c->list.columns[first + i]] = why_not.cause ? NAN : values[i];
        absent_of_member(c, m)[c->list.columns[first + i]] = why_not;
    }
}

static bool end_identifying(struct gp_range_collection *c, const struct gp_step *step, bool refused,
                            struct gp_reason *why)
{
    struct gp_member *m = step->member;
    size_t instrumented = c->list.used - c->list.hardware_used;
    double *values = calloc(instrumented + 1, sizeof(*values));
    struct gp_reason *absent = calloc(instrumented + 1, sizeof(*absent));
    const struct gp_sass_run run = {&m->run, range_collection_cc(c), refused, step->in_row};
    *why = GP_REASON(NO_MEMORY);
    bool ok = values && absent &&
              sass_session_end(c->sass, c->context, &run, values, absent, &m->fingerprint, why);
    if (ok && !c->tells)
        take_counted(c, m, values, absent);
    free(values);
    free(absent);
    range_collection_note_sass(c, ok, ok ? GP_NO_REASON : *why);
    if (!ok)
        return false;
    take_own(c, m);
    m->questions = m->run.cost->questions = sass_session_questions(c->sass);
    m->run.cost->questions_shape = m->run.shape;
    m->swaps = m->run.cost->swaps = m->run.cost->swaps || sass_session_swaps(c->sass);
    m->copies = m->run.cost->copies = m->run.cost->copies || sass_session_copies(c->sass);
    if (c->tells)
        likeness_find(c, m);
    else
        gp_launch_move(&m->state, GP_LAUNCH_COUNT);
    return true;
}

static bool end_measuring(struct gp_range_collection *c, struct gp_member *m, bool refused,
                          struct gp_reason *why)
{
    *why = GP_REASON_TEXT(LAUNCH_FAILED, "the launch was refused");
    if (!pop(c, why) || refused)
        return false;
    gp_launch_move(&m->state, GP_LAUNCH_MEASURE);
    return true;
}

static bool end_instrumented(struct gp_range_collection *c, const struct gp_step *step,
                             bool refused, struct gp_reason *why)
{
    struct gp_member *m = step->member;
    bool measures = step->kind == GP_STEP_MEASURE;
    if (!(measures ? end_measuring(c, m, refused, why) : end_identifying(c, step, refused, why)))
        return false;
    double took = 1e3 * gp_clock_seconds() - m->started_ms;
    cost_learn_pass(&c->cost, measures, &m->run, took);
    cost_spend(&c->cost, took);
    cost_give_back(&c->cost, m->promised_ms);
    m->promised_ms = 0;
    if (m->state == GP_LAUNCH_NEW) { /* the other pass follows in any case */
        m->promised_ms = expected_range_ms(&c->cost, &m->run);
        cost_spend(&c->cost, m->promised_ms);
    }
    likeness_note_counted(c, m);
    return true;
}

/* Others may have taken all the time for such passes since. */
static bool leaves_out(struct gp_range_collection *c, const struct gp_step *step)
{
    struct gp_member *m = step->member;
    if (m->run.when == GP_RUN_ONCE)
        return gp_step_is_instrumented(step->kind) && likeness_leaves_out(c, m);
    return m->state == GP_LAUNCH_UNIDENTIFIED && step->kind == GP_STEP_MEASURE &&
           likeness_leaves_out(c, m);
}

static bool range_begin(struct gp_collection *collection, const struct gp_step *step,
                        struct gp_reason *why)
{
    struct gp_range_collection *c = range_collection_of(collection);
    *why = GP_NO_REASON;
    if (leaves_out(c, step))
        return false;
    switch (step->kind) {
    case GP_STEP_IDENTIFY:
        return begin_identifying(c, step->member, why);
    case GP_STEP_MEASURE:
        return begin_measuring(c, step->member, why);
    case GP_STEP_COUNT:
        return push(c, step->member, step->pass, why);
    default:
        return push_bundle(c, step, why);
    }
}

static bool range_end(struct gp_collection *collection, const struct gp_step *step, bool refused,
                      struct gp_reason *why)
{
    struct gp_range_collection *c = range_collection_of(collection);
    struct gp_member *m = step->member;
    if (gp_step_is_instrumented(step->kind))
        return end_instrumented(c, step, refused, why);
    if (!pop(c, why))
        return false;
    if (refused)
        return true;
    if (step->kind == GP_STEP_BLANK && step->of_bundle)
        c->base.batch.bundles[m->bundle - 1].blank = GP_BUNDLE_COUNTED;
    else if (step->kind == GP_STEP_BLANK)
        m->blank = GP_BLANK_COUNTED;
    if (step->kind == GP_STEP_TOGETHER)
        c->base.batch.bundles[m->bundle - 1].progress = GP_BUNDLE_COUNTED;
    if (step->kind != GP_STEP_COUNT)
        return true;
    m->passes = step->pass + 1;
    m->hardware_lost = GP_NO_REASON;
    return true;
}

/* ---- steps in which no kernel runs ----------------------------------------------------------- */

/* The hardware's counters so far become readable. */
static void read_hardware(struct gp_range_collection *c)
{
    struct gp_reason why = NO_SESSION;
    if (!c->base.facts.session)
        return;
    if (!range_session_settle_hardware(c->session, &why))
        range_collection_lose_session(c, why);
    range_collection_take(c);
}

/* Passes that could not be made give back the time that was promised to them. */
static void finish(struct gp_range_collection *c, bool context_alive)
{
    const struct gp_batch *b = &c->base.batch;
    range_collection_settle(c, context_alive);
    for (unsigned i = 0; i < b->count; i++)
        cost_give_back(&c->cost, b->members[i]->promised_ms);
    range_collection_reuse_ranges(c);
}

static void range_perform(struct gp_collection *collection, const struct gp_step *step)
{
    struct gp_range_collection *c = range_collection_of(collection);
    if (c->sass && c->tells && step->kind > GP_STEP_IDENTIFY && step->kind != GP_STEP_ABANDON)
        sass_session_rest(c->sass, c->context);
    switch (step->kind) {
    case GP_STEP_CONSIDER:
        likeness_consider(c, step->member);
        break;
    case GP_STEP_CHOOSE:
    case GP_STEP_SHARE:
        likeness_share(c, step->kind == GP_STEP_CHOOSE);
        break;
    case GP_STEP_READ:
        read_hardware(c);
        likeness_judge(c);
        break;
    case GP_STEP_SETTLE:
        range_collection_settle(c, true);
        likeness_take(c);
        break;
    case GP_STEP_AGAIN:
        range_collection_settle(c, true);
        range_collection_reuse_ranges(c);
        break;
    case GP_STEP_FINISH:
    case GP_STEP_ABANDON:
        finish(c, step->kind == GP_STEP_FINISH);
        break;
    default:
        break;
    }
}

static const struct gp_counter *range_read(struct gp_collection *collection,
                                           const struct gp_member *m, struct gp_reason not_run,
                                           size_t *count)
{
    return values_read(range_collection_of(collection), m, not_run, count);
}

const struct gp_collector range_collector = {
    .from = 70,
    .to = INT_MAX,
    .open = range_open,
    .leave = range_leave,
    .come = range_come,
    .passes = range_passes,
    .enter = range_enter,
    .perform = range_perform,
    .begin = range_begin,
    .end = range_end,
    .read = range_read,
    .close = range_close,
};
