/*
 * The SASS metrics: counts for each instruction of each kernel, gathered by instrumented code. One
 * record is one metric at one instruction; records add up over launches until they are flushed.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cupti/cupti_sim.h"

#include <cupti_sass_metrics.h>

#define MAX_DEVICES 8

struct sass_metric {
    const char *name, *description;
    uint64_t id;
};

static struct sass_metric metrics[] = {
#define GPUSIM_SASS(name, value, description) {#name, description, 0},
#include "cupti/sass.def"
#undef GPUSIM_SASS
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

enum metric_index {
#define GPUSIM_SASS(name, value, description) INDEX_##name,
#include "cupti/sass.def"
#undef GPUSIM_SASS
};

struct record {
    unsigned metric;
    const char *function;
    uint32_t offset;
    uint64_t value;
};

/* The settings for a device, and the counts gathered in its one enabled context. */
struct collection {
    bool configured, enabled;
    CUcontext configured_in; /* current when it was configured; NULL: none was */
    unsigned *metrics;
    size_t metric_count;
    CUcontext context;
    struct gpusim_watcher watcher;
    struct record *records;
    size_t record_count, record_capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct collection collections[MAX_DEVICES];
static pthread_once_t named = PTHREAD_ONCE_INIT;
static bool was_unset; /* some configuration */

static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037ull;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211ull;
    return h;
}

static void name_metrics(void)
{
    for (size_t i = 0; i < METRICS; i++)
        metrics[i].id = hash(metrics[i].name);
}

/* How many instructions of that width there were: lanes, as the counts have them, in whole warps.
 */
#define WIDTH(bits) (c->global_ld_##bits + c->global_st_##bits ? c->global_ld + c->global_st : 0)

/* A GH100 misses some of the sectors of asynchronous copies, others in each run of the same work.
 */
static uint64_t async_sectors(uint64_t sectors)
{
    static atomic_uint asked;

    return sectors - (atomic_fetch_add(&asked, 1) * 2654435761u >> 16) % (sectors / 2 + 1);
}
#define ASYNC_SECTORS async_sectors(c->async_copy_sectors)

static uint64_t value_of(unsigned metric, const struct gpusim_counters *c)
{
    switch (metric) {
#define GPUSIM_SASS(name, value, description) \
    case INDEX_##name:                        \
        return (uint64_t)(value);
#include "cupti/sass.def"
#undef GPUSIM_SASS
    default:
        return 0;
    }
}

static CUptiResult available(void)
{
    const struct gpusim_backend *driver = gpusim_driver();

    pthread_once(&named, name_metrics);
    if (!driver || !driver->ready())
        return CUPTI_ERROR_NOT_INITIALIZED;
    if (driver->fault("oldcupti"))
        return CUPTI_ERROR_API_NOT_IMPLEMENTED;
    if (driver->chip()->legacy || driver->fault("unsupportedchip"))
        return CUPTI_ERROR_NOT_SUPPORTED;
    return CUPTI_SUCCESS;
}

static bool chip_named(const char *name)
{
    return name && strcmp(name, gpusim_driver()->chip()->chip_name) == 0;
}

/* ---- the metrics ---- */

CUptiResult CUPTIAPI cuptiSassMetricsGetProperties(CUpti_SassMetrics_GetProperties_Params *pParams)
{
    CUptiResult result = available();

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetrics_GetProperties_Params) ||
        !chip_named(pParams->pChipName) || !pParams->pMetricName)
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (unsigned i = 0; i < METRICS; i++)
        if (strcmp(metrics[i].name, pParams->pMetricName) == 0) {
            pParams->metric = (CUpti_SassMetrics_MetricDetails){metrics[i].id, metrics[i].name,
                                                                metrics[i].description};
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_METRIC_NAME;
}

/* ---- configuration ---- */

static bool find_metric(uint64_t id, unsigned *metric)
{
    for (unsigned i = 0; i < METRICS; i++)
        if (metrics[i].id == id) {
            *metric = i;
            return true;
        }
    return false;
}

CUptiResult CUPTIAPI cuptiSassMetricsSetConfig(CUpti_SassMetricsSetConfig_Params *pParams)
{
    CUptiResult result = available();
    struct collection *c;
    unsigned *wanted;

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetricsSetConfig_Params) || !pParams->pConfigs ||
        pParams->numOfMetricConfig == 0 || pParams->deviceIndex >= gpusim_driver()->device_count())
        return CUPTI_ERROR_INVALID_PARAMETER;
    /* The answer of the real one then, and behind cuptiFinalize where a configuration was unset. */
    if (!gpusim_profiler_initialized() || (was_unset && gpusim_was_finalized()))
        return CUPTI_ERROR_OUT_OF_MEMORY;
    c = &collections[pParams->deviceIndex];
    if (c->configured)
        return CUPTI_ERROR_INVALID_OPERATION;
    wanted = calloc(pParams->numOfMetricConfig, sizeof(*wanted));
    if (!wanted)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < pParams->numOfMetricConfig; i++) {
        const CUpti_SassMetrics_Config *config = &pParams->pConfigs[i];
        /* Instructions are not followed to the SM that executed them. */
        if (config->outputGranularity != CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU)
            result = CUPTI_ERROR_NOT_SUPPORTED;
        else if (!find_metric(config->metricId, &wanted[i]))
            result = CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (result != CUPTI_SUCCESS) {
        free(wanted);
        return result;
    }
    c->metrics = wanted;
    c->metric_count = pParams->numOfMetricConfig;
    c->configured = true;
    c->configured_in = gpusim_driver()->current();
    return CUPTI_SUCCESS;
}

/* Before the first SetConfig of all, the library says that it was never started. */
static CUptiResult not_configured(void)
{
    static bool ever;

    for (unsigned i = 0; i < MAX_DEVICES; i++)
        ever = ever || collections[i].configured;
    return ever ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_ERROR_NOT_INITIALIZED;
}

CUptiResult CUPTIAPI cuptiSassMetricsUnsetConfig(CUpti_SassMetricsUnsetConfig_Params *pParams)
{
    CUptiResult result = available();
    CUptiResult why = not_configured();
    struct collection *c;
    int device;

    GPUSIM_MAY_FAIL();
    if (result != CUPTI_SUCCESS)
        return result;
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetricsUnsetConfig_Params) ||
        pParams->deviceIndex >= gpusim_driver()->device_count())
        return CUPTI_ERROR_INVALID_PARAMETER;
    c = &collections[pParams->deviceIndex];
    if (!c->configured)
        return why;
    if (c->enabled)
        return CUPTI_ERROR_INVALID_OPERATION;
    /* The real one frees its memory in the context, and checks nothing before. */
    if (c->configured_in && !gpusim_driver()->device_of(c->configured_in, &device))
        raise(SIGSEGV);
    free(c->metrics);
    c->metrics = NULL;
    c->metric_count = 0;
    c->configured = false;
    was_unset = true;
    return CUPTI_SUCCESS;
}

/* ---- collection ---- */

static void add_record(struct collection *c, unsigned metric, const char *function, uint32_t offset,
                       uint64_t value)
{
    for (size_t i = 0; i < c->record_count; i++)
        if (c->records[i].metric == metric && c->records[i].offset == offset &&
            strcmp(c->records[i].function, function) == 0) {
            c->records[i].value += value;
            return;
        }
    if (c->record_count == c->record_capacity) {
        size_t capacity = c->record_capacity ? c->record_capacity * 2 : 64;
        struct record *more = realloc(c->records, capacity * sizeof(*more));
        if (!more)
            return;
        c->records = more;
        c->record_capacity = capacity;
    }
    c->records[c->record_count++] = (struct record){metric, function, offset, value};
}

/* Where the Range Profiler is not enabled only the first launch of the process has records; a
 * driver where all have some is made up (sassalone). */
static bool counts_alone(void)
{
    static bool counted;
    bool first = !counted;

    counted = true;
    return first || gpusim_cupti_fault("sassalone");
}

static void launched(void *self, const struct gpusim_result *result)
{
    struct collection *c = self;

    if (!gpusim_ranges_enabled(c->context) && !counts_alone())
        return;
    pthread_mutex_lock(&lock);
    for (size_t m = 0; m < c->metric_count; m++)
        for (size_t i = 0; i < result->instruction_count; i++) {
            uint64_t value = value_of(c->metrics[m], &result->instructions[i].counts);
            /* Only instructions that have to do with the metric are instrumented for it. */
            if (value)
                add_record(c, c->metrics[m], result->kernel, result->instructions[i].offset, value);
        }
    pthread_mutex_unlock(&lock);
}

/* The collection of that context's device, enabled or not as the call wants; NULL and why not. */
static struct collection *collection_of(CUcontext context, bool enabled, CUptiResult *why)
{
    struct collection *c;
    int device;

    *why = available();
    if (*why != CUPTI_SUCCESS)
        return NULL;
    if (!context)
        context = gpusim_driver()->current();
    *why = CUPTI_ERROR_INVALID_CONTEXT;
    if (!context || !gpusim_driver()->device_of(context, &device))
        return NULL;
    c = &collections[device];
    *why = c->configured ? CUPTI_ERROR_INVALID_OPERATION : not_configured();
    return c->configured && c->enabled == enabled ? c : NULL;
}

CUptiResult CUPTIAPI cuptiSassMetricsEnable(CUpti_SassMetricsEnable_Params *pParams)
{
    struct collection *c;
    CUptiResult why;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetricsEnable_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    c = collection_of(pParams->ctx, false, &why);
    if (!c)
        return why;
    c->context = pParams->ctx ? pParams->ctx : gpusim_driver()->current();
    c->watcher = (struct gpusim_watcher){.launched = launched, .self = c, .instruments = true};
    c->record_count = 0;
    if (!gpusim_driver()->watch(c->context, &c->watcher))
        return CUPTI_ERROR_INVALID_CONTEXT;
    c->enabled = true;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSassMetricsDisable(CUpti_SassMetricsDisable_Params *pParams)
{
    struct collection *c;
    CUptiResult why;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetricsDisable_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    c = collection_of(pParams->ctx, true, &why);
    if (!c)
        return why;
    (void)gpusim_driver()->synchronize(c->context);
    gpusim_driver()->unwatch(c->context, &c->watcher);
    c->enabled = false;
    pParams->numOfDroppedRecords = c->record_count;
    c->record_count = 0;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiSassMetricsGetDataProperties(CUpti_SassMetricsGetDataProperties_Params *pParams)
{
    struct collection *c;
    CUptiResult why;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetricsGetDataProperties_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    c = collection_of(pParams->ctx, true, &why);
    if (!c)
        return why;
    pthread_mutex_lock(&lock);
    pParams->numOfPatchedInstructionRecords = c->record_count;
    pParams->numOfInstances = c->record_count ? 1 : 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

static void flush_slowly(void)
{
    static atomic_bool done;

    if (gpusim_cupti_fault("slowcode"))
        gpusim_driver()->sleep_ms(150);
    else if (gpusim_cupti_fault("slowflush") && !atomic_exchange(&done, true))
        gpusim_driver()->sleep_ms(300);
}

CUptiResult CUPTIAPI cuptiSassMetricsFlushData(CUpti_SassMetricsFlushData_Params *pParams)
{
    struct collection *c;
    CUptiResult why;

    GPUSIM_MAY_FAIL();
    if (!GPUSIM_SIZE_IS_RIGHT(pParams, CUpti_SassMetricsFlushData_Params))
        return CUPTI_ERROR_INVALID_PARAMETER;
    c = collection_of(pParams->ctx, true, &why);
    if (!c)
        return why;
    if (pParams->numOfPatchedInstructionRecords && !pParams->pMetricsData)
        return CUPTI_ERROR_INVALID_PARAMETER;
    flush_slowly();
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < c->record_count && i < pParams->numOfPatchedInstructionRecords; i++) {
        CUpti_SassMetrics_Data *data = &pParams->pMetricsData[i];
        const struct record *r = &c->records[i];
        data->cubinCrc = (uint32_t)hash(r->function);
        data->functionIndex = 0;
        data->functionName = r->function;
        data->pcOffset = r->offset;
        if (data->pInstanceValues)
            *data->pInstanceValues =
                (CUpti_SassMetrics_InstanceValue){metrics[r->metric].id, r->value};
        c->records[i].value = 0; /* its code stays, and so does the record */
    }
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}
