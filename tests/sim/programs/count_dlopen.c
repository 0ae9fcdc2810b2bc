/* A program that counts its own kernels with CUPTI: a test of the simulated CUPTI, and a
 * program for gpuprof to share a GPU with. It finds driver and CUPTI with dlopen.
 *
 *   count_dlopen range  [snippet options] [metric...]   the range profiler, each kernel a range
 *   count_dlopen user                                   two user ranges
 *   count_dlopen events [event...]                      event groups, on the legacy chip
 *   count_dlopen sass   [metric...]                     counts for each instruction
 *   count_dlopen order                                  calls in the wrong order, and their answers
 *   count_dlopen hold FILE                              a session is left started until FILE is
 * there
 */
#include <math.h>
#include <unistd.h>

#include "programs/snippets.h"

#include <cupti_events.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>

#define FUNCTIONS(X)                                \
    X(cuptiGetResultString)                         \
    X(cuptiProfilerInitialize)                      \
    X(cuptiDeviceGetChipName)                       \
    X(cuptiProfilerHostInitialize)                  \
    X(cuptiProfilerHostDeinitialize)                \
    X(cuptiProfilerHostConfigAddMetrics)            \
    X(cuptiProfilerHostGetConfigImageSize)          \
    X(cuptiProfilerHostGetConfigImage)              \
    X(cuptiProfilerHostGetNumOfPasses)              \
    X(cuptiProfilerHostEvaluateToGpuValues)         \
    X(cuptiRangeProfilerEnable)                     \
    X(cuptiRangeProfilerDisable)                    \
    X(cuptiRangeProfilerSetConfig)                  \
    X(cuptiRangeProfilerStart)                      \
    X(cuptiRangeProfilerStop)                       \
    X(cuptiRangeProfilerPushRange)                  \
    X(cuptiRangeProfilerPopRange)                   \
    X(cuptiRangeProfilerDecodeData)                 \
    X(cuptiRangeProfilerGetCounterDataSize)         \
    X(cuptiRangeProfilerCounterDataImageInitialize) \
    X(cuptiRangeProfilerGetCounterDataInfo)         \
    X(cuptiRangeProfilerCounterDataGetRangeInfo)    \
    X(cuptiEventGetIdFromName)                      \
    X(cuptiSetEventCollectionMode)                  \
    X(cuptiEventGroupSetsCreate)                    \
    X(cuptiEventGroupSetsDestroy)                   \
    X(cuptiEventGroupSetEnable)                     \
    X(cuptiEventGroupSetDisable)                    \
    X(cuptiEventGroupGetAttribute)                  \
    X(cuptiEventGroupSetAttribute)                  \
    X(cuptiEventGroupReadAllEvents)                 \
    X(cuptiEventGetAttribute)                       \
    X(cuptiDeviceGetEventDomainAttribute)           \
    X(cuptiSassMetricsGetProperties)                \
    X(cuptiSassMetricsSetConfig)                    \
    X(cuptiSassMetricsUnsetConfig)                  \
    X(cuptiSassMetricsEnable)                       \
    X(cuptiSassMetricsDisable)                      \
    X(cuptiSassMetricsGetDataProperties)            \
    X(cuptiSassMetricsFlushData)

static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
} cupti;

static void cupti_open(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        printf("no CUPTI: %s\n", dlerror());
        exit(2);
    }
#define X(name)                                         \
    if (!gpu_store(&cupti.name, dlsym(library, #name))) \
        gpu_missing(#name);
    FUNCTIONS(X)
#undef X
}

static const char *result_name(CUptiResult result)
{
    const char *name = "?";

    (void)cupti.cuptiGetResultString(result, &name);
    return name;
}

#define PARAMS(type, name)            \
    type##_Params name;               \
    memset(&(name), 0, sizeof(name)); \
    (name).structSize = type##_Params_STRUCT_SIZE

#define NEED(call)                                                    \
    do {                                                              \
        CUptiResult need_result_ = cupti.call;                        \
        if (need_result_ != CUPTI_SUCCESS) {                          \
            printf("%s from %s\n", result_name(need_result_), #call); \
            exit(3);                                                  \
        }                                                             \
    } while (0)

/* ---- the range profiler ---- */

struct counting {
    CUpti_RangeProfiler_Object *profiler;
    CUpti_Profiler_Host_Object *host;
    const char **names;
    size_t count, passes;
    uint8_t *config, *data;
    size_t config_bytes, data_bytes;
};

static void initialize(void)
{
    PARAMS(CUpti_Profiler_Initialize, p);
    NEED(cuptiProfilerInitialize(&p));
}

static void set_config(struct counting *c, CUpti_ProfilerRange mode, size_t ranges)
{
    PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, image);
    image.pRangeProfilerObject = c->profiler;
    image.counterDataSize = c->data_bytes;
    image.pCounterData = c->data;
    NEED(cuptiRangeProfilerCounterDataImageInitialize(&image));
    PARAMS(CUpti_RangeProfiler_SetConfig, set);
    set.pRangeProfilerObject = c->profiler;
    set.configSize = c->config_bytes;
    set.pConfig = c->config;
    set.counterDataImageSize = c->data_bytes;
    set.pCounterDataImage = c->data;
    set.range = mode;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.targetNestingLevel = 1;
    NEED(cuptiRangeProfilerSetConfig(&set));
}

static void counting_open(struct counting *c, CUpti_ProfilerRange mode, size_t ranges)
{
    PARAMS(CUpti_Device_GetChipName, chip);
    NEED(cuptiDeviceGetChipName(&chip));
    PARAMS(CUpti_Profiler_Host_Initialize, host);
    host.pChipName = chip.pChipName;
    NEED(cuptiProfilerHostInitialize(&host));
    c->host = host.pHostObject;
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
    add.pHostObject = c->host;
    add.ppMetricNames = c->names;
    add.numMetrics = c->count;
    NEED(cuptiProfilerHostConfigAddMetrics(&add));
    PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = c->host;
    NEED(cuptiProfilerHostGetConfigImageSize(&size));
    c->config_bytes = size.configImageSize;
    c->config = host_memory(c->config_bytes);
    PARAMS(CUpti_Profiler_Host_GetConfigImage, config);
    config.pHostObject = c->host;
    config.configImageSize = c->config_bytes;
    config.pConfigImage = c->config;
    NEED(cuptiProfilerHostGetConfigImage(&config));
    PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes);
    passes.configImageSize = c->config_bytes;
    passes.pConfigImage = c->config;
    NEED(cuptiProfilerHostGetNumOfPasses(&passes));
    c->passes = passes.numOfPasses;
    PARAMS(CUpti_RangeProfiler_Enable, enable);
    NEED(cuptiRangeProfilerEnable(&enable));
    c->profiler = enable.pRangeProfilerObject;
    PARAMS(CUpti_RangeProfiler_GetCounterDataSize, data);
    data.pRangeProfilerObject = c->profiler;
    data.pMetricNames = c->names;
    data.numMetrics = c->count;
    data.maxNumOfRanges = ranges;
    data.maxNumRangeTreeNodes = (uint32_t)ranges;
    NEED(cuptiRangeProfilerGetCounterDataSize(&data));
    c->data_bytes = data.counterDataSize;
    c->data = host_memory(c->data_bytes);
    set_config(c, mode, ranges);
}

static void counting_start(struct counting *c)
{
    PARAMS(CUpti_RangeProfiler_Start, p);
    p.pRangeProfilerObject = c->profiler;
    NEED(cuptiRangeProfilerStart(&p));
}

/* Answers whether that was the last pass. */
static bool counting_stop(struct counting *c)
{
    PARAMS(CUpti_RangeProfiler_Stop, p);
    p.pRangeProfilerObject = c->profiler;
    NEED(cuptiRangeProfilerStop(&p));
    return p.isAllPassSubmitted != 0;
}

static void counting_print(struct counting *c)
{
    double *values = host_memory(c->count * sizeof(*values));
    PARAMS(CUpti_RangeProfiler_DecodeData, decode);
    decode.pRangeProfilerObject = c->profiler;
    NEED(cuptiRangeProfilerDecodeData(&decode));
    PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
    info.pCounterDataImage = c->data;
    info.counterDataImageSize = c->data_bytes;
    NEED(cuptiRangeProfilerGetCounterDataInfo(&info));
    for (size_t r = 0; r < info.numTotalRanges; r++) {
        PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, range);
        range.pCounterDataImage = c->data;
        range.counterDataImageSize = c->data_bytes;
        range.rangeIndex = r;
        range.rangeDelimiter = "/";
        NEED(cuptiRangeProfilerCounterDataGetRangeInfo(&range));
        PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate);
        evaluate.pHostObject = c->host;
        evaluate.pCounterDataImage = c->data;
        evaluate.counterDataImageSize = c->data_bytes;
        evaluate.rangeIndex = r;
        evaluate.ppMetricNames = c->names;
        evaluate.numMetrics = c->count;
        evaluate.pMetricValues = values;
        NEED(cuptiProfilerHostEvaluateToGpuValues(&evaluate));
        for (size_t i = 0; i < c->count; i++)
            printf("range %s: %s %.10g\n", range.rangeName, c->names[i], values[i]);
    }
    free(values);
}

static void counting_close(struct counting *c)
{
    PARAMS(CUpti_RangeProfiler_Disable, p);
    p.pRangeProfilerObject = c->profiler;
    NEED(cuptiRangeProfilerDisable(&p));
    PARAMS(CUpti_Profiler_Host_Deinitialize, host);
    host.pHostObject = c->host;
    NEED(cuptiProfilerHostDeinitialize(&host));
    free(c->config);
    free(c->data);
}

/* The kernel that is counted: it may be run again and again with the same result. */
struct subject {
    struct work *work;
    CUdeviceptr a, b, c;
    unsigned n, grid, block;
};

static void subject_open(struct subject *s, struct work *w)
{
    s->work = w;
    s->n = pick(w->options.size, 1 << 14);
    s->block = pick(w->options.block_x, 256);
    s->grid = blocks_for(s->n, s->block);
    s->a = allocate(w, s->n * 4);
    s->b = allocate(w, s->n * 4);
    s->c = allocate(w, s->n * 4);
    MUST(w->gpu->MemsetD32(s->a, 1, s->n));
    MUST(w->gpu->MemsetD32(s->b, 2, s->n));
}

static void subject_run(struct subject *s)
{
    void *params[] = {&s->a, &s->b, &s->c, &s->n};

    launch(s->work, "vector_add", s->grid, 1, s->block, 1, 0, NULL, params);
}

static const char *usual_metrics[] = {
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
};

static void count_ranges(struct work *w, const char **names, size_t count)
{
    struct counting c = {.names = count ? names : usual_metrics,
                         .count = count ? count : sizeof(usual_metrics) / sizeof(*usual_metrics)};
    struct subject s;
    size_t run = 0;
    bool last;

    subject_open(&s, w);
    initialize();
    counting_open(&c, CUPTI_AutoRange, 1);
    printf("passes: %zu\n", c.passes);
    do {
        counting_start(&c);
        subject_run(&s);
        last = counting_stop(&c);
        run++;
    } while (!last);
    expect(run == c.passes, "number of passes");
    counting_print(&c);
    counting_close(&c);
}

static void push_range(struct counting *c, const char *name)
{
    PARAMS(CUpti_RangeProfiler_PushRange, p);
    p.pRangeProfilerObject = c->profiler;
    p.pRangeName = name;
    NEED(cuptiRangeProfilerPushRange(&p));
}

static void pop_range(struct counting *c)
{
    PARAMS(CUpti_RangeProfiler_PopRange, p);
    p.pRangeProfilerObject = c->profiler;
    NEED(cuptiRangeProfilerPopRange(&p));
}

static void count_user_ranges(struct work *w)
{
    struct counting c = {.names = usual_metrics,
                         .count = sizeof(usual_metrics) / sizeof(*usual_metrics)};
    struct subject s;
    bool last;

    subject_open(&s, w);
    initialize();
    counting_open(&c, CUPTI_UserRange, 2);
    do {
        counting_start(&c);
        subject_run(&s); /* in no range */
        push_range(&c, "once");
        subject_run(&s);
        pop_range(&c);
        push_range(&c, "twice");
        subject_run(&s);
        subject_run(&s);
        pop_range(&c);
        last = counting_stop(&c);
    } while (!last);
    counting_print(&c);
    counting_close(&c);
}

/* ---- event groups ---- */

static const char *usual_events[] = {
    "inst_executed",       "thread_inst_executed",     "l1_global_load_hit",
    "l1_global_load_miss", "global_store_transaction", "elapsed_cycles_sm",
    "gld_inst_32bit"};

static uint32_t group_number(CUpti_EventGroup group, CUpti_EventGroupAttribute attribute)
{
    uint32_t value = 0;
    size_t bytes = sizeof(value);

    NEED(cuptiEventGroupGetAttribute(group, attribute, &bytes, &value));
    return value;
}

static void print_group(CUdevice device, CUpti_EventGroup group)
{
    uint32_t count = group_number(group, CUPTI_EVENT_GROUP_ATTR_NUM_EVENTS);
    uint32_t instances = group_number(group, CUPTI_EVENT_GROUP_ATTR_INSTANCE_COUNT);
    CUpti_EventDomainID domain = group_number(group, CUPTI_EVENT_GROUP_ATTR_EVENT_DOMAIN_ID);
    size_t values_bytes = count * instances * sizeof(uint64_t);
    size_t ids_bytes = count * sizeof(CUpti_EventID);
    uint64_t *values = host_memory(values_bytes);
    CUpti_EventID *ids = host_memory(ids_bytes);
    uint32_t total = 0;
    size_t bytes = sizeof(total), read = 0;

    NEED(cuptiDeviceGetEventDomainAttribute(
        device, domain, CUPTI_EVENT_DOMAIN_ATTR_TOTAL_INSTANCE_COUNT, &bytes, &total));
    NEED(cuptiEventGroupReadAllEvents(group, CUPTI_EVENT_READ_FLAG_NONE, &values_bytes, values,
                                      &ids_bytes, ids, &read));
    for (size_t e = 0; e < read; e++) {
        char name[128];
        double sum = 0;
        bytes = sizeof(name);
        NEED(cuptiEventGetAttribute(ids[e], CUPTI_EVENT_ATTR_NAME, &bytes, name));
        for (uint32_t i = 0; i < instances; i++)
            sum += (double)values[i * read + e];
        printf("%s %.10g\n", name, sum * total / instances);
    }
    free(values);
    free(ids);
}

static void count_events(struct work *w, const char **names, size_t count)
{
    CUpti_EventID ids[64];
    CUpti_EventGroupSets *sets;
    CUcontext context;
    CUdevice device;
    struct subject s;
    uint32_t all = 1;

    if (count == 0) {
        names = usual_events;
        count = sizeof(usual_events) / sizeof(*usual_events);
    }
    subject_open(&s, w);
    MUST(w->gpu->DeviceGet(&device, 0));
    MUST(w->gpu->DevicePrimaryCtxRetain(&context, device));
    NEED(cuptiSetEventCollectionMode(context, CUPTI_EVENT_COLLECTION_MODE_KERNEL));
    for (size_t i = 0; i < count && i < 64; i++)
        NEED(cuptiEventGetIdFromName(device, names[i], &ids[i]));
    NEED(cuptiEventGroupSetsCreate(context, count * sizeof(ids[0]), ids, &sets));
    printf("sets: %u\n", sets->numSets);
    for (uint32_t i = 0; i < sets->numSets; i++) {
        CUpti_EventGroupSet *set = &sets->sets[i];
        for (uint32_t g = 0; g < set->numEventGroups; g++)
            NEED(cuptiEventGroupSetAttribute(set->eventGroups[g],
                                             CUPTI_EVENT_GROUP_ATTR_PROFILE_ALL_DOMAIN_INSTANCES,
                                             sizeof(all), &all));
        NEED(cuptiEventGroupSetEnable(set));
        subject_run(&s);
        for (uint32_t g = 0; g < set->numEventGroups; g++)
            print_group(device, set->eventGroups[g]);
        NEED(cuptiEventGroupSetDisable(set));
    }
    NEED(cuptiEventGroupSetsDestroy(sets));
    MUST(w->gpu->DevicePrimaryCtxRelease(device));
}

/* ---- instructions ---- */

static void count_instructions(struct work *w, const char **names, size_t count)
{
    static const char *usual[] = {"smsp__sass_inst_executed", "smsp__sass_sectors_mem_global"};
    CUpti_SassMetrics_Config configs[16];
    const char *of_config[16];
    struct subject s;

    if (count == 0) {
        names = usual;
        count = 2;
    }
    subject_open(&s, w);
    initialize();
    for (size_t i = 0; i < count && i < 16; i++) {
        PARAMS(CUpti_SassMetrics_GetProperties, p);
        p.pChipName = "GH100";
        p.pMetricName = names[i];
        NEED(cuptiSassMetricsGetProperties(&p));
        configs[i] = (CUpti_SassMetrics_Config){p.metric.metricId, 0};
        of_config[i] = names[i];
    }
    PARAMS(CUpti_SassMetricsSetConfig, config);
    config.numOfMetricConfig = count;
    config.pConfigs = configs;
    NEED(cuptiSassMetricsSetConfig(&config));
    PARAMS(CUpti_SassMetricsEnable, enable);
    enable.enableLazyPatching = 1;
    NEED(cuptiSassMetricsEnable(&enable));
    subject_run(&s);
    MUST(w->gpu->CtxSynchronize());
    PARAMS(CUpti_SassMetricsGetDataProperties, data);
    NEED(cuptiSassMetricsGetDataProperties(&data));
    {
        size_t n = data.numOfPatchedInstructionRecords;
        CUpti_SassMetrics_Data *records = host_memory((n + 1) * sizeof(*records));
        CUpti_SassMetrics_InstanceValue *values = host_memory((n + 1) * sizeof(*values));
        PARAMS(CUpti_SassMetricsFlushData, flush);
        for (size_t i = 0; i < n; i++)
            records[i].pInstanceValues = &values[i];
        flush.numOfPatchedInstructionRecords = n;
        flush.numOfInstances = data.numOfInstances;
        flush.pMetricsData = records;
        NEED(cuptiSassMetricsFlushData(&flush));
        for (size_t i = 0; i < n; i++)
            for (size_t m = 0; m < count; m++)
                if (configs[m].metricId == values[i].metricId)
                    printf("%s+%#x: %s %llu\n", records[i].functionName, records[i].pcOffset,
                           of_config[m], (unsigned long long)values[i].value);
        free(records);
        free(values);
    }
    PARAMS(CUpti_SassMetricsDisable, disable);
    NEED(cuptiSassMetricsDisable(&disable));
    PARAMS(CUpti_SassMetricsUnsetConfig, unset);
    NEED(cuptiSassMetricsUnsetConfig(&unset));
}

/* ---- calls in the wrong order ---- */

#define SHOW(call) printf("%s: %s\n", #call, result_name(cupti.call))

static void wrong_order(struct work *w)
{
    struct counting c = {.names = usual_metrics, .count = 4};
    const char *nonsense = "smsp__nonsense.sum";
    struct subject s;
    CUpti_EventID event;

    subject_open(&s, w);
    PARAMS(CUpti_Device_GetChipName, chip);
    SHOW(cuptiDeviceGetChipName(&chip));
    printf("chip: %s\n", chip.pChipName ? chip.pChipName : "none");
    SHOW(cuptiEventGetIdFromName(0, "inst_executed", &event));
    initialize();
    PARAMS(CUpti_Profiler_Host_Initialize, host);
    host.pChipName = "GX999";
    SHOW(cuptiProfilerHostInitialize(&host));
    host.pChipName = "GH100";
    host.structSize = 8;
    SHOW(cuptiProfilerHostInitialize(&host));
    host.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
    SHOW(cuptiProfilerHostInitialize(&host));
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
    add.pHostObject = host.pHostObject;
    add.ppMetricNames = &nonsense;
    add.numMetrics = 1;
    SHOW(cuptiProfilerHostConfigAddMetrics(&add));
    PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
    size.pHostObject = host.pHostObject;
    SHOW(cuptiProfilerHostGetConfigImageSize(&size));
    PARAMS(CUpti_Profiler_Host_Deinitialize, deinitialize);
    deinitialize.pHostObject = host.pHostObject;
    SHOW(cuptiProfilerHostDeinitialize(&deinitialize));

    counting_open(&c, CUPTI_AutoRange, 1);
    PARAMS(CUpti_RangeProfiler_Stop, stop);
    stop.pRangeProfilerObject = c.profiler;
    SHOW(cuptiRangeProfilerStop(&stop));
    PARAMS(CUpti_RangeProfiler_DecodeData, decode);
    decode.pRangeProfilerObject = c.profiler;
    SHOW(cuptiRangeProfilerDecodeData(&decode));
    /* Pass 0 alone leaves the rest not a number; the next launch goes on with pass 1. */
    counting_start(&c);
    counting_start(&c);
    subject_run(&s);
    subject_run(&s); /* one range is all there is room for: this one is not seen */
    printf("last pass: %d\n", counting_stop(&c));
    counting_print(&c);
    set_config(&c, CUPTI_AutoRange, 1);
    counting_start(&c);
    subject_run(&s);
    printf("last pass: %d\n", counting_stop(&c));
    counting_print(&c);
    counting_start(&c);
    counting_close(&c);
}

static void hold_session(const char *until)
{
    struct counting c = {.names = usual_metrics, .count = 4};

    initialize();
    counting_open(&c, CUPTI_AutoRange, 1);
    counting_start(&c);
    printf("holding\n");
    (void)fflush(stdout);
    for (int i = 0; i < 60000 && access(until, F_OK) != 0; i++)
        (void)usleep(10000);
    (void)counting_stop(&c);
    counting_close(&c);
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    const char *what = argc > 1 ? argv[1] : "range";
    int first;

    if (argc > 1) {
        argv[1] = argv[0];
        argc--;
        argv++;
    }
    first = snippets_options(argc, argv, &w.options);
    gpu_from_dlsym(&gpu);
    cupti_open();
    snippets_open(&w);
    if (strcmp(what, "range") == 0)
        count_ranges(&w, (const char **)(void *)&argv[first], (size_t)(argc - first));
    else if (strcmp(what, "user") == 0)
        count_user_ranges(&w);
    else if (strcmp(what, "events") == 0)
        count_events(&w, (const char **)(void *)&argv[first], (size_t)(argc - first));
    else if (strcmp(what, "sass") == 0)
        count_instructions(&w, (const char **)(void *)&argv[first], (size_t)(argc - first));
    else if (strcmp(what, "order") == 0)
        wrong_order(&w);
    else if (strcmp(what, "hold") == 0 && first < argc)
        hold_session(argv[first]);
    else {
        printf("unknown: %s\n", what);
        return 64;
    }
    snippets_close(&w);
    return 0;
}
