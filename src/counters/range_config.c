#include "counters/range_config.h"

#include "counters/collector.h"
#include "counters/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool counter_is_instrumented(const char *name)
{
    return strstr(name, "__sass_") != NULL;
}

CUpti_Profiler_Host_Object *gp_range_config_open_host(const char *chip, struct gp_reason *why)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, p);
    p->profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    p->pChipName = chip;
    return GP_CUPTI_FAILED(cuptiProfilerHostInitialize, p, why) ? NULL : p->pHostObject;
}

void gp_range_config_close_host(CUpti_Profiler_Host_Object *host)
{
    if (!host)
        return;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, p);
    p->pHostObject = host;
    gp_cupti.cuptiProfilerHostDeinitialize(p);
}

static CUptiResult add_metrics(CUpti_Profiler_Host_Object *host, const char **names, size_t count)
{
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, p);
    p->pHostObject = host;
    p->ppMetricNames = names;
    p->numMetrics = count;
    return gp_cupti.cuptiProfilerHostConfigAddMetrics(p);
}

/* Why CUPTI refused the name; a list of one, so it is known which it was. */
static struct gp_reason refusal(CUptiResult result, bool alone)
{
    if (result == CUPTI_ERROR_INVALID_PARAMETER || result == CUPTI_ERROR_INVALID_METRIC_NAME)
        return GP_REASON(NO_SUCH_COUNTER);
    if (result == CUPTI_ERROR_NOT_SUPPORTED && !alone)
        return GP_REASON_TEXT(NOT_TOGETHER,
                              "CUPTI does not count it together with the counters named before it: "
                              "NVLink's and PCIe's are asked for by themselves");
    return gp_cupti_error("cuptiProfilerHostConfigAddMetrics", result);
}

/* Which names a chip can count, found part by part. */
struct trial {
    const char *chip;
    const char **taken; /* that it counts together, in their order */
    size_t taken_count;
    struct gp_reason *why;
};

/* Whether CUPTI takes these names too. An object that has refused a name takes no other, so each
 * answer is a new one's. One call for all names takes 2 ms, one for each of 50 takes 110. */
static bool takes(struct trial *t, const char *const *names, size_t count, CUptiResult *result)
{
    CUpti_Profiler_Host_Object *host = gp_range_config_open_host(t->chip, t->why);
    if (!host)
        return false;
    memcpy(t->taken + t->taken_count, names, count * sizeof(*names));
    *result = add_metrics(host, t->taken, t->taken_count + count);
    gp_range_config_close_host(host);
    if (*result == CUPTI_SUCCESS)
        t->taken_count += count;
    return true;
}

/* Halves a part that is refused until it is a single name. */
static bool try_part(struct trial *t, const char *const *names, size_t count,
                     struct gp_reason *unavailable)
{
    CUptiResult result;
    if (!takes(t, names, count, &result))
        return false;
    if (result == CUPTI_SUCCESS)
        return true;
    if (count == 1) {
        *unavailable = refusal(result, t->taken_count == 0);
        return true;
    }
    const size_t half = count / 2;
    return try_part(t, names, half, unavailable) &&
           try_part(t, names + half, count - half, unavailable + half);
}

bool range_config_try(const char *chip, const char *const *names, size_t count,
                      struct gp_reason *unavailable, struct gp_reason *why)
{
    struct trial t = {.chip = chip, .taken = calloc(count + 1, sizeof(*t.taken)), .why = why};
    *why = GP_REASON(NO_MEMORY);
    memset(unavailable, 0, count * sizeof(*unavailable));
    const bool tried = t.taken && (count == 0 || try_part(&t, names, count, unavailable));
    free(t.taken);
    return tried;
}

static void drop(struct gp_range_config *c)
{
    gp_range_config_close_host(c->host);
    free(c->image);
    c->host = NULL;
    c->image = NULL;
}

/* Makes the image of the first `count` counters, and says how many passes it takes. */
static bool make(struct gp_range_config *c, const char *chip, size_t count, unsigned *passes,
                 struct gp_reason *why)
{
    drop(c);
    c->host = gp_range_config_open_host(chip, why);
    if (!c->host || gp_cupti_failed("cuptiProfilerHostConfigAddMetrics",
                                    add_metrics(c->host, c->names, count), why))
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size->pHostObject = c->host;
    if (GP_CUPTI_FAILED(cuptiProfilerHostGetConfigImageSize, size, why))
        return false;
    c->image_size = size->configImageSize;
    c->image = malloc(c->image_size);
    *why = GP_REASON(NO_MEMORY);
    if (!c->image)
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, image);
    image->pHostObject = c->host;
    image->configImageSize = c->image_size;
    image->pConfigImage = c->image;
    if (GP_CUPTI_FAILED(cuptiProfilerHostGetConfigImage, image, why))
        return false;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, number);
    number->configImageSize = c->image_size;
    number->pConfigImage = c->image;
    if (GP_CUPTI_FAILED(cuptiProfilerHostGetNumOfPasses, number, why))
        return false;
    *passes = (unsigned)number->numOfPasses;
    return true;
}

bool gp_range_config_make(struct gp_range_config *c, const char *chip, const char **names,
                          size_t count, size_t hardware, struct gp_reason *why)
{
    *c = (struct gp_range_config){.names = names, .count = count, .hardware = hardware};
    /* The hardware's passes are those that its counters need alone. */
    if (hardware && !make(c, chip, hardware, &c->hardware_passes, why))
        return false;
    c->passes = c->hardware_passes;
    return hardware == count || make(c, chip, count, &c->passes, why);
}

void gp_range_config_free(struct gp_range_config *c)
{
    drop(c);
    *c = (struct gp_range_config){0};
}

bool range_config_evaluate(const struct gp_range_config *c, const uint8_t *data, size_t data_size,
                           size_t range, bool hardware, bool instrumented, double *values,
                           struct gp_reason *why)
{
    size_t first = hardware ? 0 : c->hardware, end = instrumented ? c->count : c->hardware;
    for (size_t i = 0; i < c->count; i++)
        values[i] = NAN;
    GP_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, p);
    p->pHostObject = c->host;
    p->pCounterDataImage = data;
    p->counterDataImageSize = data_size;
    p->rangeIndex = range;
    p->ppMetricNames = c->names + first;
    p->numMetrics = end - first;
    p->pMetricValues = values + first;
    return first == end || !GP_CUPTI_FAILED(cuptiProfilerHostEvaluateToGpuValues, p, why);
}
