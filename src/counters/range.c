/* Counters through CUPTI's Range Profiler.
 *
 * One configuration holds all counters; CUPTI divides it into passes, those of the hardware's
 * counters first and those of instrumented code ("sass" in their names) last. A Range Profiler
 * object takes one list of counters for good: images made for another list fail on it, so there is
 * one collection to a context.
 *
 * Every kernel is a range of its own (auto ranges), replayed by us (user replay). With user ranges
 * the duration would include 4 to 10 us of pushing and popping; that of an auto range is the one
 * ncu shows. */
#include "counters/collector.h"

#include "cuda/cupti.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gp_collection {
    CUpti_RangeProfiler_Object *profiler;
    CUpti_Profiler_Host_Object *host;
    uint8_t *config, *data;
    size_t config_size, data_size;
    unsigned passes, hardware_passes;
    unsigned passes_run; /* of the launch at hand */

    struct gp_counter *counters; /* what read answers: `count` of them, in the order of open */
    const char **unavailable;    /* why this chip cannot count one, NULL if it can */
    size_t count;

    const char **names; /* those the chip can count: `used` of them, the hardware's first */
    size_t *places;     /* where each stands among `counters` */
    double *values;
    size_t used, hardware_used;
};

/* Before any other call: even the chip's name is a null pointer to CUPTI until then. */
static bool initialize(const char **why)
{
    /* Before any other call: even the chip's name is a null pointer to CUPTI until then. */
    static bool initialized; /* guarded by the gate, as everything here */
    if (initialized)
        return true;
    GP_CUPTI_PARAMS(CUpti_Profiler_Initialize, p);
    initialized = !GP_CUPTI_FAILED(cuptiProfilerInitialize, &p, why);
    return initialized;
}

void gp_collector_describe(struct gp_device *device)
{
    const char *why;
    device->chip[0] = '\0';
    device->cupti_version = gp_cupti_find(&why) ? gp_cupti_version() : 0;
    GP_CUPTI_PARAMS(CUpti_Device_GetChipName, p);
    p.deviceIndex = (size_t)device->ordinal;
    if (device->cupti_version && gp_cupti_has_ranges() && initialize(&why) &&
        gp_cupti.cuptiDeviceGetChipName(&p) == CUPTI_SUCCESS && p.pChipName)
        strncat(device->chip, p.pChipName, sizeof(device->chip) - 1);
}

static bool range_suits(const struct gp_device *device)
{
    return device->cc_major >= 7;
}

/* ---- configuration --------------------------------------------------------------------------- */

static CUpti_Profiler_Host_Object *open_host(const char *chip, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, p);
    p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    p.pChipName = chip;
    return GP_CUPTI_FAILED(cuptiProfilerHostInitialize, &p, why) ? NULL : p.pHostObject;
}

static void close_host(CUpti_Profiler_Host_Object *host)
{
    if (!host)
        return;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, p);
    p.pHostObject = host;
    gp_cupti.cuptiProfilerHostDeinitialize(&p);
}

static CUptiResult add_metrics(CUpti_Profiler_Host_Object *host, const char **names, size_t count)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, p);
    p.pHostObject = host;
    p.ppMetricNames = names;
    p.numMetrics = count;
    return gp_cupti.cuptiProfilerHostConfigAddMetrics(&p);
}

static bool is_instrumented(const char *name)
{
    return strstr(name, "__sass_") != NULL;
}

static void use(struct gp_collection *c, size_t place)
{
    c->names[c->used] = c->counters[place].name;
    c->places[c->used] = place;
    c->used++;
}

/* CUPTI refuses a whole list for one bad name and does not say which, so each name is first tried
 * alone, on an object that is thrown away. */
static bool try_counters(struct gp_collection *c, const char *chip, const char **why)
{
    CUpti_Profiler_Host_Object *trial = open_host(chip, why);
    if (!trial)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        CUptiResult result = add_metrics(trial, &c->counters[i].name, 1);
        if (result == CUPTI_ERROR_INVALID_PARAMETER || result == CUPTI_ERROR_INVALID_METRIC_NAME)
            c->unavailable[i] = "this GPU has no such counter";
        else if (result != CUPTI_SUCCESS)
            c->unavailable[i] = gp_cupti_error("cuptiProfilerHostConfigAddMetrics", result);
    }
    close_host(trial);
    for (int instrumented = 0; instrumented < 2; instrumented++) {
        for (size_t i = 0; i < c->count; i++)
            if (!c->unavailable[i] && is_instrumented(c->counters[i].name) == instrumented)
                use(c, i);
        if (!instrumented)
            c->hardware_used = c->used;
    }
    return true;
}

/* Makes a configuration of the first `count` counters, and says how many passes it takes. */
static bool make_config(struct gp_collection *c, const char *chip, size_t count, unsigned *passes,
                        const char **why)
{
    close_host(c->host);
    free(c->config);
    c->config = NULL;
    c->host = open_host(chip, why);
    if (!c->host || gp_cupti_failed("cuptiProfilerHostConfigAddMetrics",
                                    add_metrics(c->host, c->names, count), why))
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = c->host;
    if (GP_CUPTI_FAILED(cuptiProfilerHostGetConfigImageSize, &size, why))
        return false;
    c->config_size = size.configImageSize;
    c->config = malloc(c->config_size);
    *why = "memory ran out";
    if (!c->config)
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, image);
    image.pHostObject = c->host;
    image.configImageSize = c->config_size;
    image.pConfigImage = c->config;
    if (GP_CUPTI_FAILED(cuptiProfilerHostGetConfigImage, &image, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, number);
    number.configImageSize = c->config_size;
    number.pConfigImage = c->config;
    if (GP_CUPTI_FAILED(cuptiProfilerHostGetNumOfPasses, &number, why))
        return false;
    *passes = (unsigned)number.numOfPasses;
    return true;
}

static bool make_configs(struct gp_collection *c, const char *chip, const char **why)
{
    if (c->hardware_used && c->hardware_used < c->used &&
        !make_config(c, chip, c->hardware_used, &c->hardware_passes, why))
        return false;
    return !c->used || make_config(c, chip, c->used, &c->passes, why);
}

/* Room for the counts of one range. */
static bool make_data_image(struct gp_collection *c, const char **why)
{
    if (!c->used)
        return true;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, p);
    p.pRangeProfilerObject = c->profiler;
    p.pMetricNames = c->names;
    p.numMetrics = c->used;
    p.maxNumOfRanges = 1;
    p.maxNumRangeTreeNodes = 1;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerGetCounterDataSize, &p, why))
        return false;
    c->data_size = p.counterDataSize;
    c->data = calloc(1, c->data_size);
    *why = "memory ran out";
    return c->data != NULL;
}

static bool enable(struct gp_collection *c, CUcontext context, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, p);
    p.ctx = context;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerEnable, &p, why))
        return false;
    c->profiler = p.pRangeProfilerObject;
    return true;
}

static void range_close(struct gp_collection *c, bool context_alive)
{
    if (c->profiler && context_alive) {
        GP_CUPTI_PARAMS(CUpti_RangeProfiler_Disable, p);
        p.pRangeProfilerObject = c->profiler;
        gp_cupti.cuptiRangeProfilerDisable(&p);
    }
    close_host(c->host);
    free(c->config);
    free(c->data);
    free(c->counters);
    free(c->unavailable);
    free(c->names);
    free(c->places);
    free(c->values);
    free(c);
}

static struct gp_collection *allocate(const char *const *names, size_t count)
{
    struct gp_collection *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->count = count;
    c->counters = calloc(count + 1, sizeof(*c->counters));
    c->unavailable = calloc(count + 1, sizeof(*c->unavailable));
    c->names = calloc(count + 1, sizeof(*c->names));
    c->places = calloc(count + 1, sizeof(*c->places));
    c->values = calloc(count + 1, sizeof(*c->values));
    if (!c->counters || !c->unavailable || !c->names || !c->places || !c->values) {
        range_close(c, false);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        c->counters[i].name = names[i];
    return c;
}

static struct gp_collection *range_open(CUcontext context, const struct gp_device *device,
                                        const char *const *names, size_t count, const char **why)
{
    if (!gp_cupti_find(why))
        return NULL;
    *why = "this CUPTI is too old for the GPU; that of CUDA 12.6 or later is needed";
    if (!gp_cupti_has_ranges() || !initialize(why))
        return NULL;
    *why = "CUPTI does not name this GPU's chip";
    if (!device->chip[0])
        return NULL;
    struct gp_collection *c = allocate(names, count);
    *why = "memory ran out";
    if (!c)
        return NULL;
    if (try_counters(c, device->chip, why) && enable(c, context, why) &&
        make_configs(c, device->chip, why) && make_data_image(c, why))
        return c;
    range_close(c, true);
    return NULL;
}

static unsigned range_passes(const struct gp_collection *c)
{
    return c->passes;
}

static size_t range_count(const struct gp_collection *c)
{
    return c->count;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* Empties the data image and starts again with the first pass. */
static bool new_launch(struct gp_collection *c, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, image);
    image.pRangeProfilerObject = c->profiler;
    image.counterDataSize = c->data_size;
    image.pCounterData = c->data;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerCounterDataImageInitialize, &image, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, p);
    p.pRangeProfilerObject = c->profiler;
    p.configSize = c->config_size;
    p.pConfig = c->config;
    p.counterDataImageSize = c->data_size;
    p.pCounterDataImage = c->data;
    p.range = CUPTI_AutoRange;
    p.replayMode = CUPTI_UserReplay;
    p.maxRangesPerPass = 1;
    p.numNestingLevels = 1;
    p.minNestingLevel = 1;
    p.targetNestingLevel = 1;
    return !GP_CUPTI_FAILED(cuptiRangeProfilerSetConfig, &p, why);
}

static bool range_begin(struct gp_collection *c, unsigned pass, const char **why)
{
    if (pass == 0 && !new_launch(c, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Start, p);
    p.pRangeProfilerObject = c->profiler;
    return !GP_CUPTI_FAILED(cuptiRangeProfilerStart, &p, why);
}

static bool range_end(struct gp_collection *c, unsigned pass, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, p);
    p.pRangeProfilerObject = c->profiler;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerStop, &p, why))
        return false;
    c->passes_run = pass + 1;
    return true;
}

/* Submits the passes that the last launch did not make, empty: CUPTI goes on where it is, not with
 * pass 0, whatever the configuration says. */
static void range_reset(struct gp_collection *c)
{
    const char *why;
    bool ok = true;
    for (unsigned pass = c->passes_run; ok && pass > 0 && pass < c->passes; pass++)
        ok = range_begin(c, pass, &why) && range_end(c, pass, &why);
    c->passes_run = 0;
}

/* The first `used` values of the launch. */
static bool evaluate(struct gp_collection *c, size_t used, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, p);
    p.pRangeProfilerObject = c->profiler;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerDecodeData, &p, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = c->data;
    info.counterDataImageSize = c->data_size;
    if (GP_CUPTI_FAILED(cuptiRangeProfilerGetCounterDataInfo, &info, why))
        return false;
    *why = info.numTotalRanges ? "the launch ran as several kernels" : "CUPTI counted no kernel";
    if (info.numTotalRanges != 1 || p.numOfRangeDropped)
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, values);
    values.pHostObject = c->host;
    values.pCounterDataImage = c->data;
    values.counterDataImageSize = c->data_size;
    values.rangeIndex = 0;
    values.ppMetricNames = c->names;
    values.numMetrics = used;
    values.pMetricValues = c->values;
    return !GP_CUPTI_FAILED(cuptiProfilerHostEvaluateToGpuValues, &values, why);
}

static const struct gp_counter *range_read(struct gp_collection *c, const char *not_run)
{
    size_t ready = 0;
    const char *why = not_run;
    if (c->passes_run && c->passes_run == c->passes)
        ready = c->used;
    else if (c->hardware_passes && c->passes_run >= c->hardware_passes)
        ready = c->hardware_used;
    if (ready && !evaluate(c, ready, &why)) {
        ready = 0;
        not_run = why;
    }
    for (size_t i = 0; i < c->count; i++) {
        c->counters[i].value = NAN;
        c->counters[i].absent = c->unavailable[i] ? c->unavailable[i] : not_run;
    }
    for (size_t i = 0; i < ready; i++) {
        struct gp_counter *counter = &c->counters[c->places[i]];
        counter->value = c->values[i];
        counter->absent = isfinite(c->values[i]) ? NULL : "the GPU counted nothing to divide by";
    }
    return c->counters;
}

const struct gp_collector gp_range_collector = {
    .name = "range profiler",
    .suits = range_suits,
    .open = range_open,
    .passes = range_passes,
    .reset = range_reset,
    .begin = range_begin,
    .end = range_end,
    .count = range_count,
    .read = range_read,
    .close = range_close,
};
