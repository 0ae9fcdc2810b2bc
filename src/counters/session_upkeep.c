/* The session of a collection with the hardware's counters: opened, opened anew where it was lost,
 * and with more ranges where there are many launches. */
#include "base/clock.h"
#include "counters/slots.h"

#include <math.h>

/* Seconds until counters that were busy are asked for again, doubled each time. */
#define FIRST_RETRY 10.0
#define LAST_RETRY 300.0

/* To open the session anew with many ranges takes about as long as small batches have cost more by
 * then than large ones would have. */
#define MANY_LAUNCHES 1500

/* CUPTI's image has half a million bytes for each range with the default counters, and it is kept
 * twice. It is emptied at some GB/s, and the pass of instrumented code costs more the more ranges
 * there may be. */
#define MOST_BYTES_AT_FIRST ((size_t)64 << 20)
#define MOST_BYTES ((size_t)160 << 20)

bool gp_collection_open_session(struct gp_collection *c, const char **why)
{
    const bool grown = c->growth == GP_GROWN;
    struct gp_range_config config;
    if (!gp_range_config_make(&config, c->device.chip, c->list.names, c->list.used,
                              c->list.hardware_used, why)) {
        gp_range_config_free(&config);
        return false;
    }
    c->session = gp_range_session_open(c->context, &config, grown ? GP_MOST_SLOTS : GP_FIRST_SLOTS,
                                       grown ? MOST_BYTES : MOST_BYTES_AT_FIRST, why);
    return c->session != NULL;
}

void gp_collection_lose_session(struct gp_collection *c, const char *why)
{
    for (unsigned t = 0; t < c->slots_given; t++)
        if (c->slots[t].in_session && !c->slots[t].hardware_lost)
            c->slots[t].hardware_lost = why;
    c->no_session = why;
    c->retry_after = c->retry_after ? fmin(2 * c->retry_after, LAST_RETRY) : FIRST_RETRY;
    c->retry_at = gp_clock_seconds() + c->retry_after;
}

static void close_session(struct gp_collection *c)
{
    gp_range_session_close(c->session, true);
    c->session = NULL;
}

/* Enabling afresh, as an object that has failed once does not recover. */
static bool open_anew(struct gp_collection *c)
{
    const char *why;
    gp_collection_take_values(c);
    close_session(c);
    if (gp_collection_open_session(c, &why)) {
        c->no_session = NULL;
        return true;
    }
    gp_collection_lose_session(c, why);
    return false;
}

/* All launches have been read. Whether there is room for so many ranges shows when the session is
 * started. */
static bool grow(struct gp_collection *c)
{
    const char *why;
    close_session(c);
    c->growth = GP_GROWN;
    if (gp_collection_open_session(c, &why) && gp_range_session_start(c->session, &why))
        return true;
    c->growth = GP_NOT_TO_GROW;
    return open_anew(c);
}

/* Where the first image had no room for all its ranges, a larger one would have hardly more. */
static bool is_to_grow(const struct gp_collection *c)
{
    return c->growth == GP_TO_GROW && c->launches >= MANY_LAUNCHES && c->slots_given == 0 &&
           gp_range_session_ranges(c->session) == GP_FIRST_SLOTS;
}

bool gp_collection_has_session(struct gp_collection *c)
{
    if (c->no_session)
        return gp_clock_seconds() >= c->retry_at && open_anew(c);
    return c->session && (!is_to_grow(c) || grow(c));
}
