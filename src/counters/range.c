/* Counters through CUPTI's Range Profiler.
 *
 * Counters of the hardware and counters of instrumented code ("sass" in their names) are two groups,
 * each with a configuration and a counter data image of its own: CUPTI never counts both in one pass,
 * and a group whose passes have all run is readable though the other's have not.
 *
 * Every kernel is a range of its own (auto ranges), replayed by us (user replay). With user ranges the
 * duration would include 4 to 10 us of pushing and popping; that of an auto range is the one ncu
 * shows. */
#include "counters/collector.h"

#include "cuda/cupti.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct group {
    const char **names; /* the counters of this group that the chip has */
    size_t *places;     /* where each stands among the collection's counters */
    double *values;
    size_t count;
    CUpti_Profiler_Host_Object *host;
    uint8_t *config, *data;
    size_t config_size, data_size;
    unsigned passes;
};

enum { HARDWARE, INSTRUMENTED, GROUPS };

struct gp_collection {
    CUpti_RangeProfiler_Object *profiler;
    struct group group[GROUPS];
    struct gp_counter *counters;
    const char **unavailable; /* per counter: why this chip cannot count it, NULL if it can */
    size_t count;
    bool complete[GROUPS]; /* all passes of the group ran for this launch */
};

static bool failed(CUptiResult result, const char **why)
{
    if (result == CUPTI_SUCCESS)
        return false;
    *why = gp_cupti_error(result);
    return true;
}

void gp_collector_name_chip(struct gp_device *device)
{
    const char *why;
    GP_CUPTI_PARAMS(CUpti_Device_GetChipName, p);
    p.deviceIndex = (size_t)device->ordinal;
    device->chip[0] = '\0';
    if (gp_cupti_find(&why) && gp_cupti.cuptiDeviceGetChipName(&p) == CUPTI_SUCCESS && p.pChipName)
        strncat(device->chip, p.pChipName, sizeof(device->chip) - 1);
    device->cupti_version = gp_cupti_version();
}

/* ---- configuration --------------------------------------------------------------------------- */

static CUpti_Profiler_Host_Object *open_host(const char *chip, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, p);
    p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    p.pChipName = chip;
    return failed(gp_cupti.cuptiProfilerHostInitialize(&p), why) ? NULL : p.pHostObject;
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

/* Sorts the counters into groups. CUPTI refuses a whole list for one bad name and does not say which,
 * so each name is first tried alone, on an object that is thrown away. */
static bool sort_counters(struct gp_collection *c, const char *chip, const char **why)
{
    CUpti_Profiler_Host_Object *trial = open_host(chip, why);
    if (!trial)
        return false;
    for (size_t i = 0; i < c->count; i++) {
        const char *name = c->counters[i].name;
        CUptiResult result = add_metrics(trial, &name, 1);
        if (result != CUPTI_SUCCESS) {
            c->unavailable[i] = result == CUPTI_ERROR_INVALID_PARAMETER ||
                                        result == CUPTI_ERROR_INVALID_METRIC_NAME
                                    ? "this GPU has no such counter"
                                    : gp_cupti_error(result);
            continue;
        }
        struct group *g = &c->group[is_instrumented(name) ? INSTRUMENTED : HARDWARE];
        g->names[g->count] = name;
        g->places[g->count] = i;
        g->count++;
    }
    close_host(trial);
    return true;
}

static bool make_config(struct group *g, const char *chip, const char **why)
{
    g->host = open_host(chip, why);
    if (!g->host || failed(add_metrics(g->host, g->names, g->count), why))
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = g->host;
    if (failed(gp_cupti.cuptiProfilerHostGetConfigImageSize(&size), why))
        return false;
    g->config_size = size.configImageSize;
    g->config = malloc(g->config_size);
    *why = "memory ran out";
    if (!g->config)
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, image);
    image.pHostObject = g->host;
    image.configImageSize = g->config_size;
    image.pConfigImage = g->config;
    if (failed(gp_cupti.cuptiProfilerHostGetConfigImage(&image), why))
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes);
    passes.configImageSize = g->config_size;
    passes.pConfigImage = g->config;
    if (failed(gp_cupti.cuptiProfilerHostGetNumOfPasses(&passes), why))
        return false;
    g->passes = (unsigned)passes.numOfPasses;
    return true;
}

/* Room for the counts of one range. */
static bool make_data_image(struct gp_collection *c, struct group *g, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, p);
    p.pRangeProfilerObject = c->profiler;
    p.pMetricNames = g->names;
    p.numMetrics = g->count;
    p.maxNumOfRanges = 1;
    p.maxNumRangeTreeNodes = 1;
    if (failed(gp_cupti.cuptiRangeProfilerGetCounterDataSize(&p), why))
        return false;
    g->data_size = p.counterDataSize;
    g->data = malloc(g->data_size);
    *why = "memory ran out";
    return g->data != NULL;
}

static bool initialize(const char **why)
{
    static bool initialized; /* guarded by the gate, as everything here */
    if (initialized)
        return true;
    GP_CUPTI_PARAMS(CUpti_Profiler_Initialize, p);
    initialized = !failed(gp_cupti.cuptiProfilerInitialize(&p), why);
    return initialized;
}

static bool enable(struct gp_collection *c, CUcontext context, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Enable, p);
    p.ctx = context;
    if (failed(gp_cupti.cuptiRangeProfilerEnable(&p), why))
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
    for (int i = 0; i < GROUPS; i++) {
        struct group *g = &c->group[i];
        close_host(g->host);
        free(g->names);
        free(g->places);
        free(g->values);
        free(g->config);
        free(g->data);
    }
    free(c->counters);
    free(c->unavailable);
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
    bool ok = c->counters && c->unavailable;
    for (int i = 0; i < GROUPS; i++) {
        struct group *g = &c->group[i];
        g->names = calloc(count + 1, sizeof(*g->names));
        g->places = calloc(count + 1, sizeof(*g->places));
        g->values = calloc(count + 1, sizeof(*g->values));
        ok = ok && g->names && g->places && g->values;
    }
    if (!ok) {
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
    if (!gp_cupti_find(why) || !initialize(why))
        return NULL;
    *why = "CUPTI does not name this GPU's chip";
    if (!device->chip[0])
        return NULL;
    struct gp_collection *c = allocate(names, count);
    *why = "memory ran out";
    if (!c)
        return NULL;
    bool ok = sort_counters(c, device->chip, why) && enable(c, context, why);
    for (int i = 0; ok && i < GROUPS; i++)
        if (c->group[i].count)
            ok = make_config(&c->group[i], device->chip, why) &&
                 make_data_image(c, &c->group[i], why);
    if (ok)
        return c;
    range_close(c, true);
    return NULL;
}

static unsigned range_passes(const struct gp_collection *c)
{
    return c->group[HARDWARE].passes + c->group[INSTRUMENTED].passes;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The group that a pass belongs to; *pass becomes the number within it. */
static struct group *group_of(struct gp_collection *c, unsigned *pass)
{
    if (*pass < c->group[HARDWARE].passes)
        return &c->group[HARDWARE];
    *pass -= c->group[HARDWARE].passes;
    return &c->group[INSTRUMENTED];
}

/* Empties the group's data image and makes it and the group's configuration the current ones. */
static bool set_config(struct gp_collection *c, struct group *g, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, image);
    image.pRangeProfilerObject = c->profiler;
    image.counterDataSize = g->data_size;
    image.pCounterData = g->data;
    if (failed(gp_cupti.cuptiRangeProfilerCounterDataImageInitialize(&image), why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, p);
    p.pRangeProfilerObject = c->profiler;
    p.configSize = g->config_size;
    p.pConfig = g->config;
    p.counterDataImageSize = g->data_size;
    p.pCounterDataImage = g->data;
    p.range = CUPTI_AutoRange;
    p.replayMode = CUPTI_UserReplay;
    p.maxRangesPerPass = 1;
    p.numNestingLevels = 1;
    p.minNestingLevel = 1;
    p.targetNestingLevel = 1;
    return !failed(gp_cupti.cuptiRangeProfilerSetConfig(&p), why);
}

static bool range_begin(struct gp_collection *c, unsigned pass, const char **why)
{
    if (pass == 0)
        memset(c->complete, 0, sizeof(c->complete));
    struct group *g = group_of(c, &pass);
    if (pass == 0 && !set_config(c, g, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Start, p);
    p.pRangeProfilerObject = c->profiler;
    return !failed(gp_cupti.cuptiRangeProfilerStart(&p), why);
}

static bool decode(struct gp_collection *c, struct group *g, const char **why)
{
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, p);
    p.pRangeProfilerObject = c->profiler;
    if (failed(gp_cupti.cuptiRangeProfilerDecodeData(&p), why))
        return false;
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = g->data;
    info.counterDataImageSize = g->data_size;
    if (failed(gp_cupti.cuptiRangeProfilerGetCounterDataInfo(&info), why))
        return false;
    *why = info.numTotalRanges ? "the launch ran as several kernels" : "CUPTI counted no kernel";
    if (info.numTotalRanges != 1 || p.numOfRangeDropped)
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, values);
    values.pHostObject = g->host;
    values.pCounterDataImage = g->data;
    values.counterDataImageSize = g->data_size;
    values.rangeIndex = 0;
    values.ppMetricNames = g->names;
    values.numMetrics = g->count;
    values.pMetricValues = g->values;
    return !failed(gp_cupti.cuptiProfilerHostEvaluateToGpuValues(&values), why);
}

static bool range_end(struct gp_collection *c, unsigned pass, const char **why)
{
    struct group *g = group_of(c, &pass);
    GP_CUPTI_PARAMS(CUpti_RangeProfiler_Stop, p);
    p.pRangeProfilerObject = c->profiler;
    if (failed(gp_cupti.cuptiRangeProfilerStop(&p), why))
        return false;
    if (pass + 1 < g->passes)
        return true;
    if (!decode(c, g, why))
        return false;
    c->complete[g - c->group] = true;
    return true;
}

static size_t range_count(const struct gp_collection *c)
{
    return c->count;
}

static const struct gp_counter *range_read(struct gp_collection *c, const char *not_run)
{
    for (size_t i = 0; i < c->count; i++) {
        c->counters[i].value = NAN;
        c->counters[i].absent = c->unavailable[i] ? c->unavailable[i] : not_run;
    }
    for (int i = 0; i < GROUPS; i++) {
        const struct group *g = &c->group[i];
        for (size_t k = 0; c->complete[i] && k < g->count; k++) {
            struct gp_counter *counter = &c->counters[g->places[k]];
            counter->value = g->values[k];
            counter->absent = isfinite(g->values[k]) ? NULL : "the GPU counted nothing to divide by";
        }
    }
    return c->counters;
}

const struct gp_collector gp_range_collector = {
    .name = "range profiler",
    .open = range_open,
    .passes = range_passes,
    .begin = range_begin,
    .end = range_end,
    .count = range_count,
    .read = range_read,
    .close = range_close,
};
