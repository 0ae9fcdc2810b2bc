/* The host's half of the profiler: names, configurations and values; it needs no GPU. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_sim.h"
#include "cupti/images.h"

#include <cupti_profiler_host.h>

struct CUpti_Profiler_Host_Object {
    struct gpusim_config_counter *counters;
    uint32_t count;
    bool spoiled; /* was given a bad name: it takes no other any more */
};

static bool chip_known(const char *name)
{
    const struct gpusim_chip *hopper = gpusim_driver() ? gpusim_driver()->chip() : NULL;

    if (gpusim_cupti_fault("unsupportedchip"))
        return false;
    if (strcmp(name, "GH100") == 0)
        return true;
    return hopper && !hopper->legacy && strcmp(name, hopper->chip_name) == 0;
}

/* As the real one does, which ends a process that has a sanitizer in it. */
#ifdef __SANITIZE_ADDRESS__
#define BINDS RTLD_NOW
#else
#define BINDS (RTLD_NOW | RTLD_GLOBAL | RTLD_DEEPBIND)
#endif
static void open_part(void)
{
    (void)dlopen("libnvperf_host.so", BINDS);
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *pParams)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, open_part);
    GPUSIM_MAY_FAIL();
    if (gpusim_cupti_fault("oldcupti"))
        return CUPTI_ERROR_API_NOT_IMPLEMENTED;
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_Initialize_Params) ||
        pParams->profilerType != CUPTI_PROFILER_TYPE_RANGE_PROFILER || !pParams->pChipName)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!chip_known(pParams->pChipName))
        return CUPTI_ERROR_INVALID_CHIP_NAME;
    pParams->pHostObject = calloc(1, sizeof(*pParams->pHostObject));
    gpusim_write_later_fields(pParams, sizeof(*pParams));
    return pParams->pHostObject ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

CUptiResult CUPTIAPI cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *pParams)
{
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_Deinitialize_Params) ||
        !pParams->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    free(pParams->pHostObject->counters);
    free(pParams->pHostObject);
    return CUPTI_SUCCESS;
}

static bool host_has(const CUpti_Profiler_Host_Object *host, unsigned base)
{
    for (uint32_t i = 0; i < host->count; i++)
        if (host->counters[i].base == base)
            return true;
    return false;
}

CUptiResult CUPTIAPI
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *pParams)
{
    CUpti_Profiler_Host_Object *host;
    struct gpusim_config_counter *more;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_ConfigAddMetrics_Params) ||
        !pParams->pHostObject || !pParams->ppMetricNames || pParams->numMetrics == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    host = pParams->pHostObject;
    /* One bad name spoils the whole list and nobody says which; the object takes nothing more. */
    if (host->spoiled)
        return CUPTI_ERROR_UNKNOWN;
    for (size_t i = 0; i < pParams->numMetrics; i++) {
        struct gpusim_metric metric;
        if (pParams->ppMetricNames[i] && gpusim_metric_parse(pParams->ppMetricNames[i], &metric))
            continue;
        host->spoiled = true;
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    more = realloc(host->counters, (host->count + pParams->numMetrics) * sizeof(*more));
    if (!more)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    host->counters = more;
    for (size_t i = 0; i < pParams->numMetrics; i++) {
        struct gpusim_metric metric;
        (void)gpusim_metric_parse(pParams->ppMetricNames[i], &metric);
        if (!host_has(host, metric.base))
            host->counters[host->count++] = (struct gpusim_config_counter){metric.base, 0};
    }
    return CUPTI_SUCCESS;
}

static size_t config_bytes(const CUpti_Profiler_Host_Object *host)
{
    return sizeof(struct gpusim_config_image) + host->count * sizeof(struct gpusim_config_counter);
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *pParams)
{
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_GetConfigImageSize_Params) ||
        !pParams->pHostObject)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (pParams->pHostObject->count == 0)
        return CUPTI_ERROR_UNKNOWN;
    pParams->configImageSize = config_bytes(pParams->pHostObject);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *pParams)
{
    CUpti_Profiler_Host_Object *host;
    struct gpusim_config_image header;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_GetConfigImage_Params) ||
        !pParams->pHostObject || !pParams->pConfigImage)
        return CUPTI_ERROR_INVALID_PARAMETER;
    host = pParams->pHostObject;
    if (host->count == 0 || pParams->configImageSize < config_bytes(host))
        return CUPTI_ERROR_INVALID_PARAMETER;
    header.magic = GPUSIM_CONFIG_MAGIC;
    header.passes = gpusim_config_plan(host->counters, host->count);
    header.count = host->count;
    memcpy(pParams->pConfigImage, &header, sizeof(header));
    memcpy(pParams->pConfigImage + sizeof(header), host->counters,
           host->count * sizeof(*host->counters));
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *pParams)
{
    const struct gpusim_config_image *config;

    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_GetNumOfPasses_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    config = gpusim_config_check(pParams->pConfigImage, pParams->configImageSize);
    pParams->numOfPasses = config ? config->passes : 0; /* no image is an image of no passes */
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *pParams)
{
    const struct gpusim_data_image *data;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_Profiler_Host_EvaluateToGpuValues_Params) ||
        !pParams->pHostObject || !pParams->ppMetricNames || !pParams->pMetricValues)
        return CUPTI_ERROR_INVALID_PARAMETER;
    data = gpusim_data_check(pParams->pCounterDataImage, pParams->counterDataImageSize);
    if (!data)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (size_t i = 0; i < pParams->numMetrics; i++) {
        struct gpusim_metric metric;
        int index;
        if (!pParams->ppMetricNames[i] || !gpusim_metric_parse(pParams->ppMetricNames[i], &metric))
            return CUPTI_ERROR_INVALID_METRIC_NAME;
        index = gpusim_data_index(data, metric.base);
        /* A counter that was not collected is not a number; nor is a range that is not there. */
        pParams->pMetricValues[i] =
            index < 0 || pParams->rangeIndex >= data->ranges
                ? NAN
                : gpusim_metric_value(
                      &metric, &gpusim_data_samples(data, (uint32_t)pParams->rangeIndex)[index]);
    }
    return CUPTI_SUCCESS;
}
