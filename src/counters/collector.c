#include "counters/collector.h"

#include "counters/range_config.h"
#include "counters/sass_config.h"
#include "counters/sass_session.h"
#include "cuda/cupti.h"

#include <string.h>

#include <stdlib.h>

struct gp_collection *gp_collection_open(CUcontext context, struct gp_device *device,
                                         gp_counter_names *names,
                                         const struct gp_collector **collector,
                                         struct gp_reason *why)
{
    static const struct gp_collector *const collectors[] = {&gp_range_collector,
                                                            &gp_event_collector};
    struct gp_reason first_why = GP_NO_REASON;
    for (size_t i = 0; i < sizeof(collectors) / sizeof(collectors[0]); i++) {
        if (!collectors[i]->suits(device))
            continue;
        device->event_counters = collectors[i] == &gp_event_collector;
        const char **list = NULL;
        size_t count = 0;
        if (!names(device, &list, &count)) {
            *why = GP_REASON(NO_MEMORY);
            return NULL;
        }
        struct gp_collection *collection = collectors[i]->open(context, device, list, count, why);
        free(list);
        if (collection) {
            *collector = collectors[i];
            return collection;
        }
        /* The preferred way's reason says more than that of the last resort. */
        first_why = gp_reason_or(first_why, *why);
    }
    *why = gp_reason_or(
        first_why, GP_REASON_TEXT(OTHER_CUPTI,
                                  "no way is known to count on a GPU of this compute capability"));
    return NULL;
}

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
    gp_sass_sessions_leave(context, at_rest);
}

bool gp_collectors_left_code(void)
{
    return gp_sass_sessions_left_code();
}

void gp_collectors_end(void)
{
    gp_sass_sessions_end();
}

bool gp_collectors_have_driver(void)
{
    return gp_profiler_is_initialized();
}
