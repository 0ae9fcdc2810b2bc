/* Launches that nobody counts: they are only timed, and every counter is absent for one reason. */
#include "counters/collector.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SLOTS 64

struct gp_collection {
    struct gp_counter *counters;
    size_t count;
    unsigned slots;
};

struct gp_collection *gp_timing_open(const struct gp_device *device, gp_counter_names *names,
                                     const char *reason, const char **why)
{
    const char **list = NULL;
    struct gp_collection *c = calloc(1, sizeof(*c));
    *why = "out of memory";
    if (!c || !names(device, &list, &c->count)) {
        free(c);
        return NULL;
    }
    c->counters = calloc(c->count + 1, sizeof(*c->counters));
    if (!c->counters) {
        free(c);
        c = NULL;
    }
    for (size_t i = 0; c && i < c->count; i++)
        c->counters[i] = (struct gp_counter){.name = list[i], .value = NAN, .absent = reason};
    free(list);
    return c;
}

static struct gp_passes no_passes(struct gp_collection *c)
{
    (void)c;
    return (struct gp_passes){0};
}

static bool nothing_next(struct gp_collection *c, unsigned slot, const struct gp_run *run,
                         bool made, unsigned *pass)
{
    (void)c, (void)slot, (void)run, (void)made, (void)pass;
    return false;
}

static struct gp_slot_state is_read(const struct gp_collection *c, unsigned slot)
{
    (void)c, (void)slot;
    return (struct gp_slot_state){.read = true};
}

static unsigned give_slot(struct gp_collection *c)
{
    return c->slots++;
}

static bool is_full(const struct gp_collection *c)
{
    return c->slots >= MOST_SLOTS;
}

static bool no_pass(struct gp_collection *c, unsigned slot, unsigned pass, const struct gp_run *run,
                    const char **why)
{
    (void)c, (void)slot, (void)pass, (void)run;
    *why = "nothing is counted";
    return false;
}

static void nothing_to_settle(struct gp_collection *c, bool context_alive)
{
    (void)c, (void)context_alive;
}

static const struct gp_counter *counters_of(struct gp_collection *c, unsigned slot,
                                            const char *not_run, size_t *count)
{
    (void)slot, (void)not_run;
    *count = c->count;
    return c->counters;
}

static void reset(struct gp_collection *c)
{
    c->slots = 0;
}

static void close_timing(struct gp_collection *c, bool context_alive)
{
    (void)context_alive;
    free(c->counters);
    free(c);
}

const struct gp_collector gp_timing_collector = {
    .passes = no_passes,
    .next = nothing_next,
    .state = is_read,
    .slot = give_slot,
    .full = is_full,
    .begin = no_pass,
    .end = no_pass,
    .settle = nothing_to_settle,
    .read = counters_of,
    .reset = reset,
    .close = close_timing,
};
