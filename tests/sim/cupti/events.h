/* The events of the legacy chip: their domains, and the counts of each instance of a domain. */
#ifndef GPUSIM_CUPTI_EVENTS_H
#define GPUSIM_CUPTI_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/chip.h"
#include "model/counters.h"

#include <cuda.h>
#include <cupti_events.h>

struct gpusim_event_domain {
    const char *name;
    CUpti_EventCollectionMethod method;
    uint32_t instances, countable;
    uint32_t counters; /* that a group of this domain can hold */
};

/* Identifiers begin at 1, as 0 is no event and no domain. */
uint32_t gpusim_domain_count(void);
const char *gpusim_event_name(CUpti_EventID event);
const char *gpusim_event_description(CUpti_EventID event);
CUpti_EventCategory gpusim_event_category(CUpti_EventID event);
CUpti_EventDomainID gpusim_event_domain(CUpti_EventID event);
bool gpusim_event_find(const char *name, CUpti_EventID *event);
struct gpusim_event_domain gpusim_domain(CUpti_EventDomainID domain,
                                         const struct gpusim_chip *chip);

/* The count of this instance of the event's domain in the launch. */
uint64_t gpusim_event_value(CUpti_EventID event, uint32_t instance, const struct gpusim_result *r,
                            const struct gpusim_chip *chip);

#endif
