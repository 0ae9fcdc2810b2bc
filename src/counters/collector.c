#include "counters/collector.h"

#include <stdlib.h>

struct gp_collection *gp_collection_open(CUcontext context, struct gp_device *device,
                                         gp_counter_names *names,
                                         const struct gp_collector **collector, const char **why)
{
    static const struct gp_collector *const collectors[] = {&gp_range_collector,
                                                            &gp_event_collector};
    const char *first_why = NULL;
    for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++) {
        if (!collectors[i]->suits(device))
            continue;
        device->event_counters = collectors[i] == &gp_event_collector;
        const char **list = NULL;
        size_t count = 0;
        if (!names(device, &list, &count)) {
            *why = "memory ran out";
            return NULL;
        }
        struct gp_collection *collection = collectors[i]->open(context, device, list, count, why);
        free(list);
        if (collection) {
            *collector = collectors[i];
            return collection;
        }
        /* The preferred way's reason says more than that of the last resort. */
        first_why = first_why ? first_why : *why;
    }
    *why = first_why ? first_why : "no way is known to count on a GPU of this compute capability";
    return NULL;
}
