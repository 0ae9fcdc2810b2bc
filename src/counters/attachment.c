/* CUPTI's hold on the driver: it comes with the first profiler of the process. While it is there
 * each of the program's launches takes longer, so it is detached where nothing is counted for a
 * while. Owns the answer whether it is there. */
#include "counters/inside.h"

#include "counters/collector.h"

#include <pthread.h>
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

/* ---- cubins ---------------------------------------------------------------------------------- */

struct listening {
    gp_cubin_heard *heard;
    void *data;
    pthread_t thread; /* others load modules of their own */
};

static void hear_module(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId which,
                        const void *call)
{
    const struct listening *l = data;
    if (domain != CUPTI_CB_DOMAIN_RESOURCE || which != CUPTI_CBID_RESOURCE_MODULE_LOADED ||
        !pthread_equal(pthread_self(), l->thread))
        return;
    const CUpti_ResourceData *resource = call;
    const CUpti_ModuleResourceData *module = resource->resourceDescriptor;
    if (module && module->pCubin && module->cubinSize)
        l->heard(module->pCubin, module->cubinSize, l->data);
}

bool gp_collectors_hear_cubins(void (*load)(void *data), gp_cubin_heard *heard, void *data,
                               struct gp_reason *why)
{
    CUpti_SubscriberHandle subscriber;
    struct listening listening = {heard, data, pthread_self()};
    *why = GP_REASON_TEXT(CODE_UNKNOWN, "CUPTI gives no machine code at present");
    if (!atomic_load(&initialized) || !gp_cupti_can_detach() ||
        gp_cupti_failed("cuptiSubscribe",
                        gp_cupti.cuptiSubscribe(&subscriber, hear_module, &listening), why))
        return false;
    const bool listens =
        !gp_cupti_failed("cuptiEnableCallback",
                         gp_cupti.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                                      CUPTI_CBID_RESOURCE_MODULE_LOADED),
                         why);
    if (listens)
        load(data);
    return !gp_cupti_failed("cuptiUnsubscribe", gp_cupti.cuptiUnsubscribe(subscriber), why) &&
           listens;
}

/* ---- to be away ------------------------------------------------------------------------------ */

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
