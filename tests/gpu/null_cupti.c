/* A CUPTI that counts nothing: for tools that share no process with the real one, such as
 * compute-sanitizer. With it gpuprof saves memory, replays and restores on a GPU as it would
 * otherwise; every counter is absent. The hardware's counters take one pass, those of instrumented
 * code another. */
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Functions that succeed and do nothing. */
#define NOTHING(function, type)               \
    EXPORT CUptiResult function(type *params) \
    {                                         \
        (void)params;                         \
        return CUPTI_SUCCESS;                 \
    }

EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "an error";
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = "GH100";
    return CUPTI_SUCCESS;
}

NOTHING(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)

/* ---- a configuration: its image is one byte, the number of passes ---------------------------- */

struct host {
    bool hardware, instrumented;
};

EXPORT CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    p->pHostObject = calloc(1, sizeof(struct host));
    return p->pHostObject ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

EXPORT CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    free(p->pHostObject);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    struct host *host = (struct host *)p->pHostObject;
    for (size_t i = 0; i < p->numMetrics; i++) {
        bool instrumented = strstr(p->ppMetricNames[i], "__sass_") != NULL;
        host->instrumented = host->instrumented || instrumented;
        host->hardware = host->hardware || !instrumented;
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
    p->configImageSize = 1;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
    const struct host *host = (const struct host *)p->pHostObject;
    *p->pConfigImage = (uint8_t)(host->hardware + host->instrumented);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *p)
{
    p->numOfPasses = *p->pConfigImage;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    for (size_t i = 0; i < p->numMetrics; i++)
        p->pMetricValues[i] = NAN;
    return CUPTI_SUCCESS;
}

/* ---- a session: nothing comes out of it ------------------------------------------------------ */

EXPORT CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)p;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = 1;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *p)
{
    p->numTotalRanges = 0;
    return CUPTI_SUCCESS;
}

NOTHING(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable_Params)
NOTHING(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params)
NOTHING(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start_Params)
NOTHING(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params)
NOTHING(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params)
NOTHING(cuptiRangeProfilerCounterDataImageInitialize,
        CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
NOTHING(cuptiRangeProfilerCounterDataGetRangeInfo,
        CUpti_RangeProfiler_CounterData_GetRangeInfo_Params)
NOTHING(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params)
NOTHING(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange_Params)
