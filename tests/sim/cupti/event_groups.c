/* Event groups: the way of counting up to compute capability 7.2. A group holds a few events of
 * one domain; groups of different domains count together in a set; events that do not fit
 * together need further sets, and a run of the kernel for each. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_sim.h"
#include "cupti/events.h"

#define MAX_EVENTS 16 /* of a group */
#define MAX_INSTANCES 16
#define COUNTER_LIMIT UINT32_MAX /* the counters have 32 bits */

struct group {
    struct group *next;
    CUcontext context;
    int device;
    CUpti_EventDomainID domain;
    CUpti_EventID events[MAX_EVENTS];
    uint32_t count;
    bool all_instances, enabled;
    CUpti_EventCollectionMode mode;
    uint64_t values[MAX_INSTANCES][MAX_EVENTS];
    bool overflow[MAX_INSTANCES][MAX_EVENTS];
    struct gpusim_watcher watcher;
    void *user_data;
};

/* The mode of a context; it stays when the context goes, as the driver's own knowledge of it does.
 */
struct mode {
    struct mode *next;
    CUcontext context;
    CUpti_EventCollectionMode mode;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct group *groups;
static struct mode *modes;

/* Does the driver's chip count by events at all? */
static CUptiResult available(void)
{
    const struct gpusim_backend *driver = gpusim_driver();

    if (!driver || !driver->ready())
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (!driver->chip()->legacy || driver->fault("unsupportedchip"))
        return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    return CUPTI_SUCCESS;
}

static CUptiResult available_on(CUdevice device)
{
    CUptiResult result = available();

    if (result != CUPTI_SUCCESS)
        return result;
    return device >= 0 && (unsigned)device < gpusim_driver()->device_count()
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_DEVICE;
}

static const struct gpusim_chip *chip(void)
{
    return gpusim_driver()->chip();
}

static bool domain_known(CUpti_EventDomainID domain)
{
    return domain >= 1 && domain <= gpusim_domain_count();
}

static uint32_t counting_instances(const struct group *g)
{
    uint32_t countable = gpusim_domain(g->domain, chip()).countable;

    return g->all_instances ? countable : 1;
}

/* Hands out a value the way all attribute calls do: the size is checked, and returned. */
static CUptiResult answer(size_t *size, void *out, const void *value, size_t bytes)
{
    if (!size || !out)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (*size < bytes)
        return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    memcpy(out, value, bytes);
    *size = bytes;
    return CUPTI_SUCCESS;
}

static CUptiResult answer_text(size_t *size, void *out, const char *text)
{
    size_t bytes = strlen(text) + 1;

    if (!size || !out)
        return CUPTI_ERROR_INVALID_PARAMETER;
    /* A short buffer gets as much as fits. */
    if (*size < bytes) {
        if (*size) {
            memcpy(out, text, *size - 1);
            ((char *)out)[*size - 1] = '\0';
        }
        return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    }
    memcpy(out, text, bytes);
    *size = bytes;
    return CUPTI_SUCCESS;
}

/* ---- the events ---- */

/* The lock is held. */
static struct mode *find_mode(CUcontext context)
{
    struct mode *m = modes;

    while (m && m->context != context)
        m = m->next;
    return m;
}

/* The mode of the context, made where there is none; NULL when out of memory. The lock is held. */
static struct mode *need_mode(CUcontext context)
{
    struct mode *m = find_mode(context);

    if (m)
        return m;
    m = calloc(1, sizeof(*m));
    if (!m)
        return NULL;
    m->context = context;
    m->next = modes;
    modes = m;
    return m;
}

CUptiResult CUPTIAPI cuptiSetEventCollectionMode(CUcontext context, CUpti_EventCollectionMode mode)
{
    CUptiResult result = available();
    struct mode *m;
    int device;

    if (result != CUPTI_SUCCESS)
        return result;
    if (!gpusim_driver()->device_of(context, &device))
        return CUPTI_ERROR_INVALID_CONTEXT;
    if (mode != CUPTI_EVENT_COLLECTION_MODE_CONTINUOUS &&
        mode != CUPTI_EVENT_COLLECTION_MODE_KERNEL)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    m = need_mode(context);
    if (m)
        m->mode = mode;
    pthread_mutex_unlock(&lock);
    return m ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

static CUpti_EventCollectionMode mode_of(CUcontext context)
{
    struct mode *m;

    pthread_mutex_lock(&lock);
    m = find_mode(context);
    pthread_mutex_unlock(&lock);
    return m ? m->mode : CUPTI_EVENT_COLLECTION_MODE_KERNEL;
}

CUptiResult CUPTIAPI cuptiDeviceGetEventDomainAttribute(CUdevice device,
                                                        CUpti_EventDomainID eventDomain,
                                                        CUpti_EventDomainAttribute attrib,
                                                        size_t *valueSize, void *value)
{
    CUptiResult result = available_on(device);
    struct gpusim_event_domain d;

    if (result != CUPTI_SUCCESS)
        return result;
    if (!domain_known(eventDomain))
        return CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID;
    d = gpusim_domain(eventDomain, chip());
    switch (attrib) {
    case CUPTI_EVENT_DOMAIN_ATTR_NAME:
        return answer_text(valueSize, value, d.name);
    case CUPTI_EVENT_DOMAIN_ATTR_INSTANCE_COUNT:
        return answer(valueSize, value, &d.countable, sizeof(d.countable));
    case CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT:
        return answer(valueSize, value, &d.instances, sizeof(d.instances));
    case CUPTI_EVENT_DOMAIN_ATTR_COLLECTION_METHOD:
        return answer(valueSize, value, &d.method, sizeof(d.method));
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}

CUptiResult CUPTIAPI cuptiEventGetIdFromName(CUdevice device, const char *eventName,
                                             CUpti_EventID *event)
{
    CUptiResult result = available_on(device);

    if (result != CUPTI_SUCCESS)
        return result;
    if (!eventName || !event)
        return CUPTI_ERROR_INVALID_PARAMETER;
    return gpusim_event_find(eventName, event) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_EVENT_NAME;
}

CUptiResult CUPTIAPI cuptiEventGetAttribute(CUpti_EventID event, CUpti_EventAttribute attrib,
                                            size_t *valueSize, void *value)
{
    CUptiResult result = available();
    CUpti_EventProfilingScope scope = CUPTI_EVENT_PROFILING_SCOPE_CONTEXT;
    CUpti_EventCategory category;

    if (result != CUPTI_SUCCESS)
        return result;
    if (!gpusim_event_name(event))
        return CUPTI_ERROR_INVALID_EVENT_ID;
    switch (attrib) {
    case CUPTI_EVENT_ATTR_NAME:
        return answer_text(valueSize, value, gpusim_event_name(event));
    case CUPTI_EVENT_ATTR_SHORT_DESCRIPTION:
    case CUPTI_EVENT_ATTR_LONG_DESCRIPTION:
        return answer_text(valueSize, value, gpusim_event_description(event));
    case CUPTI_EVENT_ATTR_CATEGORY:
        category = gpusim_event_category(event);
        return answer(valueSize, value, &category, sizeof(category));
    case CUPTI_EVENT_ATTR_PROFILING_SCOPE:
        return answer(valueSize, value, &scope, sizeof(scope));
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}

/* ---- groups ---- */

/* The group that a call is about, where calls can be answered at all. */
static CUptiResult find_group(CUpti_EventGroup handle, struct group **found)
{
    CUptiResult result = available();

    if (result != CUPTI_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    *found = groups;
    while (*found && *found != handle)
        *found = (*found)->next;
    pthread_mutex_unlock(&lock);
    return *found ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static void launched(void *self, const struct gpusim_result *result)
{
    struct group *g = self;

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < counting_instances(g); i++)
        for (uint32_t e = 0; e < g->count; e++) {
            uint64_t value = gpusim_event_value(g->events[e], i, result, chip());
            /* Kernel mode begins at nought for every kernel; else counts go on until read. */
            if (g->mode == CUPTI_EVENT_COLLECTION_MODE_CONTINUOUS)
                value += g->values[i][e];
            g->values[i][e] = value;
            g->overflow[i][e] = value > COUNTER_LIMIT;
        }
    pthread_mutex_unlock(&lock);
}

static struct group *new_group(CUcontext context, int device, CUpti_EventDomainID domain)
{
    struct group *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->context = context;
    g->device = device;
    g->domain = domain;
    g->watcher.launched = launched;
    g->watcher.self = g;
    pthread_mutex_lock(&lock);
    g->next = groups;
    groups = g;
    pthread_mutex_unlock(&lock);
    return g;
}

static void free_group(struct group *g)
{
    pthread_mutex_lock(&lock);
    for (struct group **link = &groups; *link; link = &(*link)->next)
        if (*link == g) {
            *link = g->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    free(g);
}

/* False where the group is full. */
static bool add_event(struct group *g, CUpti_EventID event)
{
    if (g->count == gpusim_domain(g->domain, chip()).counters)
        return false;
    g->events[g->count++] = event;
    return true;
}

CUptiResult CUPTIAPI cuptiEventGroupGetAttribute(CUpti_EventGroup eventGroup,
                                                 CUpti_EventGroupAttribute attrib,
                                                 size_t *valueSize, void *value)
{
    struct group *g;
    CUptiResult result = find_group(eventGroup, &g);
    uint32_t number;

    if (result != CUPTI_SUCCESS)
        return result;
    switch (attrib) {
    case CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID:
        return answer(valueSize, value, &g->domain, sizeof(g->domain));
    case CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES:
        number = g->all_instances;
        return answer(valueSize, value, &number, sizeof(number));
    case CUPTI_EVENT_GROUP_ATTR_USER_DATA:
        return answer(valueSize, value, &g->user_data, sizeof(g->user_data));
    case CUPTI_EVENT_GROUP_ATTR_NUM_EVENTS:
        return answer(valueSize, value, &g->count, sizeof(g->count));
    case CUPTI_EVENT_GROUP_ATTR_EVENTS:
        return answer(valueSize, value, g->events, g->count * sizeof(g->events[0]));
    case CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT:
        number = counting_instances(g);
        return answer(valueSize, value, &number, sizeof(number));
    case CUPTI_EVENT_GROUP_ATTR_PROFILING_SCOPE:
        number = CUPTI_EVENT_PROFILING_SCOPE_CONTEXT;
        return answer(valueSize, value, &number, sizeof(number));
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}

CUptiResult CUPTIAPI cuptiEventGroupSetAttribute(CUpti_EventGroup eventGroup,
                                                 CUpti_EventGroupAttribute attrib, size_t valueSize,
                                                 void *value)
{
    struct group *g;
    CUptiResult result = find_group(eventGroup, &g);
    uint32_t number;

    if (result != CUPTI_SUCCESS)
        return result;
    if (!value)
        return CUPTI_ERROR_INVALID_PARAMETER;
    switch (attrib) {
    case CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES:
        if (valueSize < sizeof(number))
            return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
        if (g->enabled)
            return CUPTI_ERROR_INVALID_OPERATION;
        memcpy(&number, value, sizeof(number));
        g->all_instances = number != 0;
        return CUPTI_SUCCESS;
    case CUPTI_EVENT_GROUP_ATTR_USER_DATA:
        if (valueSize < sizeof(g->user_data))
            return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
        memcpy(&g->user_data, value, sizeof(g->user_data));
        return CUPTI_SUCCESS;
    default:
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
}

/* Would the domain's counters be used twice over? The lock is held. */
static bool fits_beside_others(const struct group *g)
{
    uint32_t used = g->count;

    for (const struct group *other = groups; other; other = other->next)
        if (other != g && other->enabled && other->device == g->device &&
            other->domain == g->domain)
            used += other->count;
    return used <= gpusim_domain(g->domain, chip()).counters;
}

static CUptiResult enable_group(struct group *g)
{
    CUptiResult result;
    bool fits;

    if (g->enabled)
        return CUPTI_SUCCESS;
    if (gpusim_driver()->fault("noprivileges"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    pthread_mutex_lock(&lock);
    fits = fits_beside_others(g);
    pthread_mutex_unlock(&lock);
    if (!fits)
        return CUPTI_ERROR_NOT_COMPATIBLE;
    if (!gpusim_driver()->synchronize(g->context))
        return CUPTI_ERROR_HARDWARE;
    result = gpusim_counters_take(g->context, g->device);
    if (result != CUPTI_SUCCESS)
        return result;
    g->mode = mode_of(g->context);
    memset(g->values, 0, sizeof(g->values));
    memset(g->overflow, 0, sizeof(g->overflow));
    g->watcher.serialize = g->mode == CUPTI_EVENT_COLLECTION_MODE_KERNEL;
    if (!gpusim_driver()->watch(g->context, &g->watcher)) {
        gpusim_counters_give_back(g->context, g->device);
        return CUPTI_ERROR_INVALID_CONTEXT;
    }
    g->enabled = true;
    return CUPTI_SUCCESS;
}

static void disable_group(struct group *g)
{
    if (!g->enabled)
        return;
    (void)gpusim_driver()->synchronize(g->context);
    gpusim_driver()->unwatch(g->context, &g->watcher);
    gpusim_counters_give_back(g->context, g->device);
    g->enabled = false;
}

/* The value as it is read, and nought from then on. The lock is held. */
static uint64_t take_value(struct group *g, uint32_t instance, uint32_t event)
{
    uint64_t value =
        g->overflow[instance][event] ? CUPTI_EVENT_OVERFLOW : g->values[instance][event];

    g->values[instance][event] = 0;
    g->overflow[instance][event] = false;
    return value;
}

CUptiResult CUPTIAPI cuptiEventGroupReadAllEvents(
    CUpti_EventGroup eventGroup, CUpti_ReadEventFlags flags, size_t *eventValueBufferSizeBytes,
    uint64_t *eventValueBuffer, size_t *eventIdArraySizeBytes, CUpti_EventID *eventIdArray,
    size_t *numEventIdsRead)
{
    struct group *g;
    CUptiResult result = find_group(eventGroup, &g);
    uint32_t instances;

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (flags != CUPTI_EVENT_READ_FLAG_NONE || !eventValueBufferSizeBytes || !eventValueBuffer ||
        !eventIdArraySizeBytes || !eventIdArray || !numEventIdsRead)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!g->enabled)
        return CUPTI_ERROR_INVALID_OPERATION;
    (void)gpusim_driver()->synchronize(g->context);
    instances = counting_instances(g);
    if (*eventValueBufferSizeBytes < instances * g->count * sizeof(uint64_t) ||
        *eventIdArraySizeBytes < g->count * sizeof(CUpti_EventID))
        return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < instances; i++)
        for (uint32_t e = 0; e < g->count; e++)
            eventValueBuffer[i * g->count + e] = take_value(g, i, e);
    pthread_mutex_unlock(&lock);
    memcpy(eventIdArray, g->events, g->count * sizeof(CUpti_EventID));
    *eventValueBufferSizeBytes = instances * g->count * sizeof(uint64_t);
    *eventIdArraySizeBytes = g->count * sizeof(CUpti_EventID);
    *numEventIdsRead = g->count;
    return CUPTI_SUCCESS;
}

/* ---- sets ---- */

static uint32_t sets_wanted(void)
{
    const char *text = getenv("GPUSIM_PASSES");

    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* How many sets these events need: that of the domain which needs most, or more on request. */
static uint32_t sets_needed(const CUpti_EventID *events, size_t count)
{
    uint32_t most = 0;

    for (CUpti_EventDomainID d = 1; d <= gpusim_domain_count(); d++) {
        uint32_t capacity = gpusim_domain(d, chip()).counters;
        uint32_t of_domain = 0;
        for (size_t i = 0; i < count; i++)
            of_domain += gpusim_event_domain(events[i]) == d;
        if ((of_domain + capacity - 1) / capacity > most)
            most = (of_domain + capacity - 1) / capacity;
    }
    if (sets_wanted() > most)
        most = sets_wanted() < count ? sets_wanted() : (uint32_t)count;
    return most;
}

/* The set's group for that domain, made when it is first needed. */
static struct group *group_in_set(CUcontext context, int device, CUpti_EventGroupSet *set,
                                  CUpti_EventDomainID domain)
{
    CUpti_EventGroup *more;
    struct group *g;

    for (uint32_t i = 0; i < set->numEventGroups; i++) {
        g = set->eventGroups[i];
        if (g->domain == domain)
            return g;
    }
    more = realloc(set->eventGroups, (set->numEventGroups + 1) * sizeof(*more));
    if (!more)
        return NULL;
    set->eventGroups = more;
    g = new_group(context, device, domain);
    if (g)
        set->eventGroups[set->numEventGroups++] = g;
    return g;
}

static CUptiResult add_to_sets(CUcontext context, int device, CUpti_EventGroupSets *sets,
                               uint32_t first, CUpti_EventID event)
{
    for (uint32_t i = 0; i < sets->numSets; i++) {
        CUpti_EventGroupSet *set = &sets->sets[(first + i) % sets->numSets];
        struct group *g = group_in_set(context, device, set, gpusim_event_domain(event));
        if (!g)
            return CUPTI_ERROR_OUT_OF_MEMORY;
        if (add_event(g, event))
            return CUPTI_SUCCESS;
    }
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
}

CUptiResult CUPTIAPI cuptiEventGroupSetsCreate(CUcontext context, size_t eventIdArraySizeBytes,
                                               CUpti_EventID *eventIdArray,
                                               CUpti_EventGroupSets **eventGroupPasses)
{
    CUptiResult result = available();
    size_t count = eventIdArraySizeBytes / sizeof(*eventIdArray);
    CUpti_EventGroupSets *sets;
    int device;

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!eventIdArray || !eventGroupPasses || count == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!gpusim_driver()->device_of(context, &device))
        return CUPTI_ERROR_INVALID_CONTEXT;
    for (size_t i = 0; i < count; i++)
        if (!gpusim_event_name(eventIdArray[i]))
            return CUPTI_ERROR_INVALID_EVENT_ID;
    sets = calloc(1, sizeof(*sets));
    if (!sets)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    sets->numSets = sets_needed(eventIdArray, count);
    sets->sets = calloc(sets->numSets, sizeof(*sets->sets));
    if (!sets->sets) {
        free(sets);
        return CUPTI_ERROR_OUT_OF_MEMORY;
    }
    /* Dealt out one by one when more sets were asked for than are needed, else one is filled after
     * the other. */
    for (size_t i = 0; i < count && result == CUPTI_SUCCESS; i++)
        result =
            add_to_sets(context, device, sets, sets_wanted() ? (uint32_t)i : 0, eventIdArray[i]);
    if (result != CUPTI_SUCCESS) {
        (void)cuptiEventGroupSetsDestroy(sets);
        return result;
    }
    *eventGroupPasses = sets;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEventGroupSetsDestroy(CUpti_EventGroupSets *eventGroupSets)
{
    CUptiResult result = available();

    if (result != CUPTI_SUCCESS)
        return result;
    if (!eventGroupSets)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (uint32_t s = 0; s < eventGroupSets->numSets; s++) {
        CUpti_EventGroupSet *set = &eventGroupSets->sets[s];
        for (uint32_t g = 0; g < set->numEventGroups; g++) {
            disable_group(set->eventGroups[g]);
            free_group(set->eventGroups[g]);
        }
        free(set->eventGroups);
    }
    free(eventGroupSets->sets);
    free(eventGroupSets);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEventGroupSetEnable(CUpti_EventGroupSet *eventGroupSet)
{
    CUptiResult result = available();

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!eventGroupSet)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (uint32_t g = 0; g < eventGroupSet->numEventGroups; g++) {
        result = enable_group(eventGroupSet->eventGroups[g]);
        if (result != CUPTI_SUCCESS) {
            while (g-- > 0)
                disable_group(eventGroupSet->eventGroups[g]);
            return result;
        }
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEventGroupSetDisable(CUpti_EventGroupSet *eventGroupSet)
{
    CUptiResult result = available();

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!eventGroupSet)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (uint32_t g = 0; g < eventGroupSet->numEventGroups; g++)
        disable_group(eventGroupSet->eventGroups[g]);
    return CUPTI_SUCCESS;
}
