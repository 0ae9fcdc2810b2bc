/*
 * tool_linked CUPTI STEP...: a program with a tool in it, which uses the libcupti of that path, or
 * with "linked" the one that the linker has found. Steps: launch, launches (4000), subscribe,
 * listen, unsubscribe, record, stop (recording), count and uncount (the profilers), finalize, and
 * show, which prints how many kernels the tool has seen since. Each answer other than 0 is printed.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_profiler_target.h>

#define FUNCTIONS(X)                  \
    X(cuptiSubscribe)                 \
    X(cuptiUnsubscribe)               \
    X(cuptiEnableDomain)              \
    X(cuptiActivityRegisterCallbacks) \
    X(cuptiActivityEnable)            \
    X(cuptiActivityDisable)           \
    X(cuptiActivityFlushAll)          \
    X(cuptiActivityGetNextRecord)     \
    X(cuptiProfilerInitialize)        \
    X(cuptiProfilerDeInitialize)      \
    X(cuptiFinalize)

static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
} cupti;

static CUpti_SubscriberHandle subscriber;
static unsigned kernels;
static uint8_t room[4096] __attribute__((aligned(8)));

static void find_cupti(const char *path)
{
    if (strcmp(path, "linked") == 0) {
#define X(name) cupti.name = name;
        FUNCTIONS(X)
#undef X
        return;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        puts(dlerror());
        exit(2);
    }
#define X(name)                                         \
    if (!gpu_store(&cupti.name, dlsym(library, #name))) \
        gpu_missing(#name);
    FUNCTIONS(X)
#undef X
}

static void CUPTIAPI hear(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void *call)
{
    (void)data;
    (void)domain;
    (void)id;
    (void)call;
}

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = room;
    *size = sizeof(room);
    *most = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid)
{
    CUpti_Activity *record = NULL;

    (void)context;
    (void)stream;
    (void)size;
    while (cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

static CUptiResult record(void)
{
    CUptiResult result = cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer);

    return result ? result : cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static CUptiResult show(void)
{
    CUptiResult result = cupti.cuptiActivityFlushAll(1);

    printf("the tool saw %u kernels\n", kernels);
    kernels = 0;
    return result;
}

static void launch_often(struct work *work)
{
    unsigned n = 1024;
    float factor = 0.5f;
    CUdeviceptr p = allocate(work, n * sizeof(float));
    void *params[] = {&p, &n, &factor};

    for (int i = 0; i < 4000; i++)
        launch(work, "scale_in_place", 8, 1, 128, 1, 0, NULL, params);
    MUST(cuCtxSynchronize());
}

static CUptiResult take_step(struct work *work, const char *step)
{
    CUpti_Profiler_Initialize_Params begin = {.structSize =
                                                  CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUpti_Profiler_DeInitialize_Params end = {.structSize =
                                                  CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE};

    if (strcmp(step, "launch") == 0)
        run_snippet(work, "vector_add");
    else if (strcmp(step, "launches") == 0)
        launch_often(work);
    else if (strcmp(step, "subscribe") == 0)
        return cupti.cuptiSubscribe(&subscriber, hear, NULL);
    else if (strcmp(step, "listen") == 0)
        return cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
    else if (strcmp(step, "unsubscribe") == 0)
        return cupti.cuptiUnsubscribe(subscriber);
    else if (strcmp(step, "record") == 0)
        return record();
    else if (strcmp(step, "stop") == 0)
        return cupti.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    else if (strcmp(step, "count") == 0)
        return cupti.cuptiProfilerInitialize(&begin);
    else if (strcmp(step, "uncount") == 0)
        return cupti.cuptiProfilerDeInitialize(&end);
    else if (strcmp(step, "finalize") == 0)
        return cupti.cuptiFinalize();
    else if (strcmp(step, "show") == 0)
        return show();
    return CUPTI_SUCCESS;
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    struct work work = {.gpu = &gpu};

    if (argc < 3)
        return 2;
    find_cupti(argv[1]);
    gpu_from_linker(&gpu);
    snippets_open(&work);
    for (int i = 2; i < argc; i++) {
        CUptiResult result = take_step(&work, argv[i]);
        if (result != CUPTI_SUCCESS)
            printf("%s: %d\n", argv[i], (int)result);
    }
    snippets_close(&work);
    return 0;
}
