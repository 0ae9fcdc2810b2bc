/* Counters through CUPTI's event groups, the way of the GPUs up to compute capability 7.2.
 *
 * A chip counts few events at a time. CUPTI sorts them into sets of groups, a set being the
 * events that can be counted together: one pass. An event is counted by some of the instances of
 * its domain (of the chip's multiprocessors, say); their counts are summed and scaled to all of
 * them. */
#include "counters/collector.h"
#include "counters/inside.h"

#include "cuda/cupti.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gp_event_collection {
    struct gp_collection base; /* first: events_of */
    CUdevice device;
    CUpti_EventGroupSets *sets;
    bool counts; /* a pass has begun before */
    struct gp_reason no_hardware;
    struct gp_counter *counters;
    struct gp_reason *unavailable; /* why this chip cannot count one; none: it can */
    CUpti_EventID *ids;
    double *values; /* NAN until counted */
    size_t count;
};

static struct gp_event_collection *events_of(struct gp_collection *c)
{
    return (struct gp_event_collection *)c;
}

static void events_close(struct gp_collection *collection, bool context_alive)
{
    struct gp_event_collection *c = events_of(collection);
    if (c->sets && context_alive)
        gp_cupti.cuptiEventGroupSetsDestroy(c->sets);
    free(c->counters);
    free(c->unavailable);
    free(c->ids);
    free(c->values);
    free(c);
}

static struct gp_event_collection *allocate(const char *const *names, size_t count)
{
    struct gp_event_collection *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->count = count;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->unavailable = calloc(count + 1, sizeof(*c->unavailable));
    c->ids = calloc(count + 1, sizeof(*c->ids));
    c->values = calloc(count + 1, sizeof(*c->values));
    if (!c->counters || !c->unavailable || !c->ids || !c->values) {
        events_close(&c->base, false);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        c->counters[i].name = names[i];
    return c;
}

/* Looks up each counter's event; returns how many there are, packed into `list`. */
static size_t find_events(struct gp_event_collection *c, CUpti_EventID *list)
{
    size_t found = 0;
    const size_t prefix = strlen(GP_EVENT_PREFIX);
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->counters[i].name;
        c->unavailable[i] = GP_REASON_TEXT(NO_SUCH_COUNTER, "this GPU has no such event");
        if (strncmp(name, GP_EVENT_PREFIX, prefix) == 0 &&
            gp_cupti.cuptiEventGetIdFromName(c->device, name + prefix, &c->ids[i]) ==
                CUPTI_SUCCESS) {
            c->unavailable[i] = GP_NO_REASON;
            list[found++] = c->ids[i];
        }
    }
    return found;
}

/* Has every group count on all instances of its domain that can count at once. */
static bool count_everywhere(struct gp_event_collection *c, struct gp_reason *why)
{
    uint32_t all = 1;
    for (uint32_t s = 0; s < c->sets->numSets; s++)
        for (uint32_t g = 0; g < c->sets->sets[s].numEventGroups; g++)
            if (gp_cupti_failed("cuptiEventGroupSetAttribute",
                                gp_cupti.cuptiEventGroupSetAttribute(
                                    c->sets->sets[s].eventGroups[g],
                                    CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES,
                                    sizeof(all), &all),
                                why))
                return false;
    return true;
}

static bool make_sets(struct gp_event_collection *c, CUcontext context, struct gp_reason *why)
{
    CUpti_EventID *list = calloc(c->count + 1, sizeof(*list));
    *why = GP_REASON(NO_MEMORY);
    if (!list)
        return false;
    size_t found = find_events(c, list);
    *why = GP_REASON_TEXT(NO_SUCH_COUNTER, "this GPU counts none of the events wanted");
    bool ok = found > 0 &&
              !gp_cupti_failed(
                  "cuptiSetEventCollectionMode",
                  gp_cupti.cuptiSetEventCollectionMode(context, CUPTI_EVENT_COLLECTION_MODE_KERNEL),
                  why) &&
              !gp_cupti_failed("cuptiEventGroupSetsCreate",
                               gp_cupti.cuptiEventGroupSetsCreate(context, found * sizeof(*list),
                                                                  list, &c->sets),
                               why) &&
              count_everywhere(c, why);
    free(list);
    return ok;
}

/* Whether the counters are free, and may be read, shows when they are taken. */
static bool can_be_enabled(const struct gp_event_collection *c, struct gp_reason *why)
{
    return !gp_cupti_failed("cuptiEventGroupSetEnable",
                            gp_cupti.cuptiEventGroupSetEnable(&c->sets->sets[0]), why) &&
           !gp_cupti_failed("cuptiEventGroupSetDisable",
                            gp_cupti.cuptiEventGroupSetDisable(&c->sets->sets[0]), why);
}

/* Each launch is read before the next. */
static void note_facts(struct gp_event_collection *c)
{
    bool there = !c->no_hardware.cause;
    c->base.collector = &event_collector;
    c->base.facts =
        (struct gp_batch_facts){.session = there, .hardware_passes = there ? c->sets->numSets : 0};
    c->base.most = 1;
}

static struct gp_collection *events_open(CUcontext context, const struct gp_device *device,
                                         const char *const *names, size_t count,
                                         const struct gp_collection_facts *away,
                                         struct gp_reason *why)
{
    (void)away; /* contexts have their groups side by side */
    if (!gp_cupti_find(why))
        return NULL;
    *why = GP_REASON_TEXT(
        OTHER_CUPTI,
        "this CUPTI has no event groups any more; that of the last CUDA for the GPU has");
    if (!gp_cupti_has_events())
        return NULL;
    struct gp_event_collection *c = allocate(names, count);
    *why = GP_REASON(NO_MEMORY);
    if (!c)
        return NULL;
    c->device = device->ordinal;
    if (make_sets(c, context, why) && can_be_enabled(c, why)) {
        note_facts(c);
        return &c->base;
    }
    events_close(&c->base, true);
    return NULL;
}

static bool wants_hardware(const struct gp_event_collection *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (!c->unavailable[i].cause && strcmp(c->counters[i].name, GP_DURATION_COUNTER) != 0)
            return true;
    return false;
}

static struct gp_passes events_passes(struct gp_collection *collection)
{
    const struct gp_event_collection *c = events_of(collection);
    return (struct gp_passes){
        .hardware = c->base.facts.hardware_passes,
        .hardware_wanted = wants_hardware(c),
        .no_hardware = c->no_hardware,
    };
}

static void events_enter(struct gp_collection *collection, struct gp_member *m)
{
    const struct gp_event_collection *c = events_of(collection);
    (void)m;
    for (size_t i = 0; i < c->count; i++)
        c->values[i] = NAN;
}

/* There is no instrumented code. */
static void events_perform(struct gp_collection *collection, const struct gp_step *step)
{
    (void)collection;
    if (step->kind == GP_STEP_CONSIDER)
        gp_launch_move(&step->member->state, GP_LAUNCH_LEAVE_OUT);
}

static bool events_begin(struct gp_collection *collection, const struct gp_step *step,
                         struct gp_reason *why)
{
    struct gp_event_collection *c = events_of(collection);
    step->member->run.empty_caches(step->member->run.empty_caches_data);
    bool failed =
        gp_cupti_failed("cuptiEventGroupSetEnable",
                        gp_cupti.cuptiEventGroupSetEnable(&c->sets->sets[step->pass]), why);
    c->counts = c->counts || !failed;
    if (failed && (!c->counts || why->cause == GP_CAUSE_NO_PERMISSION))
        c->no_hardware = *why; /* there is no use in trying at every launch */
    note_facts(c);
    return !failed;
}

static bool ask_group(CUpti_EventGroup group, CUpti_EventGroupAttribute what, uint32_t *value,
                      struct gp_reason *why)
{
    size_t size = sizeof(*value);
    return !gp_cupti_failed("cuptiEventGroupGetAttribute",
                            gp_cupti.cuptiEventGroupGetAttribute(group, what, &size, value), why);
}

static void note_value(struct gp_event_collection *c, CUpti_EventID id, double value)
{
    for (size_t i = 0; i < c->count; i++)
        if (!c->unavailable[i].cause && c->ids[i] == id)
            c->values[i] = value;
}

/* Sums each event over the instances that counted it and scales to all that there are. */
static bool sum_instances(struct gp_event_collection *c, CUpti_EventGroup group, uint32_t events,
                          uint32_t instances, uint32_t total, struct gp_reason *why)
{
    size_t values_size = (size_t)events * instances * sizeof(uint64_t);
    size_t ids_size = events * sizeof(CUpti_EventID);
    uint64_t *values = malloc(values_size);
    CUpti_EventID *ids = malloc(ids_size);
    size_t read = 0;
    *why = GP_REASON(NO_MEMORY);
    bool ok = values && ids &&
              !gp_cupti_failed("cuptiEventGroupReadAllEvents",
                               gp_cupti.cuptiEventGroupReadAllEvents(
                                   group, CUPTI_EVENT_READ_FLAG_NONE, &values_size, values,
                                   &ids_size, ids, &read),
                               why);
    for (size_t e = 0; ok && e < read && e < events; e++) {
        double sum = 0;
        for (uint32_t i = 0; i < instances; i++) {
            uint64_t value = values[i * events + e];
            sum +=
                value == CUPTI_EVENT_OVERFLOW || value == CUPTI_EVENT_INVALID ? NAN : (double)value;
        }
        note_value(c, ids[e], sum * total / instances);
    }
    free(values);
    free(ids);
    return ok;
}

static bool read_group(struct gp_event_collection *c, CUpti_EventGroup group, struct gp_reason *why)
{
    uint32_t events = 0, instances = 0, total = 0;
    CUpti_EventDomainID domain = 0;
    size_t size = sizeof(total);
    if (!ask_group(group, CUPTI_EVENT_GROUP_ATTR_NUM_EVENTS, &events, why) ||
        !ask_group(group, CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT, &instances, why) ||
        !ask_group(group, CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID, &domain, why) ||
        gp_cupti_failed(
            "cuptiDeviceGetEventDomainAttribute",
            gp_cupti.cuptiDeviceGetEventDomainAttribute(
                c->device, domain, CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT, &size, &total),
            why))
        return false;
    *why = GP_REASON_TEXT(CUPTI_FAILED, "CUPTI counted on no instance of the event's domain");
    return instances > 0 && sum_instances(c, group, events, instances, total, why);
}

static bool events_end(struct gp_collection *collection, const struct gp_step *step, bool refused,
                       struct gp_reason *why)
{
    struct gp_event_collection *c = events_of(collection);
    CUpti_EventGroupSet *set = &c->sets->sets[step->pass];
    bool ok = true;
    for (uint32_t g = 0; ok && !refused && g < set->numEventGroups; g++)
        ok = read_group(c, set->eventGroups[g], why);
    struct gp_reason disable_why;
    if (gp_cupti_failed("cuptiEventGroupSetDisable", gp_cupti.cuptiEventGroupSetDisable(set),
                        &disable_why)) {
        *why = ok ? disable_why : *why;
        return false;
    }
    if (ok && !refused)
        step->member->passes = step->pass + 1;
    return ok;
}

/* An event that was counted is there, whether or not the passes of others ran. */
static const struct gp_counter *events_read(struct gp_collection *collection,
                                            const struct gp_member *m, struct gp_reason not_run,
                                            size_t *count)
{
    const struct gp_event_collection *c = events_of(collection);
    if (m->passes == c->sets->numSets)
        not_run = GP_REASON_TEXT(CUPTI_FAILED, "CUPTI's count of the event overflowed");
    for (size_t i = 0; i < c->count; i++) {
        c->counters[i].value = c->values[i];
        c->counters[i].absent = c->unavailable[i].cause ? c->unavailable[i]
                                : isnan(c->values[i])   ? not_run
                                                        : GP_NO_REASON;
    }
    *count = c->count;
    return c->counters;
}

const struct gp_collector event_collector = {
    .to = 72,
    .open = events_open,
    .passes = events_passes,
    .enter = events_enter,
    .perform = events_perform,
    .begin = events_begin,
    .end = events_end,
    .read = events_read,
    .close = events_close,
};
