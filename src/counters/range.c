/* Counters of GPUs of compute capability 7.0 and later, by CUPTI's Range Profiler.
 *
 * The hardware's counters are collected in a session that stays armed from launch to launch.
 * Counters of instrumented code cost more: for their pass that session is stopped, and started
 * again for the next launch. So such a pass is made for launches that are new, and one launch after
 * another that are take the passes in turn from front and from back, so that the session is stopped
 * once for two. Whether a launch is new the SASS metrics tell, which work beside the armed session:
 * a launch that is, instruction for instruction, as one that was measured has its counters
 * (counters/recall.h), and what the hardware counts of it has to agree. Where all launches of a
 * kind have been alike, that alone has to tell of the next ones.
 *
 * Where the hardware's counters cannot be had, the SASS metrics give what they can. */
#include "counters/collector.h"

#include "base/clock.h"
#include "counters/counter_list.h"
#include "counters/instrumenting_cost.h"
#include "counters/plan.h"
#include "counters/range_session.h"
#include "counters/sass_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Launches whose counters wait to be read. Each costs the first start of a session some 0.6 ms, and
 * each pass of instrumented code 0.1 ms; with few of them the session is stopped and started often,
 * which takes 30 ms. */
#define MOST_SLOTS 64

/* Seconds until counters that were busy are asked for again, doubled each time. */
#define FIRST_RETRY 10.0
#define LAST_RETRY 300.0

_Static_assert(GP_PLAN_INSTRUMENTED == GP_INSTRUMENTED_PASS, "one number for that pass");

#define NO_SESSION "the session with the GPU's counters has ended"

struct slot {
    struct gp_plan plan;
    unsigned hardware_passes; /* made */
    bool only_pass;           /* there will be no other, so it is to be read by itself */
    bool in_session;          /* by the session that is open now, and not read yet */
    bool range_read;          /* what the Range Profiler counted is there */
    bool by_sass;             /* the SASS metrics have counted something of it */
    bool held;                /* its passes are made in sweeps */
    unsigned like; /* held: 1 + the slot of the launch whose instrumented counters it takes */
    struct gp_launch_kind kind;        /* known beforehand */
    struct gp_fingerprint fingerprint; /* found, or assumed */
    double started_ms;                 /* the instrumented pass */
    const char *hardware_lost;         /* why what the hardware counted cannot be read */
};

struct gp_collection {
    CUcontext context;
    struct gp_device device;

    struct gp_counter_list list;
    struct gp_counter *counters; /* what read answers: as many as were named, in that order */

    struct gp_range_session *session;
    const char *no_session;       /* why there is none */
    bool mixed;                   /* its passes count instrumented code as well */
    double retry_at, retry_after; /* seconds */

    struct gp_sass_session *sass;
    const char *no_sass;
    bool tells;                    /* it compares launches; else it counts */
    const char **sass_unavailable; /* by name, where it counts: why it does not */
    struct gp_recall *recall;      /* of instrumented counters, where it tells */
    struct gp_own *own;            /* our own counters; NULL where none is wanted */

    struct slot slots[MOST_SLOTS];
    unsigned slots_given;
    unsigned sweep; /* over those that are held; 0: none yet */
    struct gp_instrumenting_cost cost;

    double *values;      /* slots x width */
    double *row;         /* scratch: used + our own + all check counters */
    const char **absent; /* the same */
};

void gp_collector_describe(struct gp_device *device)
{
    const char *why;
    device->chip[0] = '\0';
    device->cupti_version = gp_cupti_find(&why) ? gp_cupti_version() : 0;
    GP_CUPTI_PARAMS(CUpti_Device_GetChipName, p);
    p.deviceIndex = (size_t)device->ordinal;
    /* Before it is started even the chip's name is a null pointer to CUPTI. */
    if (device->cupti_version && gp_cupti_has_ranges() && gp_profiler_initialize(&why) &&
        gp_cupti.cuptiDeviceGetChipName(&p) == CUPTI_SUCCESS && p.pChipName)
        strncat(device->chip, p.pChipName, sizeof(device->chip) - 1);
}

void gp_collectors_leave(CUcontext context, bool at_rest)
{
    gp_sass_sessions_leave(context, at_rest);
}

void gp_collectors_end(void)
{
    gp_sass_sessions_end();
}

static bool range_suits(const struct gp_device *device)
{
    return device->cc_major >= 7;
}

/* ---- open and close -------------------------------------------------------------------------- */

static void range_close(struct gp_collection *c, bool context_alive)
{
    gp_sass_session_close(c->sass);
    gp_own_close(c->own);
    gp_range_session_close(c->session, context_alive);
    gp_counter_list_free(&c->list);
    free(c->counters);
    free(c->sass_unavailable);
    gp_recall_free(c->recall);
    free(c->values);
    free(c->row);
    free(c->absent);
    free(c);
}

static bool allocate(struct gp_collection *c)
{
    size_t count = c->list.count, width = c->list.width;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->sass_unavailable = calloc(count + 1, sizeof(*c->sass_unavailable));
    c->values = calloc(width * MOST_SLOTS, sizeof(*c->values));
    c->row = calloc(c->list.used + GP_OWN_COUNT + GP_ALL_CHECKS, sizeof(*c->row));
    c->absent = calloc(width * MOST_SLOTS, sizeof(*c->absent));
    return c->counters && c->sass_unavailable && c->values && c->row && c->absent;
}

static unsigned slots_of(const struct gp_collection *c)
{
    unsigned ranges = c->session ? gp_range_session_ranges(c->session) : MOST_SLOTS;
    return ranges < MOST_SLOTS ? ranges : MOST_SLOTS;
}

/* The hardware's session could not be had, or has failed. Counters that are busy become free some
 * time; permissions do not. */
static void lose_session(struct gp_collection *c, const char *why)
{
    for (unsigned t = 0; t < c->slots_given; t++)
        if (c->slots[t].in_session && !c->slots[t].hardware_lost)
            c->slots[t].hardware_lost = why;
    c->no_session = why;
    c->retry_after = c->retry_after ? fmin(2 * c->retry_after, LAST_RETRY) : FIRST_RETRY;
    c->retry_at = gp_clock_seconds() + c->retry_after;
}

static bool open_session(struct gp_collection *c, const char **why)
{
    struct gp_range_config config;
    size_t count = c->mixed ? c->list.used : c->list.hardware_used;
    if (!gp_range_config_make(&config, c->device.chip, c->list.names, count, c->list.hardware_used,
                              why)) {
        gp_range_config_free(&config);
        return false;
    }
    c->session = gp_range_session_open(c->context, &config, MOST_SLOTS, why);
    return c->session != NULL;
}

/* Beside a session with the hardware's counters the SASS metrics compare launches; without one
 * they count. */
static void open_sass(struct gp_collection *c)
{
    size_t count = c->list.instrumented;
    if (!count)
        return;
    c->tells = !c->no_session;
    if (!c->tells) {
        c->sass = gp_sass_session_count(&c->device, c->list.names + c->list.hardware_used, count,
                                        c->own, c->sass_unavailable, &c->no_sass);
        return;
    }
    c->no_sass = "the check counters would take a pass of their own beside this selection";
    if (c->list.check_count < GP_LEAST_CHECKS)
        return;
    c->recall = gp_recall_new(count + c->list.own_count + c->list.check_count);
    c->sass = c->recall ? gp_sass_session_tell(&c->device, c->own, &c->no_sass) : NULL;
}

static struct gp_collection *range_open(CUcontext context, const struct gp_device *device,
                                        const char *const *names, size_t count, const char **why)
{
    if (!gp_cupti_find(why))
        return NULL;
    *why = "this CUPTI is too old for the GPU; that of CUDA 12.6 or later is needed";
    if (!gp_cupti_has_ranges() || !gp_profiler_initialize(why))
        return NULL;
    *why = "CUPTI does not name this GPU's chip";
    if (!device->chip[0])
        return NULL;
    struct gp_collection *c = calloc(1, sizeof(*c));
    *why = "memory ran out";
    if (!c)
        return NULL;
    c->context = context;
    c->device = *device;
    if (!gp_counter_list_make(&c->list, c->device.chip, names, count, why)) {
        range_close(c, true);
        return NULL;
    }
    *why = "memory ran out";
    if (!allocate(c)) {
        range_close(c, true);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        c->counters[i].name = names[i];
    c->own = c->list.own_count ? gp_own_open() : NULL;
    c->mixed = c->list.hardware_used < c->list.used;
    if (!open_session(c, why)) {
        range_close(c, true);
        return NULL;
    }
    /* Whether the counters are free shows when they are taken. */
    if (!gp_range_session_start(c->session, why))
        lose_session(c, *why);
    open_sass(c);
    return c;
}

/* ---- slots --------------------------------------------------------------------------------- */

static size_t range_count(const struct gp_collection *c)
{
    return c->list.count;
}

static unsigned range_slot(struct gp_collection *c)
{
    unsigned slot = c->slots_given++;
    c->slots[slot] = (struct slot){.hardware_lost = c->no_session};
    for (size_t i = 0; i < c->list.width; i++) {
        c->values[slot * c->list.width + i] = NAN;
        c->absent[slot * c->list.width + i] = NULL;
    }
    return slot;
}

static bool range_full(const struct gp_collection *c)
{
    return c->slots_given >= slots_of(c);
}

/* Where those of the hardware begin in a row of make_row. */
static size_t checks_in_row(const struct gp_collection *c)
{
    return c->list.instrumented + c->list.own_count;
}

/* The instrumented counters of a slot, our own, and the hardware's that are check counters, in one
 * row.
 */
static void make_row(const struct gp_collection *c, unsigned slot, double *row)
{
    const double *values = &c->values[slot * c->list.width];
    for (size_t i = 0; i < c->list.instrumented; i++)
        *row++ = values[c->list.columns[c->list.hardware_used + i]];
    for (size_t i = 0; i < c->list.own_count; i++)
        *row++ = values[c->list.own_columns[i]];
    for (size_t w = 0; w < c->list.check_count; w++)
        *row++ = values[c->list.checks[w]];
}

static void learn_launch(struct gp_collection *c, unsigned slot)
{
    struct slot *t = &c->slots[slot];
    double *row = c->row;
    make_row(c, slot, row);
    gp_plan_learned(&t->plan);
    for (size_t w = 0; w < c->list.check_count; w++)
        if (isnan(row[checks_in_row(c) + w]))
            return; /* no launch could agree with it */
    gp_recall_learn(c->recall, &t->fingerprint, row);
    if (!t->held) /* else that was when its fingerprint was found */
        gp_recall_found(c->recall, &t->kind, &t->fingerprint, true);
}

/* True when the hardware counted what it did of the launch whose instrumented counters were taken
 * for it, as far as the first `count` check counters tell. */
static bool agrees(const struct gp_collection *c, unsigned slot, const double *row, size_t count)
{
    bool agree = row != NULL;
    for (size_t w = 0; agree && w < count; w++)
        agree = c->values[slot * c->list.width + c->list.checks[w]] == row[checks_in_row(c) + w];
    return agree;
}

/* The launch's own instrumented counters were not measured, and others are not to be taken for
 * them. */
static void unrecall(struct gp_collection *c, unsigned slot, const char *why)
{
    for (size_t i = c->list.hardware_used; i < c->list.used; i++) {
        c->values[slot * c->list.width + c->list.columns[i]] = NAN;
        c->absent[slot * c->list.width + c->list.columns[i]] = why;
    }
    for (size_t i = 0; i < c->list.own_count; i++) {
        c->values[slot * c->list.width + c->list.own_columns[i]] = NAN;
        c->absent[slot * c->list.width + c->list.own_columns[i]] = why;
    }
}

/* What the hardware counted of a launch has to be what it counted of the one whose instrumented
 * counters were taken for it; else these are not its own. */
static void compare_checks(struct gp_collection *c, unsigned slot)
{
    struct slot *t = &c->slots[slot];
    const double *row = gp_recall_find(c->recall, &t->fingerprint);
    bool assumed = t->plan.source == GP_SOURCE_ASSUMED;
    if (!row && t->plan.source == GP_SOURCE_RECALLED)
        return; /* forgotten: there is nothing to compare with */
    bool all = agrees(c, slot, row, c->list.check_count);
    bool agree = assumed ? all : agrees(c, slot, row, GP_LEAST_CHECKS);
    if (assumed)
        gp_recall_assumed(c->recall, &t->kind, all);
    else
        gp_recall_found(c->recall, &t->kind, &t->fingerprint, all);
    if (!agree && !assumed && row)
        gp_recall_bar(c->recall, &t->fingerprint);
    if (!agree)
        unrecall(c, slot, "it was taken for a launch of another kind, and not measured");
}

/* Of a launch that broke off between passes the hardware's counters mean nothing. */
static bool is_whole(const struct gp_collection *c, const struct slot *t)
{
    return t->only_pass ? t->hardware_passes > 0
                        : t->hardware_passes == gp_range_session_hardware_passes(c->session);
}

/* Copies what the session has of a slot: everything counted in it, and marks it as read. */
static void take_values(struct gp_collection *c, unsigned slot)
{
    struct slot *t = &c->slots[slot];
    if (!t->in_session)
        return;
    t->in_session = false;
    const double *values = c->session ? gp_range_session_values(c->session, slot) : NULL;
    if (!values) {
        if (!t->hardware_lost)
            t->hardware_lost = c->no_session ? c->no_session : "CUPTI dropped what it counted";
        if (t->plan.source == GP_SOURCE_ASSUMED) {
            gp_recall_assumed(c->recall, &t->kind, false);
            unrecall(c, slot, t->hardware_lost);
        }
        return;
    }
    bool whole = is_whole(c, t);
    size_t first = whole ? 0 : c->list.hardware_used;
    bool measured = c->mixed && gp_plan_is_measured(&t->plan);
    size_t end = measured ? c->list.used : c->list.hardware_used;
    for (size_t i = first; i < end; i++)
        if (!isnan(values[i])) /* what an earlier session has counted stays */
            c->values[slot * c->list.width + c->list.columns[i]] = values[i];
    t->range_read = t->range_read || measured;
    if (gp_plan_is_recalled(&t->plan) && whole)
        compare_checks(c, slot);
    if (t->plan.source == GP_SOURCE_LEARNABLE && t->range_read && whole)
        learn_launch(c, slot);
}

/* Reads all that the session has counted so far. */
static bool read_session(struct gp_collection *c, const char **why)
{
    bool settled = gp_range_session_settle(c->session, why);
    if (!settled)
        lose_session(c, *why);
    for (unsigned t = 0; t < c->slots_given; t++)
        take_values(c, t);
    gp_range_session_forget_values(c->session);
    return settled;
}

static void range_settle(struct gp_collection *c, bool context_alive)
{
    const char *why = NO_SESSION;
    bool settled = c->session && context_alive && gp_range_session_settle(c->session, &why);
    if (c->session && !settled)
        lose_session(c, why);
    for (unsigned t = 0; t < c->slots_given; t++)
        take_values(c, t);
    if (c->session)
        gp_range_session_forget_values(c->session);
}

static void range_reset(struct gp_collection *c)
{
    c->slots_given = c->sweep = 0;
    if (c->session)
        gp_range_session_reuse_ranges(c->session);
}

/* ---- the hardware's passes ------------------------------------------------------------------- */

/* A session that was lost is opened anew when it is time. */
static bool has_session(struct gp_collection *c)
{
    if (!c->no_session)
        return c->session != NULL;
    const char *why;
    if (gp_clock_seconds() < c->retry_at)
        return false;
    /* Enabling afresh, as an object that has failed once does not recover. */
    for (unsigned t = 0; t < c->slots_given; t++)
        take_values(c, t);
    gp_range_session_close(c->session, true);
    c->session = NULL;
    if (!open_session(c, &why)) {
        lose_session(c, why);
        return false;
    }
    c->no_session = NULL;
    return true;
}

static bool wants_hardware(const struct gp_collection *c)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (!c->list.is_instrumented[i] && !c->list.unavailable[i] &&
            strcmp(c->counters[i].name, GP_DURATION_COUNTER) != 0)
            return true;
    return false;
}

static bool push(struct gp_collection *c, unsigned slot, unsigned pass, const struct gp_run *run,
                 const char **why)
{
    double before = 1e3 * gp_clock_seconds();
    /* A start alone, after all was read, is no turn; nor is a step among the hardware's passes. */
    unsigned instrumented = gp_range_session_hardware_passes(c->session);
    bool back = pass < instrumented && gp_range_session_stands_in(c->session, instrumented);
    bool there = pass == instrumented && pass > 0 &&
                 gp_range_session_stands_in(c->session, instrumented - 1);
    if (gp_range_session_is_past(c->session, pass) && !read_session(c, why))
        return false;
    c->slots[slot].in_session = true;
    bool stands = gp_range_session_advance(c->session, pass, why);
    double took = 1e3 * gp_clock_seconds() - before;
    /* Not earlier: a start leaves memory of CUPTI's dirty in the L2. */
    if (stands && pass < instrumented)
        run->empty_caches(run->empty_caches_data);
    if (!stands || !gp_range_session_push(c->session, slot, why)) {
        lose_session(c, *why);
        return false;
    }
    if (there || back)
        gp_learn_step(&c->cost, there, took);
    c->retry_after = 0;
    return true;
}

static bool pop(struct gp_collection *c, const char **why)
{
    if (gp_range_session_pop(c->session, why))
        return true;
    lose_session(c, *why);
    return false;
}

/* ---- the instrumented pass ------------------------------------------------------------------- */

static bool has_ranges(const struct gp_collection *c)
{
    return c->session && !c->no_session;
}

static bool instruments(const struct gp_collection *c)
{
    return c->list.instrumented > 0 && (has_ranges(c) || (c->sass && !c->tells));
}

static int cc_of(const struct gp_collection *c)
{
    return 10 * c->device.cc_major + c->device.cc_minor;
}

static bool wants_matrices(const struct gp_collection *c)
{
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own[i] < GP_OWN_LOADED)
            return true;
    return false;
}

static struct gp_passes range_passes(struct gp_collection *c)
{
    bool there = has_session(c);
    return (struct gp_passes){
        .hardware = there ? gp_range_session_hardware_passes(c->session) : 0,
        .instrumented = instruments(c),
        .hardware_wanted = wants_hardware(c),
        .no_hardware = c->list.hardware_used ? c->no_session : NULL,
    };
}

static void note_kind(struct slot *t, const struct gp_run *run)
{
    gp_launch_kind_of(&t->kind, run->kernel, run->shape, run->parameters, run->parameters_size);
}

static struct gp_means_to_count means_of(const struct gp_collection *c, const struct gp_run *run)
{
    bool session = has_ranges(c);
    unsigned hardware = session ? gp_range_session_hardware_passes(c->session) : 0;
    return (struct gp_means_to_count){
        .hardware_passes = hardware,
        .session = session,
        .stands_in_instrumented =
            session && c->mixed && gp_range_session_stands_in(c->session, hardware),
        .sass_counts = c->sass && !c->tells,
        .fingerprints = c->sass && c->tells && !run->only_pass && !run->always,
        .instrumented = c->list.instrumented > 0,
        .held = run->held && session,
        .sweep = c->sweep,
    };
}

/* True when our own counters of the run are to be had by comparing it alone. */
static bool multiplies_matrices(const struct gp_collection *c, const struct gp_run *run)
{
    return c->own && wants_matrices(c) && !gp_own_has_no_matrices(c->own, run, cc_of(c));
}

/* Of a launch that is not compared it may be known all the same that it multiplies no matrices.
 */
static void note_no_matrices(struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    if (!c->own || !gp_own_has_no_matrices(c->own, run, cc_of(c)))
        return;
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own[i] < GP_OWN_LOADED)
            c->values[slot * c->list.width + c->list.own_columns[i]] = 0;
}

/* What the plan asks of a launch. */
struct asked {
    struct gp_collection *collection;
    unsigned slot;
    const struct gp_run *run;
};

static bool expects_new(void *data)
{
    const struct asked *a = data;
    struct slot *t = &a->collection->slots[a->slot];
    note_kind(t, a->run);
    return gp_recall_expects_new(a->collection->recall, &t->kind);
}

static bool fingerprint_pays(void *data)
{
    const struct asked *a = data;
    struct slot *t = &a->collection->slots[a->slot];
    note_kind(t, a->run);
    return (gp_recall_compares(a->collection->recall, &t->kind) &&
            (gp_sass_session_counts_instructions(a->collection->sass) ||
             gp_is_worth_telling(&a->collection->cost, a->run))) ||
           multiplies_matrices(a->collection, a->run);
}

static void take_row(struct gp_collection *c, unsigned slot, const double *row)
{
    for (size_t i = 0; i < c->list.instrumented; i++)
        c->values[slot * c->list.width + c->list.columns[c->list.hardware_used + i]] = row[i];
    for (size_t i = 0; i < c->list.own_count; i++) {
        const size_t at = slot * c->list.width + c->list.own_columns[i];
        if (isnan(c->values[at])) /* else they were counted of the launch itself */
            c->values[at] = row[c->list.instrumented + i];
        if (isnan(c->values[at]) && !c->absent[at])
            c->absent[at] = "it was not counted of the launch that was alike either";
    }
}

/* The slot of a held launch with that fingerprint that was measured, or will be. False where
 * there is none. */
static bool find_held(const struct gp_collection *c, const struct gp_fingerprint *f,
                      unsigned *found)
{
    for (unsigned i = 0; i < c->slots_given; i++) {
        const struct slot *t = &c->slots[i];
        bool measured = t->plan.source == GP_SOURCE_NEW || t->plan.source == GP_SOURCE_LEARNABLE;
        if (t->held && measured && memcmp(&t->fingerprint, f, sizeof(*f)) == 0) {
            *found = i;
            return true;
        }
    }
    return false;
}

/* As agrees, with a launch whose instrumented counters are still to come. */
static bool agree_with(const struct gp_collection *c, unsigned slot, unsigned other, size_t count)
{
    const double *mine = &c->values[slot * c->list.width];
    const double *its = &c->values[other * c->list.width];
    bool agree = true;
    for (size_t w = 0; agree && w < count; w++)
        agree = mine[c->list.checks[w]] == its[c->list.checks[w]];
    return agree;
}

/* A held launch: what the hardware counted of it is there, so that it is known at once. */
static bool assume_held(struct gp_collection *c, unsigned slot, const struct gp_run *run)
{
    struct slot *t = &c->slots[slot];
    struct gp_fingerprint fingerprint;
    const double *row;
    unsigned other = 0;
    note_kind(t, run);
    if (!c->sass || !c->tells || c->list.check_count < GP_ALL_CHECKS || run->always ||
        !run->parameters || !gp_recall_assume_early(c->recall, &t->kind, &fingerprint, &row))
        return false;
    bool there = row || find_held(c, &fingerprint, &other);
    bool alike = there && (row ? agrees(c, slot, row, c->list.check_count)
                               : agree_with(c, slot, other, c->list.check_count));
    gp_recall_assumed(c->recall, &t->kind, alike);
    if (!alike)
        return false;
    t->fingerprint = fingerprint;
    if (row)
        take_row(c, slot, row);
    else
        t->like = other + 1;
    return true;
}

/* After its hardware passes, where these can confirm it. */
static bool assume(void *data)
{
    const struct asked *a = data;
    struct gp_collection *c = a->collection;
    struct slot *t = &c->slots[a->slot];
    if (a->run->held)
        return assume_held(c, a->slot, a->run);
    bool can_be_confirmed = c->sass && c->tells && c->list.check_count == GP_ALL_CHECKS &&
                            !c->no_session && t->in_session &&
                            t->hardware_passes == gp_range_session_hardware_passes(c->session);
    if (!can_be_confirmed || a->run->always || a->run->was_held || !a->run->parameters)
        return false;
    note_kind(t, a->run);
    const double *row = gp_recall_assume(c->recall, &t->kind, &t->fingerprint);
    if (row)
        take_row(c, a->slot, row);
    return row != NULL;
}

static bool range_next(struct gp_collection *c, unsigned slot, const struct gp_run *run, bool made,
                       unsigned *pass)
{
    struct asked asked = {c, slot, run};
    const struct gp_means_to_count means = means_of(c, run);
    const struct gp_plan_questions questions = {expects_new, fingerprint_pays, assume, &asked};
    c->slots[slot].held = means.held;
    if (means.held)
        note_kind(&c->slots[slot], run);
    return gp_plan_next(&c->slots[slot].plan, &means, &questions, made, pass);
}

static bool begin_instrumented(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                               const char **why)
{
    struct slot *t = &c->slots[slot];
    struct asked asked = {c, slot, run};
    const struct gp_means_to_count means = means_of(c, run);
    const struct gp_plan_questions questions = {expects_new, fingerprint_pays, assume, &asked};
    note_kind(t, run);
    if (gp_plan_way(&t->plan, &means, &questions) == GP_WAY_RANGE) {
        if (!t->by_sass)
            note_no_matrices(c, slot, run);
        bool begun = push(c, slot, gp_range_session_hardware_passes(c->session), run, why);
        t->started_ms = 1e3 * gp_clock_seconds();
        return begun;
    }
    if (!c->sass || c->tells != !c->no_session) {
        *why = c->no_session ? c->no_session : "counters are being set up anew";
        return false;
    }
    t->started_ms = 1e3 * gp_clock_seconds();
    return gp_sass_session_begin(c->sass, c->context, why);
}

/* The instrumented counters of a launch that was just like this one, measured and recorded early
 * but not learned, as what the hardware counted of it was not read yet; NULL where there is none.
 */
static const double *find_match(struct gp_collection *c, unsigned slot, double *row)
{
    const struct slot *t = &c->slots[slot];
    for (unsigned i = 0; i < slot; i++) {
        const struct slot *match = &c->slots[i];
        if (match->plan.source != GP_SOURCE_LEARNABLE || !match->range_read ||
            !is_whole(c, match) ||
            memcmp(&match->fingerprint, &t->fingerprint, sizeof(t->fingerprint)) != 0 ||
            gp_recall_is_barred(c->recall, &t->fingerprint))
            continue;
        make_row(c, i, row);
        return row;
    }
    return NULL;
}

/* The same for a held launch: whether it is like another one is known at once. */
static void recall_held(struct gp_collection *c, unsigned slot)
{
    struct slot *t = &c->slots[slot];
    bool all = true;
    unsigned other = 0;
    const double *row = gp_recall_values(c->recall, &t->fingerprint);
    bool is_known = gp_recall_find(c->recall, &t->fingerprint) != NULL;
    bool is_held = !row && !is_known && !gp_recall_is_barred(c->recall, &t->fingerprint) &&
                   find_held(c, &t->fingerprint, &other);
    enum gp_finding finding = row ? GP_FOUND_LEARNED : is_held ? GP_FOUND_UNLEARNED : GP_FOUND_NONE;
    if (row || is_held) {
        all = row ? agrees(c, slot, row, c->list.check_count)
                  : agree_with(c, slot, other, c->list.check_count);
        if (!(row ? agrees(c, slot, row, GP_LEAST_CHECKS)
                  : agree_with(c, slot, other, GP_LEAST_CHECKS))) {
            gp_recall_bar(c->recall, &t->fingerprint);
            finding = GP_FOUND_NONE;
        }
    }
    gp_recall_compared(c->recall, &t->kind, finding == GP_FOUND_NONE);
    gp_recall_found(c->recall, &t->kind, &t->fingerprint, all);
    gp_plan_found(&t->plan, finding);
    if (finding == GP_FOUND_LEARNED)
        take_row(c, slot, row);
    if (finding == GP_FOUND_UNLEARNED)
        t->like = other + 1;
}

/* Searches the counters among launches that were measured. */
static void recall(struct gp_collection *c, unsigned slot)
{
    struct slot *t = &c->slots[slot];
    if (t->held) {
        recall_held(c, slot);
        return;
    }
    enum gp_finding finding = GP_FOUND_NONE;
    /* Of a launch that is known there may be no values all the same: it is to be measured again. */
    bool is_known = gp_recall_find(c->recall, &t->fingerprint) != NULL;
    const double *row = gp_recall_values(c->recall, &t->fingerprint);
    if (row) {
        finding = GP_FOUND_LEARNED;
    } else if (!is_known && !gp_plan_is_measured(&t->plan)) {
        row = find_match(c, slot, c->row);
        finding = row ? GP_FOUND_UNLEARNED : GP_FOUND_NONE;
    }
    gp_recall_compared(c->recall, &t->kind, !row);
    gp_plan_found(&t->plan, finding);
    if (gp_plan_is_recalled(&t->plan))
        take_row(c, slot, row);
}

static void take_own(struct gp_collection *c, unsigned slot)
{
    double values[GP_OWN_COUNT];
    const char *absent[GP_OWN_COUNT];
    if (!c->own)
        return;
    gp_own_end(c->own, values, absent);
    for (size_t i = 0; i < c->list.own_count; i++) {
        c->values[slot * c->list.width + c->list.own_columns[i]] = values[c->list.own[i]];
        c->absent[slot * c->list.width + c->list.own_columns[i]] = absent[c->list.own[i]];
    }
}

static bool end_sass(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                     const char **why)
{
    size_t first = c->list.hardware_used, instrumented = c->list.used - first;
    double *values = calloc(instrumented + 1, sizeof(*values));
    const char **absent = calloc(instrumented + 1, sizeof(*absent));
    *why = "memory ran out";
    bool ok = values && absent &&
              gp_sass_session_end(c->sass, c->context, run, cc_of(c), values, absent,
                                  &c->slots[slot].fingerprint, why);
    for (size_t i = 0; ok && !c->tells && i < instrumented; i++) {
        const char *why_not = c->sass_unavailable[i] ? c->sass_unavailable[i] : absent[i];
        c->values[slot * c->list.width + c->list.columns[first + i]] = why_not ? NAN : values[i];
        c->absent[slot * c->list.width + c->list.columns[first + i]] = why_not;
    }
    if (ok)
        take_own(c, slot);
    free(values);
    free(absent);
    if (ok && c->tells)
        recall(c, slot);
    else if (ok)
        gp_plan_counted(&c->slots[slot].plan);
    return ok;
}

static bool end_instrumented(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                             const char **why)
{
    struct slot *t = &c->slots[slot];
    bool by_range = t->plan.way == GP_WAY_RANGE;
    *why = "its launch was refused";
    bool ok = by_range ? pop(c, why) && !run->refused : end_sass(c, slot, run, why);
    if (!ok)
        return false;
    if (by_range)
        gp_plan_measured(&t->plan);
    else
        t->by_sass = true;
    gp_learn_pass(&c->cost, by_range, run, 1e3 * gp_clock_seconds() - t->started_ms);
    return true;
}

static bool range_begin(struct gp_collection *c, unsigned slot, unsigned pass,
                        const struct gp_run *run, const char **why)
{
    if (pass == GP_INSTRUMENTED_PASS)
        return begin_instrumented(c, slot, run, why);
    c->slots[slot].only_pass = run->only_pass;
    return push(c, slot, pass, run, why);
}

static bool range_end(struct gp_collection *c, unsigned slot, unsigned pass,
                      const struct gp_run *run, const char **why)
{
    if (pass == GP_INSTRUMENTED_PASS)
        return end_instrumented(c, slot, run, why);
    if (!pop(c, why))
        return false;
    if (!run->refused) {
        c->slots[slot].hardware_passes = pass + 1;
        c->slots[slot].hardware_lost = NULL;
    }
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_own(const struct gp_collection *c, size_t column)
{
    for (size_t i = 0; i < c->list.own_count; i++)
        if (c->list.own_columns[i] == column)
            return true;
    return false;
}

/* Why a counter that is no number is absent. */
static const char *missing(const struct gp_collection *c, const struct slot *t, size_t column,
                           const char *not_run)
{
    const char *nothing = "the GPU counted nothing to divide by";
    enum gp_source source = t->plan.source;
    bool unread = !c->list.is_instrumented[column] || source == GP_SOURCE_ASSUMED ||
                  (gp_plan_is_measured(&t->plan) && !t->range_read);
    if (t->in_session && unread)
        return "the process ended before it was read";
    if (is_own(c, column) && !t->by_sass)
        return c->sass ? "how often each instruction ran was not counted" : c->no_sass;
    if (c->list.is_instrumented[column]) {
        if (source == GP_SOURCE_NEW)
            return c->no_session ? c->no_session : "it needs a pass that could not be made";
        if (gp_plan_is_measured(&t->plan) && !t->range_read && t->hardware_lost)
            return t->hardware_lost;
        return source == GP_SOURCE_NONE || source == GP_SOURCE_ASSUMED ? not_run : nothing;
    }
    if (t->hardware_lost)
        return t->hardware_lost;
    unsigned passes = c->session ? gp_range_session_hardware_passes(c->session) : 0;
    if (t->hardware_passes && t->hardware_passes == passes && (passes == 1 || !t->only_pass))
        return nothing;
    return c->no_session && !t->hardware_passes ? c->no_session : not_run;
}

/* What the hardware says of the tensor cores where the kernel's code says nothing: those that did
 * nothing in a launch multiplied no matrices. Not of FP64 on chips that do it elsewhere. */
#define TENSOR_CYCLES "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"

static bool tensor_cores_rested(const struct gp_collection *c)
{
    for (size_t i = 0; i < c->list.count; i++)
        if (strcmp(c->counters[i].name, TENSOR_CYCLES) == 0)
            return !c->counters[i].absent && c->counters[i].value == 0;
    return false;
}

static void note_rest(struct gp_collection *c)
{
    const int cc = cc_of(c);
    const bool fp64_too = cc == 80 || cc == 90 || cc == 100;
    if (!c->list.own_count || !tensor_cores_rested(c))
        return;
    for (size_t i = 0; i < c->list.own_count; i++) {
        struct gp_counter *counter = &c->counters[c->list.own_columns[i]];
        const enum gp_own_counter own = c->list.own[i];
        if (!counter->absent || own >= GP_OWN_LOADED || (own == GP_OWN_FP64 && !fp64_too))
            continue;
        counter->absent = NULL;
        counter->value = 0;
    }
}

static const struct gp_counter *range_read(struct gp_collection *c, unsigned slot,
                                           const char *not_run)
{
    const struct slot *t = &c->slots[slot];
    for (size_t i = 0; i < c->list.count; i++) {
        double value = c->values[slot * c->list.width + i];
        const char *absent = c->absent[slot * c->list.width + i];
        if (t->plan.source == GP_SOURCE_ASSUMED && t->in_session) /* it may not be so */
            value = NAN;
        c->counters[i].value = value;
        c->counters[i].absent = c->list.unavailable[i] ? c->list.unavailable[i]
                                : absent               ? absent
                                : isfinite(value)      ? NULL
                                                       : missing(c, t, i, not_run);
    }
    note_rest(c);
    return c->counters;
}

static bool is_open(const struct gp_collection *c, const struct slot *t)
{
    const struct gp_run run = {.held = t->held};
    const struct gp_means_to_count means = means_of(c, &run);
    return means.held && gp_plan_is_open(&t->plan, &means);
}

static struct gp_slot_state range_state(const struct gp_collection *c, unsigned slot)
{
    const struct slot *t = &c->slots[slot];
    bool open = is_open(c, t);
    return (struct gp_slot_state){.read = !t->in_session && !open && !t->like,
                                  .open = open,
                                  .familiar = open && c->recall &&
                                              gp_recall_is_familiar(c->recall, &t->kind),
                                  .recalled = gp_plan_is_recalled(&t->plan)};
}

/* ---- sweeps over launches that are held ------------------------------------------------------ */

/* What the hardware counted so far becomes readable. */
static void read_hardware(struct gp_collection *c)
{
    const char *why = NO_SESSION;
    if (!c->session || c->no_session)
        return;
    if (!gp_range_session_settle_hardware(c->session, &why))
        lose_session(c, why);
    for (unsigned t = 0; t < c->slots_given; t++)
        take_values(c, t);
    gp_range_session_forget_values(c->session);
}

/* Those that are like a held launch have its instrumented counters, now that it has been measured;
 * where it was not, they are measured themselves. */
static void take_from_held(struct gp_collection *c)
{
    for (unsigned i = 0; i < c->slots_given; i++) {
        struct slot *t = &c->slots[i];
        if (!t->like)
            continue;
        const struct slot *other = &c->slots[t->like - 1];
        if (other->range_read && is_whole(c, other)) {
            make_row(c, t->like - 1, c->row);
            take_row(c, i, c->row);
        } else {
            gp_plan_reopen(&t->plan);
        }
        t->like = 0;
    }
}

static bool any_open(const struct gp_collection *c)
{
    bool open = false;
    for (unsigned i = 0; i < c->slots_given && !open; i++)
        open = is_open(c, &c->slots[i]);
    return open;
}

static bool range_sweep(struct gp_collection *c, unsigned sweep)
{
    unsigned hardware = has_ranges(c) ? gp_range_session_hardware_passes(c->session) : 0;
    unsigned fingerprints = gp_plan_sweep_of_fingerprints(hardware);
    c->sweep = sweep;
    if (sweep == fingerprints)
        read_hardware(c);
    if (sweep == fingerprints + 2) {
        range_settle(c, true);
        take_from_held(c);
    }
    return sweep <= fingerprints + 2 && any_open(c);
}

const struct gp_collector gp_range_collector = {
    .suits = range_suits,
    .open = range_open,
    .passes = range_passes,
    .next = range_next,
    .sweep = range_sweep,
    .state = range_state,
    .slot = range_slot,
    .full = range_full,
    .begin = range_begin,
    .end = range_end,
    .count = range_count,
    .settle = range_settle,
    .read = range_read,
    .reset = range_reset,
    .close = range_close,
};
