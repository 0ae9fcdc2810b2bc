/* Counters of GPUs of compute capability 7.0 and later, by CUPTI's Range Profiler: a collection and
 * its passes.
 *
 * The hardware's counters are collected in a session that stays started from launch to launch.
 * Counters of instrumented code cost more: for their pass that session is stopped, and started
 * again for the next launch. So launches are held, and that pass is made for all that are new at
 * once. Whether a launch is new the SASS metrics tell, which work beside the session: a launch that
 * is, instruction for instruction, as one that was measured has its counters (counters/recall.h),
 * and the hardware's counters of it have to agree. Where all launches of a kind have been alike,
 * that alone has to tell of the next ones. And where a few launches were counted that are alike,
 * the hardware counts others together, or not at all.
 *
 * Where the hardware's counters cannot be had, the SASS metrics count: in the order in which that
 * may work, beside a session that is not started, and without one. Nobody has written down whether
 * they need the right to read counters, so it is tried, and given up where launches have no
 * records. */
#include "base/clock.h"
#include "counters/slots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(GP_PLAN_INSTRUMENTED == GP_INSTRUMENTED_PASS, "one number for that pass");

#define NO_SESSION GP_REASON(SESSION_LOST)

static bool range_suits(const struct gp_device *device)
{
    return device->cc_major >= 7;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void range_close(struct gp_collection *c, bool context_alive)
{
    if (c->sass && context_alive)
        gp_sass_session_rest(c->sass, c->context);
    gp_sass_session_close(c->sass, context_alive);
    gp_own_close(c->own);
    gp_range_session_close(c->session, context_alive);
    gp_counter_list_free(&c->list);
    free(c->counters);
    free(c->sass_unavailable);
    gp_recall_free(c->recall);
    gp_bundles_free(c);
    free(c->values);
    free(c->row);
    free(c->hardware_row);
    free(c->absent);
    free(c);
}

static bool allocate(struct gp_collection *c)
{
    size_t count = c->list.count, width = c->list.width;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->sass_unavailable = calloc(count + 1, sizeof(*c->sass_unavailable));
    c->values = calloc(width * GP_MOST_SLOTS, sizeof(*c->values));
    c->row = calloc(c->list.used + GP_OWN_COUNT + GP_ALL_CHECKS, sizeof(*c->row));
    c->hardware_row = calloc(c->list.hardware_used + 1, sizeof(*c->hardware_row));
    c->absent = calloc(width * GP_MOST_SLOTS, sizeof(*c->absent));
    return c->counters && c->sass_unavailable && c->values && c->row && c->hardware_row &&
           c->absent;
}

static unsigned slots_of(const struct gp_collection *c)
{
    const unsigned most = GP_MOST_SLOTS + GP_MOST_BUNDLES;
    unsigned ranges = c->session ? gp_range_session_ranges(c->session) : most;
    return ranges < GP_MOST_SLOTS ? ranges : GP_MOST_SLOTS;
}

static struct gp_collection *range_open(CUcontext context, const struct gp_device *device,
                                        const char *const *names, size_t count,
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
    struct gp_collection *c = calloc(1, sizeof(*c));
    *why = GP_REASON(NO_MEMORY);
    if (!c)
        return NULL;
    c->context = context;
    c->device = *device;
    if (!gp_counter_list_make(&c->list, c->device.chip, names, count, why)) {
        range_close(c, true);
        return NULL;
    }
    *why = GP_REASON(NO_MEMORY);
    if (!allocate(c)) {
        range_close(c, true);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        c->counters[i].name = names[i];
    c->own = c->list.own_count ? gp_own_open() : NULL;
    /* Whether the counters are free shows when they are taken. */
    if (!gp_collection_open_session(c, why) || !gp_range_session_start(c->session, why))
        gp_collection_lose_session(c, *why);
    if (!c->session && why->cause != GP_CAUSE_NO_PERMISSION) {
        range_close(c, true);
        return NULL;
    }
    gp_collection_open_sass(c);
    return c;
}

/* ---- slots --------------------------------------------------------------------------------- */

static unsigned range_slot(struct gp_collection *c)
{
    unsigned slot = c->slots_given++;
    c->slots[slot] = (struct gp_slot){.hardware_lost = c->no_session};
    for (size_t i = 0; i < c->list.width; i++) {
        c->values[slot * c->list.width + i] = NAN;
        c->absent[slot * c->list.width + i] = GP_NO_REASON;
    }
    return slot;
}

static bool range_full(const struct gp_collection *c)
{
    return c->slots_given >= slots_of(c);
}

/* Reads all that the session has counted so far. */
static bool read_session(struct gp_collection *c, struct gp_reason *why)
{
    bool settled = gp_range_session_settle(c->session, why);
    if (!settled)
        gp_collection_lose_session(c, *why);
    gp_collection_take_values(c);
    return settled;
}

static void range_settle(struct gp_collection *c, bool context_alive)
{
    struct gp_reason why = NO_SESSION;
    bool settled = c->session && context_alive && gp_range_session_settle(c->session, &why);
    if (c->session && !settled)
        gp_collection_lose_session(c, why);
    gp_collection_take_values(c);
}

static void range_reset(struct gp_collection *c)
{
    for (unsigned t = 0; t < c->slots_given; t++) /* their passes could not be made */
        gp_give_back(&c->cost, c->slots[t].promised_ms);
    c->slots_given = c->sweep = c->bundle_count = 0;
    if (c->session)
        gp_range_session_reuse_ranges(c->session);
}

/* ---- the hardware's passes ------------------------------------------------------------------- */

static bool wants_hardware(const struct gp_collection *c)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (!c->list.is_instrumented[i] && !c->list.unavailable[i].cause &&
            strcmp(c->counters[i].name, GP_DURATION_COUNTER) != 0)
            return true;
    return false;
}

static bool stand_in(struct gp_collection *c, unsigned pass, struct gp_reason *why)
{
    return (!gp_range_session_is_past(c->session, pass) || read_session(c, why)) &&
           gp_range_session_advance(c->session, pass, why);
}

/* Of a bundle, and nothing of it empties caches: their contents change no check counter. */
static bool push_bundle(struct gp_collection *c, unsigned slot, unsigned pass,
                        struct gp_reason *why)
{
    if (stand_in(c, 0, why) &&
        gp_range_session_push(c->session, gp_bundle_range(c, slot, pass), why))
        return true;
    gp_collection_lose_session(c, *why);
    return false;
}

static bool push(struct gp_collection *c, unsigned slot, unsigned pass, const struct gp_run *run,
                 struct gp_reason *why)
{
    double before = 1e3 * gp_clock_seconds();
    /* Neither a start alone, after all was read, nor a step among the hardware's passes counts. */
    unsigned instrumented = gp_range_session_hardware_passes(c->session);
    bool back = pass < instrumented && gp_range_session_stands_in(c->session, instrumented);
    bool there = pass == instrumented && pass > 0 &&
                 gp_range_session_stands_in(c->session, instrumented - 1);
    bool stands = stand_in(c, pass, why);
    c->slots[slot].in_session = true;
    double took = 1e3 * gp_clock_seconds() - before;
    /* Not earlier: a start leaves memory of CUPTI's dirty in the L2. */
    if (stands && pass < instrumented)
        run->empty_caches(run->empty_caches_data);
    if (!stands || !gp_range_session_push(c->session, slot, why)) {
        gp_collection_lose_session(c, *why);
        return false;
    }
    if (there || back)
        gp_learn_step(&c->cost, there, took);
    c->retry_after = 0;
    return true;
}

static bool pop(struct gp_collection *c, struct gp_reason *why)
{
    if (gp_range_session_pop(c->session, why))
        return true;
    gp_collection_lose_session(c, *why);
    return false;
}

/* ---- the instrumented pass ------------------------------------------------------------------- */

static bool instruments(const struct gp_collection *c)
{
    return c->list.instrumented > 0 && (gp_collection_has_ranges(c) || (c->sass && !c->tells));
}

static struct gp_passes range_passes(struct gp_collection *c)
{
    bool there = gp_collection_has_session(c);
    return (struct gp_passes){
        .hardware = there ? gp_range_session_hardware_passes(c->session) : 0,
        .instrumented = instruments(c),
        .hardware_wanted = wants_hardware(c),
        .on_trial = gp_collection_is_on_trial(c),
        .no_hardware = c->list.hardware_used || !instruments(c) ? c->no_session : GP_NO_REASON,
    };
}

static bool begin_instrumented(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                               struct gp_reason *why)
{
    struct gp_slot *t = &c->slots[slot];
    if (gp_slot_way_of(c, slot, run) == GP_WAY_RANGE) {
        if (!t->by_sass)
            gp_slot_note_no_matrices(c, slot, run);
        bool begun = push(c, slot, gp_range_session_hardware_passes(c->session), run, why);
        t->started_ms = 1e3 * gp_clock_seconds();
        return begun;
    }
    if (!c->sass || c->tells != !c->no_session.cause) {
        *why = gp_reason_or(c->no_session,
                            GP_REASON_TEXT(SESSION_LOST, "counters are being set up anew"));
        return false;
    }
    t->started_ms = 1e3 * gp_clock_seconds();
    bool begun = gp_sass_session_begin(c->sass, c->context, why);
    if (!begun)
        gp_collection_note_sass(c, false, *why);
    return begun;
}

static void take_own(struct gp_collection *c, unsigned slot)
{
    double values[GP_OWN_COUNT];
    struct gp_reason absent[GP_OWN_COUNT];
    if (!c->own)
        return;
    gp_own_end(c->own, values, absent);
    for (size_t i = 0; i < c->list.own_count; i++) {
        c->values[slot * c->list.width + c->list.own_columns[i]] = values[c->list.own[i]];
        c->absent[slot * c->list.width + c->list.own_columns[i]] = absent[c->list.own[i]];
    }
}

static bool end_sass(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                     struct gp_reason *why)
{
    size_t first = c->list.hardware_used, instrumented = c->list.used - first;
    double *values = calloc(instrumented + 1, sizeof(*values));
    struct gp_reason *absent = calloc(instrumented + 1, sizeof(*absent));
    *why = GP_REASON(NO_MEMORY);
    bool ok = values && absent &&
              gp_sass_session_end(c->sass, c->context, run, gp_collection_cc(c), values, absent,
                                  &c->slots[slot].fingerprint, why);
    for (size_t i = 0; ok && !c->tells && i < instrumented; i++) {
        struct gp_reason why_not = gp_reason_or(c->sass_unavailable[i], absent[i]);
        c->values[slot * c->list.width + c->list.columns[first + i]] =
            why_not.cause ? NAN : values[i];
        c->absent[slot * c->list.width + c->list.columns[first + i]] = why_not;
    }
    if (ok)
        take_own(c, slot);
    free(values);
    free(absent);
    if (!ok)
        gp_collection_note_sass(c, false, *why);
    else
        gp_collection_note_sass(c, true, GP_NO_REASON);
    if (ok)
        c->slots[slot].retries = run->cost->retries = gp_sass_session_met_retries(c->sass);
    if (ok && c->tells)
        gp_slot_recall(c, slot);
    else if (ok)
        gp_plan_counted(&c->slots[slot].plan);
    return ok;
}

static bool end_instrumented(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                             struct gp_reason *why)
{
    struct gp_slot *t = &c->slots[slot];
    bool by_range = t->plan.way == GP_WAY_RANGE;
    *why = GP_REASON_TEXT(LAUNCH_FAILED, "the launch was refused");
    bool ok = by_range ? pop(c, why) && !run->refused : end_sass(c, slot, run, why);
    if (!ok)
        return false;
    double took = 1e3 * gp_clock_seconds() - t->started_ms;
    gp_learn_pass(&c->cost, by_range, run, took);
    gp_spend(&c->cost, took);
    gp_give_back(&c->cost, t->promised_ms);
    t->promised_ms = 0;
    if (by_range)
        gp_plan_measured(&t->plan);
    else
        t->by_sass = true;
    if (t->plan.source == GP_SOURCE_NEW) { /* the other pass follows in any case */
        t->promised_ms = gp_expected_range_ms(&c->cost, run);
        gp_spend(&c->cost, t->promised_ms);
    }
    gp_slot_note_counted(c, slot, run);
    return true;
}

static bool range_begin(struct gp_collection *c, unsigned slot, unsigned pass,
                        const struct gp_run *run, struct gp_reason *why)
{
    if (pass == GP_INSTRUMENTED_PASS) {
        *why = GP_NO_REASON;
        return !(run->only_pass && gp_slot_leaves_out(c, slot, run)) &&
               begin_instrumented(c, slot, run, why);
    }
    if (pass == GP_BLANK_PASS || pass == GP_BUNDLE_PASS)
        return push_bundle(c, slot, pass, why);
    c->slots[slot].only_pass = run->only_pass;
    return push(c, slot, pass, run, why);
}

static bool range_end(struct gp_collection *c, unsigned slot, unsigned pass,
                      const struct gp_run *run, struct gp_reason *why)
{
    if (pass == GP_INSTRUMENTED_PASS)
        return end_instrumented(c, slot, run, why);
    if (!pop(c, why))
        return false;
    if (run->refused)
        return true;
    if (pass == GP_BLANK_PASS || pass == GP_BUNDLE_PASS) {
        gp_bundle_counted(c, slot, pass);
    } else {
        c->slots[slot].hardware_passes = pass + 1;
        c->slots[slot].hardware_lost = GP_NO_REASON;
    }
    return true;
}

/* ---- sweeps over launches that are held ------------------------------------------------------ */

/* The hardware's counters so far become readable. */
static void read_hardware(struct gp_collection *c)
{
    struct gp_reason why = NO_SESSION;
    if (!c->session || c->no_session.cause)
        return;
    if (!gp_range_session_settle_hardware(c->session, &why))
        gp_collection_lose_session(c, why);
    gp_collection_take_values(c);
}

static bool any_open(const struct gp_collection *c)
{
    bool open = false;
    for (unsigned i = 0; i < c->slots_given && !open; i++)
        open = gp_slot_is_open(c, &c->slots[i]);
    return open;
}

/* In another round the ranges are used anew. */
static void begin_round(struct gp_collection *c)
{
    const bool again = c->sweep > 0;
    c->sweep = GP_SWEEP_TO_IDENTIFY;
    if (!again)
        return;
    range_settle(c, true);
    if (c->session)
        gp_range_session_reuse_ranges(c->session);
}

static bool range_sweep(struct gp_collection *c, unsigned sweep)
{
    unsigned hardware =
        gp_collection_has_ranges(c) ? gp_range_session_hardware_passes(c->session) : 0;
    unsigned measure = gp_plan_sweep_to_measure(hardware);
    if (c->sass && c->tells)
        gp_sass_session_rest(c->sass, c->context);
    if (sweep == GP_SWEEP_TO_IDENTIFY)
        begin_round(c);
    c->sweep = sweep;
    if (sweep == GP_SWEEP_TO_IDENTIFY_MORE)
        gp_slots_decide(c, true);
    if (sweep == GP_SWEEP_TO_COUNT)
        gp_slots_decide(c, false);
    if (sweep == measure + 1) {
        read_hardware(c);
        gp_slots_judge(c);
    }
    if (sweep == measure + 2) {
        range_settle(c, true);
        gp_slots_take_from_held(c);
    }
    return sweep < measure + GP_SWEEPS_TO_MEASURE && any_open(c);
}

const struct gp_collector gp_range_collector = {
    .suits = range_suits,
    .open = range_open,
    .passes = range_passes,
    .next = gp_slot_next_pass,
    .sweep = range_sweep,
    .state = gp_slot_state_of,
    .slot = range_slot,
    .full = range_full,
    .begin = range_begin,
    .end = range_end,
    .settle = range_settle,
    .read = gp_slot_read,
    .reset = range_reset,
    .close = range_close,
};
