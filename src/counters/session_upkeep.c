/* The session of a collection with the hardware's counters: opened, and opened anew where it was
 * lost. */
#include "base/clock.h"
#include "counters/slots.h"

#include <math.h>

/* Seconds until counters that were busy are asked for again, doubled each time. */
#define FIRST_RETRY 10.0
#define LAST_RETRY 300.0

/* CUPTI's image has half a million bytes for each range with the default counters, and it is kept
 * twice. It is emptied at some GB/s. */
#define MOST_BYTES ((size_t)64 << 20)

bool gp_collection_open_session(struct gp_collection *c, const char **why)
{
    struct gp_range_config config;
    if (!gp_range_config_make(&config, c->device.chip, c->list.names, c->list.used,
                              c->list.hardware_used, why)) {
        gp_range_config_free(&config);
        return false;
    }
    c->session = gp_range_session_open(c->context, &config, GP_MOST_SLOTS + GP_MOST_BUNDLES,
                                       MOST_BYTES, why);
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

bool gp_collection_has_session(struct gp_collection *c)
{
    if (c->no_session)
        return gp_clock_seconds() >= c->retry_at && open_anew(c);
    return c->session != NULL;
}
