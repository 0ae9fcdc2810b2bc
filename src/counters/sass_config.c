/* The list of CUPTI's SASS metrics of each device. CUPTI takes one list for a device, for as long
 * as the process lasts: to unset it and set another was seen to fail. So it is that of the first
 * session. Owns the lists. */
#include "counters/inside.h"

#include <stdlib.h>
#include <string.h>

static struct gp_sass_config configs[GP_MAX_DEVICES];

static bool find_metric(const char *chip, const char *name, uint64_t *id)
{
    GP_CUPTI_PARAMS(CUpti_SassMetrics_GetProperties, p);
    p->pChipName = chip;
    p->pMetricName = name;
    if (gp_cupti.cuptiSassMetricsGetProperties(p) != CUPTI_SUCCESS)
        return false;
    *id = p->metric.metricId;
    return true;
}

bool sass_config_knows(const char *name, void *chip)
{
    uint64_t id;
    return find_metric(chip, name, &id);
}

static bool set_config(const uint64_t *ids, size_t count, uint32_t device, struct gp_reason *why)
{
    CUpti_SassMetrics_Config *list = calloc(count, sizeof(*list));
    *why = GP_REASON(NO_MEMORY);
    if (!list)
        return false;
    for (size_t i = 0; i < count; i++)
        list[i] = (CUpti_SassMetrics_Config){
            .metricId = ids[i], .outputGranularity = CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU};
    GP_CUPTI_PARAMS(CUpti_SassMetricsSetConfig, p);
    p->numOfMetricConfig = count;
    p->pConfigs = list;
    p->deviceIndex = device;
    bool set = !GP_CUPTI_FAILED(cuptiSassMetricsSetConfig, p, why);
    free(list);
    return set;
}

static void free_lists(struct gp_sass_config *c)
{
    free(c->ids);
    free(c->kinds);
    free(c->at_branches);
}

static bool make_lists(struct gp_sass_config *c, const char *chip, const char *const *bases,
                       size_t count, struct gp_reason *why)
{
    *c = (struct gp_sass_config){.ids = calloc(count, sizeof(*c->ids)),
                                 .kinds = calloc(count, sizeof(*c->kinds)),
                                 .at_branches = calloc(count, sizeof(*c->at_branches)),
                                 .count = count};
    *why = GP_REASON(NO_MEMORY);
    bool ok = c->ids && c->kinds && c->at_branches;
    for (size_t i = 0; ok && i < count; i++) {
        ok = find_metric(chip, bases[i], &c->ids[i]);
        *why = GP_REASON_TEXT(CUPTI_FAILED, "CUPTI does not know a metric that it named");
        c->kinds[i] = count_kind_of(bases[i]);
        c->at_branches[i] = strcmp(bases[i], "smsp__sass_inst_executed_op_branch") == 0
                                ? GP_WARPS_AT_BRANCH
                            : strstr(bases[i], "branch") ? GP_OTHERS_AT_BRANCH
                                                         : GP_NOT_AT_BRANCH;
    }
    return ok;
}

static bool is_it(const struct gp_sass_config *c, const struct gp_sass_config *wanted,
                  struct gp_reason *why)
{
    *why = GP_REASON_TEXT(CONTEXT_GONE,
                          "the context is gone that CUPTI's instrumented code was set up in");
    if (!c->context)
        return false;
    *why = GP_REASON_TEXT(NOT_TOGETHER, "instrumented code counts something else in this process");
    return c->count == wanted->count &&
           memcmp(c->ids, wanted->ids, c->count * sizeof(*c->ids)) == 0;
}

const struct gp_sass_config *sass_config_set(const struct gp_device *device,
                                             const char *const *bases, size_t count,
                                             struct gp_reason *why)
{
    *why = GP_REASON_TEXT(NOT_COMPUTED, "instrumented code counts none of the wanted counters");
    if (!count)
        return NULL;
    *why = GP_REASON_TEXT(CUPTI_FAILED, "there are too many GPUs");
    if (device->ordinal < 0 || device->ordinal >= GP_MAX_DEVICES)
        return NULL;
    struct gp_sass_config wanted, *c = &configs[device->ordinal];
    bool made = make_lists(&wanted, device->chip, bases, count, why);
    bool set = made && !c->ids && set_config(wanted.ids, count, (uint32_t)device->ordinal, why);
    if (set) {
        *c = wanted;
        gp_cuda.cuCtxGetCurrent(&c->context);
        return c;
    }
    bool same = made && c->ids && is_it(c, &wanted, why);
    free_lists(&wanted);
    return same ? c : NULL;
}

static void unset(uint32_t device)
{
    GP_CUPTI_PARAMS(CUpti_SassMetricsUnsetConfig, p);
    p->deviceIndex = device;
    gp_cupti.cuptiSassMetricsUnsetConfig(p);
    configs[device].context = NULL;
}

/* A CUPTI that was detached comes back, unless it was given up. */
static bool is_attached(void)
{
    struct gp_reason why;
    return !profiler_is_detached() || (gp_cupti_find(&why) && gp_profiler_initialize(&why));
}

void sass_sessions_leave(CUcontext context, bool at_rest)
{
    for (uint32_t device = 0; device < GP_MAX_DEVICES; device++) {
        if (!configs[device].context || configs[device].context != context)
            continue;
        /* Later it would be memory of a context that is gone. */
        if (at_rest && is_attached())
            unset(device);
        configs[device].context = NULL;
    }
}

/* CUPTI has nothing to end where it has left the driver. */
void sass_sessions_end(void)
{
    for (uint32_t device = 0; device < GP_MAX_DEVICES; device++)
        if (configs[device].context && !profiler_is_detached())
            unset(device);
}
