#include "cupti/events.h"

#include <string.h>

enum domain_index {
#define GPUSIM_DOMAIN(name, method, instances, countable, counters) INDEX_##name,
#include "cupti/events.def"
#undef GPUSIM_DOMAIN
    DOMAINS
};

struct event {
    const char *name;
    enum domain_index domain;
    CUpti_EventCategory category;
    const char *description;
};

static const struct event events[] = {
#define GPUSIM_EVENT(name, domain, category, value, description) \
    {#name, INDEX_##domain, CUPTI_EVENT_CATEGORY_##category, description},
#include "cupti/events.def"
#undef GPUSIM_EVENT
};

enum event_index {
#define GPUSIM_EVENT(name, domain, category, value, description) EVENT_##name,
#include "cupti/events.def"
#undef GPUSIM_EVENT
    EVENTS
};

uint32_t gpusim_domain_count(void)
{
    return DOMAINS;
}

const char *gpusim_event_name(CUpti_EventID event)
{
    return event >= 1 && event <= EVENTS ? events[event - 1].name : NULL;
}

const char *gpusim_event_description(CUpti_EventID event)
{
    return events[event - 1].description;
}

CUpti_EventCategory gpusim_event_category(CUpti_EventID event)
{
    return events[event - 1].category;
}

CUpti_EventDomainID gpusim_event_domain(CUpti_EventID event)
{
    return (CUpti_EventDomainID)events[event - 1].domain + 1;
}

bool gpusim_event_find(const char *name, CUpti_EventID *event)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        if (strcmp(events[i].name, name) == 0) {
            *event = i + 1;
            return true;
        }
    return false;
}

struct gpusim_event_domain gpusim_domain(CUpti_EventDomainID domain, const struct gpusim_chip *chip)
{
    switch (domain - 1) {
#define GPUSIM_DOMAIN(name, method, instances, countable, counters)                        \
    case INDEX_##name:                                                                     \
        return (struct gpusim_event_domain){#name, CUPTI_EVENT_COLLECTION_METHOD_##method, \
                                            instances, countable, counters};
#include "cupti/events.def"
#undef GPUSIM_DOMAIN
    default:
        return (struct gpusim_event_domain){0};
    }
}

/* Part number `part` of the whole, cut into so many; all parts together are exactly the whole. */
static uint64_t share(uint64_t whole, uint64_t parts, uint64_t part)
{
    return whole / parts + (part < whole % parts);
}

#define SHARE(whole, parts, first) share(whole, parts, (first) + instance)

uint64_t gpusim_event_value(CUpti_EventID event, uint32_t instance, const struct gpusim_result *r,
                            const struct gpusim_chip *chip)
{
    struct gpusim_event_domain domain = gpusim_domain(gpusim_event_domain(event), chip);
    const struct gpusim_counters *c =
        domain.method == CUPTI_EVENT_COLLECTION_METHOD_PM ? &r->total : &r->sm[instance];

    switch (event - 1) {
#define GPUSIM_EVENT(name, domain, category, value, description) \
    case EVENT_##name:                                           \
        return (uint64_t)(value);
#include "cupti/events.def"
#undef GPUSIM_EVENT
    default:
        return 0;
    }
}
