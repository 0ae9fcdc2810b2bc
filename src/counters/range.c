/* Counters of GPUs of compute capability 7.0 and later: the hardware's by a session of the Range
 * Profiler that stays armed from launch to launch, those of instrumented code by the SASS metrics.
 *
 * The SASS metrics cost little per launch and much per instruction; the Range Profiler can
 * instrument code too, and costs much per launch (its session is stopped and started) and less per
 * instruction. Which one a launch gets is decided by what its kernel was seen to cost. A session of
 * the Range Profiler takes one list of counters for good, and one that can do both is slower, so
 * the session becomes such a one (mixed) only when that pays. */
#include "counters/collector.h"

#include "counters/range_session.h"
#include "counters/sass_session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Launches whose counters wait to be read. Each costs the first start of a session 0.6 ms (with
 * instrumented counters 3 ms); few of them stop and start it often, which costs 15 ms. */
#define HARDWARE_TICKETS 128
#define MIXED_TICKETS 64

/* Guesses until a kernel has been seen: how many times slower instrumented code is. */
#define SASS_SLOWDOWN 100.0
#define RANGE_SLOWDOWN 25.0
/* Milliseconds that an instrumented pass of the Range Profiler costs beside the kernel; and what it
 * costs to change to a mixed session, after which one pays off. */
#define RANGE_PASS_MS 20.0
#define MIXED_SESSION_MS 400.0

/* Seconds until counters that were busy are asked for again, doubled each time. */
#define FIRST_RETRY 10.0
#define LAST_RETRY 300.0

#define NO_SESSION "the session with the GPU's counters has ended"

struct ticket {
    unsigned hardware_passes;          /* made */
    bool in_session;                   /* by the session that is open now */
    bool by_range, by_sass;            /* the instrumented pass was made, and how */
    bool lacks_shared;                 /* counters of shared addresses are still to be measured */
    struct gp_fingerprint fingerprint; /* of a launch whose instructions were counted */
    double started_ms;                 /* the instrumented pass */
    const char *hardware_lost;         /* why what the hardware counted cannot be read */
};

struct gp_collection {
    CUcontext context;
    struct gp_device device;

    struct gp_counter *counters; /* what read answers: `count` of them, in the order of open */
    const char **unavailable;    /* why this chip cannot count one, NULL if it can */
    bool *instrumented;
    size_t count;

    const char **names; /* those the chip can count: `used` of them, the hardware's first */
    size_t *places;     /* where each stands among `counters` */
    size_t used, hardware_used;

    struct gp_range_session *session;
    const char *no_session; /* why there is none */
    bool mixed;
    bool wants_mixed;             /* as soon as all tickets have been read */
    double retry_at, retry_after; /* seconds */
    double regret;                /* milliseconds that mixed would have saved so far */

    struct gp_sass_session *sass;
    const char *no_sass;
    const char **sass_unavailable; /* by name; why the SASS metrics do not give it */
    bool sass_gives_all;           /* but for those of shared addresses */
    bool *shares;                  /* by name: it depends on which addresses threads share */
    size_t shared_count;           /* of them */
    struct gp_recall *recall;      /* of these, NULL where there are none */

    struct ticket tickets[HARDWARE_TICKETS];
    unsigned tickets_given;
    double *values;      /* tickets x counters */
    const char **absent; /* the same */
};

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

void gp_collectors_leave(CUcontext context)
{
    gp_sass_sessions_leave(context);
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
    gp_range_session_close(c->session, context_alive);
    free(c->counters);
    free(c->unavailable);
    free(c->instrumented);
    free(c->names);
    free(c->places);
    free(c->sass_unavailable);
    free(c->shares);
    gp_recall_free(c->recall);
    free(c->values);
    free(c->absent);
    free(c);
}

static struct gp_collection *allocate(const char *const *names, size_t count)
{
    struct gp_collection *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->count = count;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->unavailable = calloc(count + 1, sizeof(*c->unavailable));
    c->instrumented = calloc(count + 1, sizeof(*c->instrumented));
    c->names = calloc(count + 1, sizeof(*c->names));
    c->places = calloc(count + 1, sizeof(*c->places));
    c->sass_unavailable = calloc(count + 1, sizeof(*c->sass_unavailable));
    c->shares = calloc(count + 1, sizeof(*c->shares));
    c->values = calloc((count + 1) * HARDWARE_TICKETS, sizeof(*c->values));
    c->absent = calloc((count + 1) * HARDWARE_TICKETS, sizeof(*c->absent));
    if (!c->counters || !c->unavailable || !c->instrumented || !c->names || !c->places ||
        !c->sass_unavailable || !c->shares || !c->values || !c->absent) {
        range_close(c, false);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        c->counters[i].name = names[i];
        c->instrumented[i] = gp_counter_is_instrumented(names[i]);
    }
    return c;
}

/* Lists the counters the chip has, the hardware's first. */
static bool sort_names(struct gp_collection *c, const char *const *names, const char **why)
{
    if (!gp_range_config_try(c->device.chip, names, c->count, c->unavailable, why))
        return false;
    for (int instrumented = 0; instrumented < 2; instrumented++) {
        for (size_t i = 0; i < c->count; i++)
            if (!c->unavailable[i] && c->instrumented[i] == instrumented) {
                c->names[c->used] = names[i];
                c->places[c->used++] = i;
            }
        if (!instrumented)
            c->hardware_used = c->used;
    }
    return true;
}

static unsigned tickets_of(const struct gp_collection *c)
{
    return c->mixed ? MIXED_TICKETS : HARDWARE_TICKETS;
}

/* The hardware's session could not be had, or has failed. Counters that are busy become free some
 * time; permissions do not. */
static void lose_session(struct gp_collection *c, const char *why)
{
    for (unsigned t = 0; t < c->tickets_given; t++)
        if (c->tickets[t].in_session && !c->tickets[t].hardware_lost)
            c->tickets[t].hardware_lost = why;
    c->no_session = why;
    c->retry_after = c->retry_after ? fmin(2 * c->retry_after, LAST_RETRY) : FIRST_RETRY;
    c->retry_at = now_seconds() + c->retry_after;
}

static bool open_session(struct gp_collection *c, const char **why)
{
    struct gp_range_config config;
    size_t count = c->mixed ? c->used : c->hardware_used;
    if (!gp_range_config_make(&config, c->device.chip, c->names, count, c->hardware_used, why)) {
        gp_range_config_free(&config);
        return false;
    }
    c->session = gp_range_session_open(c->context, &config, tickets_of(c), why);
    return c->session != NULL;
}

static void open_sass(struct gp_collection *c)
{
    size_t instrumented = c->used - c->hardware_used;
    if (!instrumented)
        return;
    c->sass = gp_sass_session_open(&c->device, c->names + c->hardware_used, instrumented,
                                   c->sass_unavailable, c->shares, &c->no_sass);
    c->sass_gives_all = c->sass != NULL;
    for (size_t i = 0; c->sass && i < instrumented; i++) {
        c->sass_gives_all = c->sass_gives_all && !c->sass_unavailable[i];
        c->shared_count += c->shares[i];
    }
    c->recall = c->shared_count ? gp_recall_new(c->shared_count) : NULL;
}

/* The counters of shared addresses of a ticket, to and from one row. */
static double *shared_values(struct gp_collection *c, unsigned ticket, double *row)
{
    size_t n = 0;
    for (size_t i = 0; i < c->used - c->hardware_used; i++)
        if (c->shares[i])
            row[n++] = c->values[ticket * c->count + c->places[c->hardware_used + i]];
    return row;
}

static void put_shared_values(struct gp_collection *c, unsigned ticket, const double *row)
{
    size_t n = 0;
    for (size_t i = 0; i < c->used - c->hardware_used; i++)
        if (c->shares[i])
            c->values[ticket * c->count + c->places[c->hardware_used + i]] = row[n++];
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
    struct gp_collection *c = allocate(names, count);
    *why = "memory ran out";
    if (!c)
        return NULL;
    c->context = context;
    c->device = *device;
    if (!sort_names(c, names, why)) {
        range_close(c, true);
        return NULL;
    }
    open_sass(c);
    c->mixed = c->hardware_used < c->used && (!c->sass || c->shared_count);
    if (!open_session(c, why)) {
        range_close(c, true);
        return NULL;
    }
    return c;
}

/* ---- tickets --------------------------------------------------------------------------------- */

static size_t range_count(const struct gp_collection *c)
{
    return c->count;
}

static unsigned range_ticket(struct gp_collection *c)
{
    unsigned ticket = c->tickets_given++;
    c->tickets[ticket] = (struct ticket){0};
    for (size_t i = 0; i < c->count; i++) {
        c->values[ticket * c->count + i] = NAN;
        c->absent[ticket * c->count + i] = NULL;
    }
    return ticket;
}

static bool range_full(const struct gp_collection *c)
{
    return c->tickets_given >= tickets_of(c) || (c->wants_mixed && !c->mixed);
}

/* Copies what the session has of a ticket: everything counted in it, and marks it as read. */
static void take_values(struct gp_collection *c, unsigned ticket)
{
    struct ticket *t = &c->tickets[ticket];
    if (!t->in_session)
        return;
    t->in_session = false;
    const double *values = c->session ? gp_range_session_values(c->session, ticket) : NULL;
    if (!values) {
        if (!t->hardware_lost)
            t->hardware_lost = c->no_session ? c->no_session : "CUPTI dropped what it counted";
        return;
    }
    /* Of a launch that broke off between passes the hardware's counters mean nothing. */
    bool whole = t->hardware_passes == gp_range_session_hardware_passes(c->session);
    size_t first = whole ? 0 : c->hardware_used;
    size_t end = c->mixed && t->by_range ? c->used : c->hardware_used;
    for (size_t i = first; i < end; i++)
        if (!isnan(values[i])) /* what an earlier session has counted stays */
            c->values[ticket * c->count + c->places[i]] = values[i];
    if (t->lacks_shared && t->by_range) {
        double row[c->shared_count];
        t->lacks_shared = false;
        gp_recall_learn(c->recall, &t->fingerprint, shared_values(c, ticket, row));
    }
}

/* Reads all that the session has counted so far. */
static bool read_session(struct gp_collection *c, const char **why)
{
    bool settled = gp_range_session_settle(c->session, why);
    if (!settled)
        lose_session(c, *why);
    for (unsigned t = 0; t < c->tickets_given; t++)
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
    for (unsigned t = 0; t < c->tickets_given; t++)
        take_values(c, t);
    if (c->session)
        gp_range_session_forget_values(c->session);
}

static void range_reset(struct gp_collection *c)
{
    c->tickets_given = 0;
}

/* ---- the hardware's passes ------------------------------------------------------------------- */

/* A session that was lost is opened anew when it is time. */
static bool has_session(struct gp_collection *c)
{
    if (!c->no_session)
        return c->session != NULL;
    const char *why;
    if (now_seconds() < c->retry_at)
        return false;
    /* Enabling afresh, as an object that has failed once does not recover. */
    for (unsigned t = 0; t < c->tickets_given; t++)
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

static unsigned range_hardware_passes(struct gp_collection *c)
{
    return c->hardware_used && has_session(c) ? gp_range_session_hardware_passes(c->session) : 0;
}

static const char *range_no_hardware(const struct gp_collection *c)
{
    return c->hardware_used ? c->no_session : NULL;
}

static bool push(struct gp_collection *c, unsigned ticket, unsigned pass, const char **why)
{
    c->tickets[ticket].in_session = true;
    if (gp_range_session_push(c->session, ticket, pass, why)) {
        c->retry_after = 0;
        return true;
    }
    lose_session(c, *why);
    return false;
}

static bool pop(struct gp_collection *c, const char **why)
{
    if (gp_range_session_pop(c->session, why))
        return true;
    lose_session(c, *why);
    return false;
}

/* ---- the instrumented pass ------------------------------------------------------------------- */

static bool range_instruments(const struct gp_collection *c)
{
    return c->used > c->hardware_used && (c->sass || (c->session && !c->no_session));
}

/* Changes to a session that can instrument code as well. What was counted so far is read first. */
static bool mix(struct gp_collection *c, const char **why)
{
    if (c->mixed)
        return true;
    if (c->tickets_given > MIXED_TICKETS) {
        /* Tickets are given that such a session has no ranges for. */
        c->wants_mixed = true;
        return false;
    }
    if (!read_session(c, why))
        return false;
    gp_range_session_close(c->session, true);
    c->session = NULL;
    c->mixed = true;
    if (open_session(c, why))
        return true;
    lose_session(c, *why);
    return false;
}

/* Milliseconds that instrumenting the run is expected to take, either way. */
static double expect_sass(const struct gp_run *run)
{
    return run->native_ms * (run->cost->sass > 0 ? run->cost->sass : SASS_SLOWDOWN);
}

static double expect_range(const struct gp_run *run)
{
    return RANGE_PASS_MS +
           run->native_ms * (run->cost->range > 0 ? run->cost->range : RANGE_SLOWDOWN);
}

/* True when the Range Profiler is to instrument the run. */
static bool prefers_range(struct gp_collection *c, const struct ticket *t, const struct gp_run *run)
{
    size_t size;
    const char *why = NULL;
    if (!c->session || c->no_session)
        return false;
    if (t->lacks_shared || (run->only_pass && c->shared_count))
        return true;
    if (!c->sass || !c->sass_gives_all || run->cost->sass_misses ||
        !run->find_code(run->find_code_data, run->kernel, &size, &why))
        return true;
    double saved = expect_sass(run) - expect_range(run);
    if (saved <= 0)
        return false;
    c->regret += saved;
    return c->mixed || c->regret > MIXED_SESSION_MS;
}

static bool begin_instrumented(struct gp_collection *c, unsigned ticket, const struct gp_run *run,
                               const char **why)
{
    struct ticket *t = &c->tickets[ticket];
    bool by_range = prefers_range(c, t, run) && mix(c, why);
    if (!by_range && !c->sass) {
        *why = c->no_session ? c->no_session : "counters are being set up anew";
        return false;
    }
    t->started_ms = 1e3 * now_seconds();
    if (by_range) {
        t->by_range = true;
        return push(c, ticket, gp_range_session_hardware_passes(c->session), why);
    }
    t->by_sass = true;
    return gp_sass_session_begin(c->sass, c->context, why);
}

/* A value between what is known and what was seen now, so that one odd launch does not decide. */
static void learn(double *cost, double seen)
{
    *cost = *cost > 0 ? (*cost + seen) / 2 : seen;
}

static bool range_instruments_again(const struct gp_collection *c, unsigned ticket)
{
    return c->tickets[ticket].lacks_shared && c->session && !c->no_session;
}

/* Looks for the counters of shared addresses among launches of the same kind. */
static void recall(struct gp_collection *c, struct ticket *t, unsigned ticket)
{
    const double *row = c->recall ? gp_recall_values(c->recall, &t->fingerprint) : NULL;
    if (row)
        put_shared_values(c, ticket, row);
    t->lacks_shared = c->shared_count && !row;
}

static bool end_sass(struct gp_collection *c, unsigned ticket, const struct gp_run *run,
                     const char **why)
{
    size_t first = c->hardware_used, instrumented = c->used - first;
    double *values = calloc(instrumented + 1, sizeof(*values));
    const char **absent = calloc(instrumented + 1, sizeof(*absent));
    *why = "memory ran out";
    bool ok =
        values && absent &&
        gp_sass_session_end(c->sass, c->context, run, 10 * c->device.cc_major + c->device.cc_minor,
                            values, absent, &c->tickets[ticket].fingerprint, why);
    for (size_t i = 0; ok && i < instrumented; i++) {
        c->values[ticket * c->count + c->places[first + i]] = absent[i] ? NAN : values[i];
        c->absent[ticket * c->count + c->places[first + i]] = absent[i];
        run->cost->sass_misses = run->cost->sass_misses || absent[i];
    }
    free(values);
    free(absent);
    if (ok)
        recall(c, &c->tickets[ticket], ticket);
    return ok;
}

static bool end_instrumented(struct gp_collection *c, unsigned ticket, const struct gp_run *run,
                             const char **why)
{
    struct ticket *t = &c->tickets[ticket];
    bool ok = t->by_range ? pop(c, why) : end_sass(c, ticket, run, why);
    if (ok && t->by_range)
        ok = read_session(c, why); /* which must be stopped anyway before the next launch */
    double took = 1e3 * now_seconds() - t->started_ms;
    if (!ok) {
        t->by_range = t->by_sass = false;
    } else if (run->native_ms > 0) {
        if (t->by_range)
            learn(&run->cost->range, took / run->native_ms);
        else
            learn(&run->cost->sass, took / run->native_ms);
    }
    return ok;
}

static bool range_begin(struct gp_collection *c, unsigned ticket, unsigned pass,
                        const struct gp_run *run, const char **why)
{
    if (pass == GP_INSTRUMENTED_PASS)
        return begin_instrumented(c, ticket, run, why);
    return push(c, ticket, pass, why);
}

static bool range_end(struct gp_collection *c, unsigned ticket, unsigned pass,
                      const struct gp_run *run, const char **why)
{
    if (pass == GP_INSTRUMENTED_PASS)
        return end_instrumented(c, ticket, run, why);
    if (!pop(c, why))
        return false;
    c->tickets[ticket].hardware_passes = pass + 1;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Why a counter that is no number is absent. */
static const char *missing(const struct gp_collection *c, const struct ticket *t, size_t place,
                           const char *not_run)
{
    const char *nothing = "the GPU counted nothing to divide by";
    if (t->in_session && (t->by_range || !c->instrumented[place]))
        return "the process ended before it was read";
    if (c->instrumented[place]) {
        if (t->lacks_shared && !t->by_range)
            return c->no_session ? c->no_session : "it needs a pass that could not be made";
        if (t->by_range)
            return t->hardware_lost ? t->hardware_lost : nothing;
        return t->by_sass ? nothing : not_run;
    }
    if (t->hardware_lost)
        return t->hardware_lost;
    bool all = c->session && t->hardware_passes == gp_range_session_hardware_passes(c->session);
    if (t->hardware_passes && all)
        return nothing;
    return c->no_session && !t->hardware_passes ? c->no_session : not_run;
}

static const struct gp_counter *range_read(struct gp_collection *c, unsigned ticket,
                                           const char *not_run)
{
    const struct ticket *t = &c->tickets[ticket];
    for (size_t i = 0; i < c->count; i++) {
        double value = c->values[ticket * c->count + i];
        const char *absent = c->absent[ticket * c->count + i];
        c->counters[i].value = value;
        c->counters[i].absent = c->unavailable[i] ? c->unavailable[i]
                                : absent          ? absent
                                : isfinite(value) ? NULL
                                                  : missing(c, t, i, not_run);
    }
    return c->counters;
}

const struct gp_collector gp_range_collector = {
    .name = "range profiler",
    .suits = range_suits,
    .open = range_open,
    .hardware_passes = range_hardware_passes,
    .instruments = range_instruments,
    .instruments_again = range_instruments_again,
    .no_hardware = range_no_hardware,
    .ticket = range_ticket,
    .full = range_full,
    .begin = range_begin,
    .end = range_end,
    .count = range_count,
    .settle = range_settle,
    .read = range_read,
    .reset = range_reset,
    .close = range_close,
};
