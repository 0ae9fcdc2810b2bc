/* The part of CUPTI that tools use: one subscriber in the process, and records of kernels. The
 * driver serves one copy of this library at a time, as the real one was seen to do: the first that
 * was asked for anything but its version, until cuptiFinalize. Once profilers were used that does
 * not give it back. */
#include "cupti/cupti_sim.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cupti_activity.h>
#include <cupti_callbacks.h>

#define SOME_TOOL ((CUpti_SubscriberHandle)1)
#define MOST_CONTEXTS 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool attached, plainly, profiled, finalized, gone, was_finalized, lost, subscribed, active;
static CUpti_CallbackFunc hears;
static void *hears_data;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static struct {
    CUcontext context;
    struct gpusim_watcher watcher;
    bool watching;
} watched[MOST_CONTEXTS];
static unsigned kernels; /* whose records nobody has asked for */

static void count_kernel(void *self, const struct gpusim_result *result)
{
    (void)self;
    (void)result;
    pthread_mutex_lock(&lock);
    kernels++;
    pthread_mutex_unlock(&lock);
}

void gpusim_note(const char *what, uint32_t pass)
{
    const char *path = getenv("GPUSIM_PROFILER");
    FILE *file = path ? fopen(path, "a") : NULL;

    if (file) {
        (void)fprintf(file, "%s %u\n", what, pass);
        (void)fclose(file);
    }
}

CUptiResult gpusim_attach(bool by_profiler)
{
    CUptiResult result = CUPTI_SUCCESS;

    if (!gpusim_driver())
        return CUPTI_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    if (by_profiler && (finalized || gone || lost))
        result = CUPTI_ERROR_NOT_INITIALIZED;
    else if (!attached && !gpusim_driver()->attach(&attached))
        result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (result == CUPTI_SUCCESS) {
        attached = true;
        plainly = plainly || !by_profiler;
        gone = gone && by_profiler;
        profiled = profiled || by_profiler;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

bool gpusim_was_finalized(void)
{
    return was_finalized;
}

void gpusim_profiler_ends(void)
{
    pthread_mutex_lock(&lock);
    finalized = false;
    pthread_mutex_unlock(&lock);
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                    void *userdata)
{
    GPUSIM_MAY_FAIL();
    CUptiResult result = gpusim_attach(false);

    if (!subscriber)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (result != CUPTI_SUCCESS)
        return result;
    if (subscribed)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    subscribed = true;
    hears = callback;
    hears_data = userdata;
    *subscriber = SOME_TOOL;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    if (!subscribed || subscriber != SOME_TOOL)
        return CUPTI_ERROR_INVALID_PARAMETER;
    subscribed = false;
    gpusim_driver()->hear_cubins(NULL);
    return CUPTI_SUCCESS;
}

static void tell_cubin(const void *cubin, size_t size)
{
    CUpti_ModuleResourceData module = {.cubinSize = size, .pCubin = cubin};
    CUpti_ResourceData resource = {.resourceDescriptor = &module};

    hears(hears_data, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &resource);
}

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    GPUSIM_MAY_FAIL();
    if (!subscribed || subscriber != SOME_TOOL)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_MODULE_LOADED && hears)
        gpusim_driver()->hear_cubins(enable ? tell_cubin : NULL);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                       CUpti_CallbackDomain domain)
{
    (void)enable;
    (void)domain;
    return subscribed && subscriber == SOME_TOOL ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed)
{
    CUptiResult result = gpusim_attach(false);

    if (result == CUPTI_SUCCESS) {
        request = requested;
        complete = completed;
    }
    return result;
}

static void watch_current(void)
{
    CUcontext context = gpusim_driver()->current();

    for (unsigned i = 0; context && i < MOST_CONTEXTS; i++) {
        if (watched[i].watching && watched[i].context == context)
            return;
        if (watched[i].watching)
            continue;
        watched[i].context = context;
        watched[i].watcher = (struct gpusim_watcher){.launched = count_kernel, .lists = true};
        watched[i].watching = gpusim_driver()->watch(context, &watched[i].watcher);
        return;
    }
}

static void unwatch_all(void)
{
    for (unsigned i = 0; i < MOST_CONTEXTS; i++) {
        if (watched[i].watching) {
            (void)gpusim_driver()->synchronize(watched[i].context);
            gpusim_driver()->unwatch(watched[i].context, &watched[i].watcher);
        }
        watched[i].watching = false;
    }
}

/* Kernels alone are recorded, those of the current context. */
CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
    CUptiResult result = gpusim_attach(false);

    if (result == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
        active = true;
        watch_current();
    }
    return result;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
    CUptiResult result = gpusim_attach(false);

    if (result == CUPTI_SUCCESS && kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && active) {
        active = false;
        unwatch_all();
    }
    return result;
}

/* Records are their kinds alone. */
CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    CUptiResult result = gpusim_attach(false);
    uint8_t *buffer = NULL;
    size_t size = 0, most = 0, records;

    (void)flag;
    if (result != CUPTI_SUCCESS || !request || !complete)
        return result;
    for (unsigned i = 0; i < MOST_CONTEXTS; i++)
        if (watched[i].watching)
            (void)gpusim_driver()->synchronize(watched[i].context);
    request(&buffer, &size, &most);
    pthread_mutex_lock(&lock);
    records =
        size / sizeof(CUpti_ActivityKind) < kernels ? size / sizeof(CUpti_ActivityKind) : kernels;
    kernels = 0;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < records; i++)
        ((CUpti_ActivityKind *)(void *)buffer)[i] = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    complete(NULL, 0, buffer, size, records * sizeof(CUpti_ActivityKind));
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes,
                                                CUpti_Activity **record)
{
    CUpti_ActivityKind *next =
        *record ? (CUpti_ActivityKind *)(void *)*record + 1 : (CUpti_ActivityKind *)(void *)buffer;

    if ((uint8_t *)next >= buffer + bytes)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

/* Work in any context is waited for: the real one is documented for processes in which none is. */
CUptiResult CUPTIAPI cuptiFinalize(void)
{
    GPUSIM_MAY_FAIL();
    gpusim_note("finalize", 0);
    if (gpusim_driver())
        gpusim_driver()->synchronize_all();
    pthread_mutex_lock(&lock);
    bool ends = attached && plainly;
    if (ends) {
        if (!profiled)
            gpusim_driver()->detach(&attached);
        attached = plainly = subscribed = active = false;
    }
    if (gpusim_driver())
        gpusim_driver()->serve(false);
    finalized = gone = was_finalized = true;
    lost = lost || gpusim_profiler_initialized();
    pthread_mutex_unlock(&lock);
    gpusim_samples_finalize();
    if (ends)
        unwatch_all();
    return CUPTI_SUCCESS;
}
