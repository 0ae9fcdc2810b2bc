/* CUPTI's hold on the driver: it comes with the first profiler of the process. While it is there
 * each of the program's launches takes longer, so it is detached where nothing is counted for a
 * while. Owns the answer whether it is there. */
#include "counters/inside.h"

#include "counters/collector.h"

#include <stdatomic.h>

static atomic_bool initialized, detached;

static void listen(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId which,
                   const void *call)
{
    (void)data;
    (void)domain;
    (void)which;
    (void)call;
}

static bool end(struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_DeInitialize, p);
    atomic_store(&initialized, false);
    return !GP_CUPTI_FAILED(cuptiProfilerDeInitialize, p, why);
}

/* Behind cuptiFinalize no profiler begins, also where profilers are ended once more, until someone
 * has subscribed: us, or a tool of the program's. There is one subscriber at a time. */
static bool attach(struct gp_reason *why)
{
    CUpti_SubscriberHandle subscriber;
    const CUptiResult result = gp_cupti.cuptiSubscribe(&subscriber, listen, NULL);
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        return end(why);
    return !gp_cupti_failed("cuptiSubscribe", result, why) &&
           !gp_cupti_failed("cuptiUnsubscribe", gp_cupti.cuptiUnsubscribe(subscriber), why) &&
           end(why);
}

bool gp_profiler_initialize(struct gp_reason *why)
{
    if (atomic_load(&initialized))
        return true;
    if (atomic_load(&detached) && !attach(why))
        return false;
    atomic_store(&detached, false);
    GP_CUPTI_PARAMS(CUpti_Profiler_Initialize, p);
    atomic_store(&initialized, !GP_CUPTI_FAILED(cuptiProfilerInitialize, p, why));
    return atomic_load(&initialized);
}

bool profiler_is_initialized(void)
{
    return atomic_load(&initialized);
}

bool profiler_is_detached(void)
{
    return atomic_load(&detached);
}

/* Profilers begin again only where they were ended before it, too. A CUPTI that was given up may
 * still be sampling, beside a kernel that does not end. */
bool gp_collectors_detach(struct gp_reason *why)
{
    if (!gp_cupti_find(why))
        return false;
    *why = GP_REASON_TEXT(OTHER_CUPTI, "this CUPTI cannot be detached");
    if (!gp_cupti_can_detach() || !end(why) ||
        gp_cupti_failed("cuptiFinalize", gp_cupti.cuptiFinalize(), why))
        return false;
    atomic_store(&detached, true);
    return true;
}
