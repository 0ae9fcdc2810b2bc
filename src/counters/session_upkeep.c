/* The sessions of a collection: that with the hardware's counters, opened, and opened anew where it
 * was lost; and the SASS metrics beside it, or without it. */
#include "base/clock.h"
#include "counters/inside.h"

#include <math.h>

/* Seconds until counters that were busy are asked for again, doubled each time. */
#define FIRST_RETRY 10.0
#define LAST_RETRY 300.0

/* CUPTI's image has half a million bytes for each range with the default counters, and it is kept
 * twice. It is emptied at some GB/s. */
#define MOST_BYTES ((size_t)64 << 20)

/* Launches in a row of which the SASS metrics counted nothing, without the right to read counters.
 * The first one of a process has records in any case. */
#define MOST_UNCOUNTED 2
#define LEAST_COUNTED 2

/* A session that has failed is noted as none: its values can be read, and nothing more can be
 * counted. */
static void note_facts(struct gp_range_collection *c)
{
    bool session = c->session && !c->no_session.cause;
    c->base.facts = (struct gp_batch_facts){
        .session = session,
        .instrumented = c->list.instrumented > 0,
        .hardware_passes = session ? range_session_hardware_passes(c->session) : 0,
    };
}

bool range_collection_open_session(struct gp_range_collection *c, struct gp_reason *why)
{
    struct gp_range_config config;
    if (!gp_range_config_make(&config, c->device.chip, c->list.names, c->list.used,
                              c->list.hardware_used, why)) {
        gp_range_config_free(&config);
        return false;
    }
    c->session = range_session_open(c->context, &config, GP_MOST_RANGES, MOST_BYTES, why);
    if (c->session)
        c->no_session = GP_NO_REASON;
    note_facts(c);
    return c->session != NULL;
}

void range_collection_lose_session(struct gp_range_collection *c, struct gp_reason why)
{
    for (unsigned i = 0; i < c->base.batch.count; i++) {
        struct gp_member *m = c->base.batch.members[i];
        if (m->in_session && !m->hardware_lost.cause)
            m->hardware_lost = why;
    }
    c->no_session = why;
    note_facts(c);
    c->retry_after = c->retry_after ? fmin(2 * c->retry_after, LAST_RETRY) : FIRST_RETRY;
    c->retry_at =
        why.cause == GP_CAUSE_NO_PERMISSION ? INFINITY : gp_clock_seconds() + c->retry_after;
}

static void close_session(struct gp_range_collection *c)
{
    range_session_close(c->session, true);
    c->session = NULL;
}

void range_collection_take(struct gp_range_collection *c)
{
    values_take(c);
    bundles_take(c);
    if (c->session)
        range_session_forget_values(c->session);
}

void range_collection_settle(struct gp_range_collection *c, bool context_alive)
{
    struct gp_reason why = GP_REASON(SESSION_LOST);
    bool settled = c->session && context_alive && range_session_settle(c->session, &why);
    if (c->session && !settled)
        range_collection_lose_session(c, why);
    range_collection_take(c);
}

void range_collection_reuse_ranges(struct gp_range_collection *c)
{
    struct gp_batch *b = &c->base.batch;
    for (unsigned i = 0; i < b->count; i++)
        b->members[i]->range = 0;
    for (unsigned i = 0; i < b->bundle_count; i++)
        b->bundles[i].range = 0;
    c->ranges = 0;
    c->base.used_up = false;
    if (c->session)
        range_session_reuse_ranges(c->session);
}

unsigned range_collection_ranges(const struct gp_range_collection *c)
{
    const unsigned all = c->session ? range_session_ranges(c->session) : 0;
    return all > c->ranges ? all - c->ranges : 0;
}

/* Enabling afresh, as an object that has failed once does not recover. */
static bool open_anew(struct gp_range_collection *c)
{
    struct gp_reason why;
    range_collection_take(c);
    close_session(c);
    if (range_collection_open_session(c, &why))
        return true;
    range_collection_lose_session(c, why);
    return false;
}

bool range_collection_has_session(struct gp_range_collection *c)
{
    if (c->no_session.cause)
        return gp_clock_seconds() >= c->retry_at && open_anew(c);
    return c->session != NULL;
}

/* Beside a session with the hardware's counters the SASS metrics compare launches; without one
 * they count. */
void range_collection_open_sass(struct gp_range_collection *c)
{
    size_t count = c->list.instrumented;
    if (!count)
        return;
    c->tells = !c->no_session.cause;
    if (!c->tells) {
        c->sass = sass_session_count(&c->device, c->list.names + c->list.hardware_used, count,
                                     c->own, c->no_session, c->sass_unavailable, &c->no_sass);
        return;
    }
    c->no_sass = GP_REASON_TEXT(
        NOT_TOGETHER, "the check counters would take a pass of their own beside this selection");
    if (c->list.check_count < GP_LEAST_CHECKS)
        return;
    c->recall = recall_new(count + c->list.own_count + c->list.check_count, c->list.hardware_used);
    c->sass = c->recall ? sass_session_tell(&c->device, c->own, &c->no_sass) : NULL;
}

/* They count nothing here, as shows by then. */
static void give_up_sass(struct gp_range_collection *c, struct gp_reason why)
{
    sass_session_rest(c->sass, c->context);
    sass_session_close(c->sass, true);
    c->sass = NULL;
    c->no_sass = why;
}

/* Without the right to read counters they may be refused, or count in vain. */
void range_collection_note_sass(struct gp_range_collection *c, bool counted, struct gp_reason why)
{
    c->uncounted = counted ? 0 : c->uncounted + 1;
    c->counted += counted;
    bool in_vain = c->no_session.cause == GP_CAUSE_NO_PERMISSION && c->uncounted == MOST_UNCOUNTED;
    if (!c->tells && !counted && (in_vain || why.cause == GP_CAUSE_NO_PERMISSION))
        give_up_sass(c, why);
}

bool range_collection_is_on_trial(const struct gp_range_collection *c)
{
    return c->no_session.cause == GP_CAUSE_NO_PERMISSION && c->counted < LEAST_COUNTED;
}
