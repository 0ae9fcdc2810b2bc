/*
 * The range profiler: one object per context, its passes made by the user. Where this file seems
 * odd (a configuration that cannot be changed, passes that do not start over, launches dropped
 * without a word) the real library was seen to do the same on an H200 with CUPTI 2025.3.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_sim.h"
#include "cupti/images.h"

#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

struct CUpti_RangeProfiler_Object {
    struct CUpti_RangeProfiler_Object *next; /* all there have been: none is ever freed */
    CUcontext context;
    int device;
    bool alive, ever_started, started;
    bool broken;       /* another one was enabled in its context meanwhile */
    bool instrumented; /* some kernel ran in a pass of instrumented code */
    struct gpusim_watcher watcher;

    /* The layout that the last counter data size was computed for. */
    uint32_t *bases;
    uint32_t base_count, max_ranges;

    /* The last settings of SetConfig; of the counters only its first word counts. */
    struct gpusim_config_image *config;
    struct gpusim_data_image *data;
    size_t data_bytes;
    CUpti_ProfilerRange mode;
    uint32_t max_per_pass;

    uint32_t pass;         /* that the next Start collects */
    uint32_t in_pass;      /* ranges of this pass so far */
    uint32_t most_in_pass; /* over the passes since pass 0 */
    uint32_t first_number; /* of the next automatic range */
    unsigned depth;        /* of pushed ranges */
    bool overflowed;
    char range[GPUSIM_RANGE_NAME]; /* the outermost one pushed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUpti_RangeProfiler_Object *objects;
static bool initialized;

/* ---- the profiler as a whole ---- */

static CUptiResult available(void)
{
    const struct gpusim_backend *driver = gpusim_driver();

    if (!driver)
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (driver->fault("oldcupti"))
        return CUPTI_ERROR_API_NOT_IMPLEMENTED;
    return driver->ready() ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

bool gpusim_profiler_initialized(void)
{
    return initialized;
}

bool gpusim_ranges_enabled(CUcontext context)
{
    bool enabled = false;

    pthread_mutex_lock(&lock);
    for (const CUpti_RangeProfiler_Object *o = objects; o; o = o->next)
        enabled = enabled || (o->alive && o->context == context);
    pthread_mutex_unlock(&lock);
    return enabled;
}

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *pParams)
{
    GPUSIM_MAY_FAIL();
    (void)pParams; /* not even its size is checked */
    if (!gpusim_driver())
        return CUPTI_ERROR_UNKNOWN;
    if (gpusim_driver()->fault("oldcupti"))
        return CUPTI_ERROR_NOT_INITIALIZED; /* older than the driver asks for */
    CUptiResult result = gpusim_attach(true);
    if (result != CUPTI_SUCCESS)
        return result;
    /* So does that of CUDA 12, without an end where a kernel waits for the program; later ones do
     * not. */
    CUcontext current = initialized ? NULL : gpusim_driver()->current();
    if (current)
        (void)gpusim_driver()->synchronize(current);
    initialized = true;
    return CUPTI_SUCCESS;
}

/* Does not give the driver back. */
CUptiResult CUPTIAPI cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params *pParams)
{
    GPUSIM_MAY_FAIL();
    (void)pParams;
    initialized = false;
    gpusim_profiler_ends();
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *pParams)
{
    const struct gpusim_backend *driver = gpusim_driver();

    if (!pParams)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!driver || !driver->ready())
        gpusim_crash("cuptiDeviceGetChipName before cuInit");
    /* Without cuptiProfilerInitialize it succeeds all the same, and gives no name. */
    pParams->pChipName = initialized ? driver->chip()->chip_name : NULL;
    return CUPTI_SUCCESS;
}

/* ---- the image after a launch ---- */

/* For tests: GPUSIM_DRIFT=METRIC@N, one more of its counter is recorded from the Nth time on. */
static bool drifts(unsigned base)
{
    static unsigned long recorded;
    const char *drift = getenv("GPUSIM_DRIFT"), *at = drift ? strchr(drift, '@') : NULL;
    struct gpusim_metric metric;
    char name[128];

    if (!at || snprintf(name, sizeof(name), "%.*s", (int)(at - drift), drift) < 1)
        return false;
    return gpusim_metric_parse(name, &metric) && metric.base == base &&
           ++recorded >= strtoul(at + 1, NULL, 10);
}

/* Adds the counters of the present pass to the range of that name. The lock is held. */
static void record(CUpti_RangeProfiler_Object *o, const char *name,
                   const struct gpusim_result *result)
{
    struct gpusim_data_image *data = gpusim_data_check(o->data, o->data_bytes);
    struct gpusim_sample *samples;
    int range;

    if (!data)
        return;
    range = gpusim_data_range(data, name);
    if (range < 0)
        return;
    samples = gpusim_data_samples(data, (uint32_t)range);
    o->instrumented = o->instrumented || o->watcher.instruments;
    for (uint32_t i = 0; i < o->config->count; i++) {
        const struct gpusim_config_counter *counter = &o->config->counters[i];
        int index = gpusim_data_index(data, counter->base);
        struct gpusim_sample sample;
        if (counter->pass != o->pass || index < 0)
            continue;
        sample = gpusim_metric_sample(counter->base, result, gpusim_driver()->chip());
        sample.sum += drifts(counter->base);
        gpusim_sample_add(&samples[index], &sample);
    }
}

static void a_range_takes_time(void)
{
    const double ms = gpusim_driver()->fault_number("slowranges");
    if (ms > 0)
        gpusim_driver()->sleep_ms(ms);
}

static void launched(void *self, const struct gpusim_result *result)
{
    CUpti_RangeProfiler_Object *o = self;

    pthread_mutex_lock(&lock);
    if (o->started && o->mode == CUPTI_AutoRange && o->in_pass < o->max_per_pass) {
        char name[GPUSIM_RANGE_NAME];
        (void)snprintf(name, sizeof(name), "%u", o->first_number + o->in_pass++);
        record(o, name, result);
    } else if (o->started && o->mode == CUPTI_UserRange && o->depth > 0 && !o->overflowed) {
        record(o, o->range, result);
    }
    pthread_mutex_unlock(&lock);
    if (o->mode == CUPTI_AutoRange)
        a_range_takes_time();
}

/* ---- the object ---- */

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *pParams)
{
    CUptiResult result = available();
    CUpti_RangeProfiler_Object *o;
    CUcontext context;
    int device;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_Enable_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (result != CUPTI_SUCCESS)
        return result;
    context = pParams->ctx ? pParams->ctx : gpusim_driver()->current();
    if (!context || !gpusim_driver()->device_of(context, &device))
        return CUPTI_ERROR_INVALID_CONTEXT;
    if (gpusim_samples_enabled())
        gpusim_crash("cuptiRangeProfilerEnable while PC sampling is enabled");
    if (gpusim_driver()->chip()->legacy || gpusim_driver()->fault("unsupportedchip"))
        return CUPTI_ERROR_NOT_SUPPORTED;
    if (gpusim_driver()->fault("noprivileges"))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    o = calloc(1, sizeof(*o));
    if (!o)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    o->context = context;
    o->device = device;
    o->alive = true;
    o->watcher.launched = launched;
    o->watcher.self = o;
    pthread_mutex_lock(&lock);
    for (CUpti_RangeProfiler_Object *other = objects; other; other = other->next)
        other->broken = other->broken || (other->alive && other->context == context);
    o->next = objects;
    objects = o;
    pthread_mutex_unlock(&lock);
    pParams->pRangeProfilerObject = o;
    gpusim_write_later_fields(pParams, sizeof(*pParams));
    gpusim_takes_ms(300);
    if (gpusim_driver()->fault("slowopen"))
        gpusim_driver()->sleep_ms(100);
    gpusim_driver()->serve(true);
    gpusim_note("enable", 0);
    return CUPTI_SUCCESS;
}

static void end_session(CUpti_RangeProfiler_Object *o)
{
    (void)gpusim_driver()->synchronize(o->context);
    gpusim_driver()->unwatch(o->context, &o->watcher);
    gpusim_counters_give_back(o->context, o->device);
    o->started = false;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;

    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_Disable_Params) ||
        !pParams->pRangeProfilerObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    if (!o->alive)
        gpusim_crash("cuptiRangeProfilerDisable of an object that is disabled already");
    if (o->started)
        end_session(o);
    o->alive = false;
    free(o->bases);
    free(o->config);
    o->bases = NULL;
    o->config = NULL;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;
    uint32_t *bases;
    uint32_t count = 0;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_GetCounterDataSize_Params) ||
        !pParams->pRangeProfilerObject || !pParams->pMetricNames || pParams->maxNumOfRanges == 0 ||
        pParams->maxNumRangeTreeNodes < pParams->maxNumOfRanges)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    bases = calloc(pParams->numMetrics + 1, sizeof(*bases));
    if (!bases)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < pParams->numMetrics; i++) {
        struct gpusim_metric metric;
        bool known = false;
        if (!pParams->pMetricNames[i] || !gpusim_metric_parse(pParams->pMetricNames[i], &metric)) {
            free(bases);
            return CUPTI_ERROR_INVALID_PARAMETER;
        }
        for (uint32_t k = 0; k < count; k++)
            known = known || bases[k] == metric.base;
        if (!known)
            bases[count++] = metric.base;
    }
    free(o->bases);
    o->bases = bases;
    o->base_count = count;
    o->max_ranges = (uint32_t)pParams->maxNumOfRanges;
    pParams->counterDataSize = gpusim_data_bytes(count, o->max_ranges);
    if (gpusim_driver() && gpusim_driver()->fault("bigimage"))
        pParams->counterDataSize += (size_t)o->max_ranges << 20;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;
    struct gpusim_data_image *data;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_CounterDataImage_Initialize_Params) ||
        !pParams->pRangeProfilerObject || !pParams->pCounterData)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    if (!o->bases || pParams->counterDataSize < gpusim_data_bytes(o->base_count, o->max_ranges))
        return CUPTI_ERROR_UNKNOWN;
    gpusim_note("empty", o->pass);
    memset(pParams->pCounterData, 0, pParams->counterDataSize);
    data = (struct gpusim_data_image *)(void *)pParams->pCounterData;
    data->magic = GPUSIM_DATA_MAGIC;
    data->counters = o->base_count;
    data->max_ranges = o->max_ranges;
    memcpy(gpusim_data_bases(data), o->bases, o->base_count * sizeof(*o->bases));
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *pParams)
{
    const struct gpusim_config_image *config;
    CUpti_RangeProfiler_Object *o;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_SetConfig_Params) ||
        !pParams->pRangeProfilerObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    if (!o->alive)
        return CUPTI_ERROR_INVALID_CONTEXT;
    config = gpusim_config_check(pParams->pConfig, pParams->configSize);
    if (!config || !gpusim_data_check(pParams->pCounterDataImage, pParams->counterDataImageSize))
        gpusim_crash("cuptiRangeProfilerSetConfig with an image that was not initialized");
    if ((pParams->range != CUPTI_AutoRange && pParams->range != CUPTI_UserRange) ||
        pParams->maxRangesPerPass == 0 || pParams->numNestingLevels == 0 ||
        pParams->minNestingLevel == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (pParams->replayMode != CUPTI_UserReplay)
        return CUPTI_ERROR_NOT_SUPPORTED; /* the simulated kernels are replayed by the user only */
    pthread_mutex_lock(&lock);
    o->data = (struct gpusim_data_image *)(void *)pParams->pCounterDataImage;
    o->data_bytes = pParams->counterDataImageSize;
    o->mode = pParams->range;
    o->max_per_pass = (uint32_t)pParams->maxRangesPerPass;
    /* The counters of the first session stay, also when others are asked for later. */
    if (!o->ever_started) {
        struct gpusim_config_image *copy = malloc(pParams->configSize);
        if (copy) {
            memcpy(copy, config, pParams->configSize);
            free(o->config);
            o->config = copy;
        }
    }
    pthread_mutex_unlock(&lock);
    return o->config ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

/* ---- sessions ---- */

/* Does the present pass count instrumented code? */
static bool instruments(const CUpti_RangeProfiler_Object *o)
{
    for (uint32_t i = 0; i < o->config->count; i++)
        if (o->config->counters[i].pass == o->pass &&
            gpusim_metric_is_instrumented(o->config->counters[i].base))
            return true;
    return false;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;
    CUptiResult result;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_Start_Params) ||
        !pParams->pRangeProfilerObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    result = available();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!o->alive)
        return CUPTI_ERROR_INVALID_CONTEXT;
    if (!o->config)
        gpusim_crash("cuptiRangeProfilerStart without a configuration");
    if (o->broken)
        return CUPTI_ERROR_UNKNOWN;
    if (o->started)
        return CUPTI_SUCCESS;
    if (gpusim_driver()->is_green(o->context) || !gpusim_driver()->synchronize(o->context))
        return CUPTI_ERROR_UNKNOWN;
    result = gpusim_counters_take(o->context, o->device);
    if (result != CUPTI_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    gpusim_samples_ranges_begin();
    o->ever_started = true;
    o->started = true;
    o->in_pass = 0;
    o->depth = 0;
    o->overflowed = false;
    pthread_mutex_unlock(&lock);
    gpusim_takes_ms(20);
    gpusim_note("start", o->pass);
    /* Each kernel a range of its own: then kernels do not overlap. */
    o->watcher.serialize = o->mode == CUPTI_AutoRange;
    o->watcher.idle = o->mode == CUPTI_UserRange;
    o->watcher.instruments = instruments(o);
    if (!gpusim_driver()->watch(o->context, &o->watcher)) {
        gpusim_counters_give_back(o->context, o->device);
        o->started = false;
        return CUPTI_ERROR_INVALID_CONTEXT;
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;
    bool sound;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_Stop_Params) ||
        !pParams->pRangeProfilerObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    if (!o->started)
        return CUPTI_ERROR_INVALID_OPERATION;
    sound = gpusim_driver()->synchronize(o->context);
    gpusim_takes_ms(40);
    end_session(o);
    if (!sound)
        return CUPTI_ERROR_UNKNOWN;
    if (o->overflowed)
        gpusim_crash("more user ranges in a pass than maxRangesPerPass");
    if (o->in_pass > o->most_in_pass)
        o->most_in_pass = o->in_pass;
    o->pass++;
    pParams->isAllPassSubmitted = o->pass >= o->config->passes;
    if (pParams->isAllPassSubmitted) {
        o->pass = 0;
        o->first_number += o->most_in_pass;
        o->most_in_pass = 0;
    }
    pParams->passIndex = o->pass;
    pParams->targetNestingLevel = 1;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_PushRange_Params) ||
        !pParams->pRangeProfilerObject || !pParams->pRangeName)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    if (!o->alive || !o->started)
        return CUPTI_ERROR_INVALID_OPERATION;
    if (o->broken)
        return CUPTI_ERROR_UNKNOWN;
    if (o->mode != CUPTI_UserRange)
        return CUPTI_SUCCESS;                       /* of no effect, and no error either */
    (void)gpusim_driver()->synchronize(o->context); /* earlier launches are not in it */
    pthread_mutex_lock(&lock);
    o->watcher.idle = false;
    if (o->depth++ == 0) {
        (void)snprintf(o->range, sizeof(o->range), "%s", pParams->pRangeName);
        o->overflowed = o->overflowed || o->in_pass == o->max_per_pass;
        o->in_pass++;
        if (!o->overflowed && gpusim_data_check(o->data, o->data_bytes))
            (void)gpusim_data_range(o->data, o->range);
    }
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params *pParams)
{
    CUpti_RangeProfiler_Object *o;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_PopRange_Params) ||
        !pParams->pRangeProfilerObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    o = pParams->pRangeProfilerObject;
    if (!o->alive || !o->started)
        return CUPTI_ERROR_INVALID_OPERATION;
    if (o->mode == CUPTI_UserRange)
        (void)gpusim_driver()->synchronize(o->context);
    if (o->watcher.instruments && gpusim_cupti_fault("slowcode"))
        gpusim_driver()->sleep_ms(150);
    a_range_takes_time();
    pthread_mutex_lock(&lock);
    if (o->depth > 0)
        o->depth--;
    o->watcher.idle = o->depth == 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

/* ---- results ---- */

/* Another object of the context has run kernels in its pass of instrumented code. */
static bool was_instrumented_before(const CUpti_RangeProfiler_Object *o)
{
    const CUpti_RangeProfiler_Object *other;
    bool before = false;

    pthread_mutex_lock(&lock);
    for (other = objects; other; other = other->next)
        before = before || (other != o && other->context == o->context && other->instrumented);
    pthread_mutex_unlock(&lock);
    return before;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *pParams)
{
    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_DecodeData_Params) ||
        !pParams->pRangeProfilerObject || !pParams->pRangeProfilerObject->ever_started)
        return CUPTI_ERROR_INVALID_PARAMETER;
    gpusim_note("decode", pParams->pRangeProfilerObject->pass);
    gpusim_takes_ms(60);
    /* Before the last pass it works in a context's first object only. */
    if (pParams->pRangeProfilerObject->pass > 0 &&
        was_instrumented_before(pParams->pRangeProfilerObject))
        return CUPTI_ERROR_UNKNOWN;
    /* The counts are in the image since the kernel's end. Ranges too many are not owned up to. */
    pParams->numOfRangeDropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *pParams)
{
    const struct gpusim_data_image *data;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_GetCounterDataInfo_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    data = gpusim_data_check(pParams->pCounterDataImage, pParams->counterDataImageSize);
    if (!data)
        return CUPTI_ERROR_UNKNOWN;
    pParams->numTotalRanges = data->ranges;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataGetRangeInfo(
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params *pParams)
{
    const struct gpusim_data_image *data;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    data = gpusim_data_check(pParams->pCounterDataImage, pParams->counterDataImageSize);
    if (!data || data->ranges == 0)
        gpusim_crash("cuptiRangeProfilerCounterDataGetRangeInfo of an image without ranges");
    if (pParams->rangeIndex >= data->ranges)
        pParams->rangeName = gpusim_data_range_name(data, data->ranges - 1);
    else
        pParams->rangeName = gpusim_data_range_name(data, (uint32_t)pParams->rangeIndex);
    return CUPTI_SUCCESS;
}
