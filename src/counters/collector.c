#include "counters/collector.h"

#include "counters/inside.h"
#include "counters/range_config.h"
#include "cuda/cupti.h"

#include <string.h>

#include <stdlib.h>

static bool suits(const struct gp_collector *collector, const struct gp_device *device)
{
    const int cc = 10 * device->cc_major + device->cc_minor;
    return collector->from <= cc && cc <= collector->to;
}

static struct gp_collection *open_by(const struct gp_collector *collector, CUcontext context,
                                     struct gp_device *device, gp_counter_names *names,
                                     const struct gp_collection_facts *away, struct gp_reason *why)
{
    const char **list = NULL;
    size_t count = 0;
    device->event_counters = collector == &event_collector;
    *why = GP_REASON(NO_MEMORY);
    if (!names(device, &list, &count))
        return NULL;
    struct gp_collection *c = collector->open(context, device, list, count, away, why);
    free(list);
    return c;
}

struct gp_collection *gp_collection_open(CUcontext context, struct gp_device *device,
                                         gp_counter_names *names, struct gp_reason *why)
{
    static const struct gp_collector *const collectors[] = {&range_collector, &event_collector};
    struct gp_reason first_why = GP_NO_REASON;
    for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++) {
        if (!suits(collectors[i], device))
            continue;
        struct gp_collection *collection =
            open_by(collectors[i], context, device, names, NULL, why);
        if (collection)
            return collection;
        /* The preferred way's reason says more than that of the last resort. */
        first_why = gp_reason_or(first_why, *why);
    }
    *why = gp_reason_or(
        first_why, GP_REASON_TEXT(OTHER_CUPTI,
                                  "no way is known to count on a GPU of this compute capability"));
    return NULL;
}

struct gp_collection *gp_collection_open_away(CUcontext context, struct gp_device *device,
                                              gp_counter_names *names,
                                              const struct gp_collection_facts *facts,
                                              struct gp_reason *why)
{
    return open_by(facts->collector, context, device, names, facts, why);
}

struct gp_collection_facts gp_collection_facts(const struct gp_collection *c)
{
    return (struct gp_collection_facts){c->collector, c->facts, c->most};
}

void gp_collection_leave(struct gp_collection *c)
{
    c->collector->leave(c);
    c->away = true;
}

bool gp_collection_come(struct gp_collection *c, struct gp_reason *why)
{
    c->away = !c->collector->come(c, why);
    return !c->away;
}

/* ---- the batch ------------------------------------------------------------------------------- */

bool gp_collection_is_full(const struct gp_collection *c)
{
    return c->batch.count >= c->most || c->used_up;
}

void gp_collection_enter(struct gp_collection *c, struct gp_member *m)
{
    batch_enter(&c->batch, m);
    c->collector->enter(c, m);
}

bool gp_collection_is_familiar(struct gp_collection *c, struct gp_member *m)
{
    return c->collector == &range_collector && likeness_is_familiar(range_collection_of(c), m);
}

bool gp_collection_tells_blank(struct gp_collection *c, const struct gp_step *step,
                               const struct gp_put_work *work)
{
    return c->collector == &range_collector &&
           bundles_tell_blank(range_collection_of(c), step, work);
}

static bool begins_with_code(struct gp_collection *c, struct gp_member *m)
{
    return c->collector == &range_collector && likeness_begins_with_code(range_collection_of(c), m);
}

bool gp_collection_next(struct gp_collection *c, struct gp_member *m, struct gp_step *step)
{
    if (m && m->state == GP_LAUNCH_RAN && m->asked == 0)
        c->facts.code_first = begins_with_code(c, m);
    while (m ? batch_next_of(m, &c->facts, step) : batch_next(&c->batch, &c->facts, step)) {
        if (step_runs(step->kind))
            return true;
        c->collector->perform(c, step);
        batch_stepped(&c->batch, step, true);
    }
    return false;
}

void gp_collection_stepped(struct gp_collection *c, const struct gp_step *step, bool well)
{
    batch_stepped(&c->batch, step, well);
}

struct gp_step gp_collection_step_of(const struct gp_collection *c, struct gp_member *m,
                                     unsigned pass)
{
    const enum gp_step_kind kind = pass < c->facts.hardware_passes ? GP_STEP_COUNT
                                   : c->facts.session              ? GP_STEP_MEASURE
                                                                   : GP_STEP_IDENTIFY;
    return (struct gp_step){.kind = kind, .member = m, .pass = pass};
}

bool gp_collection_is_open(const struct gp_collection *c, const struct gp_member *m)
{
    return member_is_open(m, &c->facts);
}

bool gp_member_is_read(const struct gp_collection *c, const struct gp_member *m)
{
    return !m->in_session && !m->like && !member_is_open(m, &c->facts);
}

enum gp_recalled gp_member_recalled(const struct gp_member *m)
{
    if (m->state != GP_LAUNCH_RECALLED)
        return GP_RECALLED_NONE;
    bool shares = m->share == GP_TOGETHER || m->share == GP_NOT_AT_ALL;
    return shares && !m->hardware_lost.cause ? GP_RECALLED_ALL : GP_RECALLED_INSTRUMENTED;
}

void gp_collection_finish(struct gp_collection *c, bool context_alive)
{
    const struct gp_step step = {.kind = context_alive ? GP_STEP_FINISH : GP_STEP_ABANDON};
    c->collector->perform(c, &step);
}

void gp_collection_empty(struct gp_collection *c)
{
    c->batch = (struct gp_batch){0};
}

/* ---- CUPTI as a whole ------------------------------------------------------------------------ */

void gp_collector_describe(struct gp_device *device)
{
    struct gp_reason why;
    device->chip[0] = '\0';
    device->cupti_version = gp_cupti_find(&why) ? gp_cupti_version() : 0;
    GP_CUPTI_PARAMS(CUpti_Device_GetChipName, p);
    p->deviceIndex = (size_t)device->ordinal;
    /* Before it is started even the chip's name is a null pointer to CUPTI. */
    if (device->cupti_version && gp_cupti_has_ranges() && gp_profiler_initialize(&why) &&
        gp_cupti.cuptiDeviceGetChipName(p) == CUPTI_SUCCESS && p->pChipName)
        strncat(device->chip, p->pChipName, sizeof(device->chip) - 1);
}

void gp_collectors_leave(CUcontext context, bool at_rest)
{
    sass_sessions_leave(context, at_rest);
}

bool gp_collectors_left_code(void)
{
    return sass_sessions_left_code();
}

void gp_collectors_end(void)
{
    sass_sessions_end();
}

bool gp_collectors_have_driver(void)
{
    return profiler_is_initialized();
}
