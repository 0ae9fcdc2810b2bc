/*
 * threads_linked [shared|own|default|captures] [N]: N threads (4) launch at the same time, each in
 * a stream of its own on the context they share, each in a context of its own, or all in stream 0.
 * "captures": as "shared", and the main thread, which has made a launch before, captures one over
 * and over meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "programs/linked.h"
#include "programs/snippets.h"

#define MAX_THREADS 32
#define ROUNDS 5
#define ROUNDS_BESIDE_CAPTURES 100

struct worker {
    pthread_t thread;
    struct work work;
    CUcontext context;
    unsigned number;
    bool own_context, own_stream;
    int rounds;
    uint32_t digest;
};

static atomic_uint running; /* workers */

static void nothing(void *unused)
{
    (void)unused;
}

static void *run_worker(void *argument)
{
    struct worker *me = argument;
    const struct gpu *gpu = me->work.gpu;
    unsigned n = 1024 + 128 * me->number;
    float factor = 2.0f, expected = 0;
    float *seen = host_memory(n * 4);
    CUstream stream = NULL;
    CUdeviceptr p;
    void *params[] = {&p, &n, &factor};

    if (me->own_context) {
        size_t bytes;
        void *image = snippets_image(&bytes);
        CUdevice device;
        MUST(gpu->DeviceGet(&device, 0));
        MUST(gpu->CtxCreate(&me->context, 0, device));
        MUST(gpu->ModuleLoadData(&me->work.module, image));
        free(image);
    } else {
        MUST(gpu->CtxSetCurrent(me->context));
    }
    if (me->own_stream)
        MUST(gpu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    p = allocate(&me->work, n * 4);
    MUST(gpu->MemsetD32Async(p, 0, n, stream));
    for (int round = 0; round < me->rounds; round++) {
        launch(&me->work, "scale_in_place", blocks_for(n, 128), 1, 128, 1, 0, stream, params);
        expected = expected * factor + 1;
        if (me->rounds > ROUNDS) { /* work that may hold the stream up, and a wait for it */
            MUST(cuLaunchHostFunc(stream, nothing, NULL));
            MUST(gpu->StreamSynchronize(stream));
        }
    }
    MUST(gpu->MemcpyDtoHAsync(seen, p, n * 4, stream));
    MUST(gpu->StreamSynchronize(stream));
    for (unsigned i = 0; i < n; i++)
        expect(seen[i] == expected, "threads");
    me->digest = digest(seen, n * 4);
    MUST(gpu->MemFree(p));
    if (me->own_stream)
        MUST(gpu->StreamDestroy(stream));
    if (me->own_context)
        MUST(gpu->CtxDestroy(me->context));
    free(seen);
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void launch_on_nothing(struct work *w, CUstream stream)
{
    unsigned n = 0;
    float factor = 2.0f;
    CUdeviceptr p = 0;
    void *params[] = {&p, &n, &factor};

    launch(w, "scale_in_place", 1, 1, 128, 1, 0, stream, params);
}

/* No work of another thread may end the capture. */
static void capture_often(struct work *w)
{
    CUstream stream;
    CUgraph graph;

    MUST(w->gpu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    while (atomic_load(&running) > 0) {
        MUST(w->gpu->StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        launch_on_nothing(w, stream);
        MUST(w->gpu->StreamEndCapture(stream, &graph));
        MUST(w->gpu->GraphDestroy(graph));
    }
    MUST(w->gpu->StreamDestroy(stream));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "shared";
    unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 4;
    struct worker workers[MAX_THREADS];
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    CUcontext context;
    CUdevice device;
    bool captures = strcmp(mode, "captures") == 0;

    if (count > MAX_THREADS)
        count = MAX_THREADS;
    gpu_from_linker(&gpu);
    snippets_open(&w);
    MUST(gpu.DeviceGet(&device, 0));
    MUST(gpu.DevicePrimaryCtxRetain(&context, device));
    if (captures) {
        MUST(gpu.CtxSetCurrent(context));
        launch_on_nothing(&w, NULL);
    }
    memset(workers, 0, sizeof(workers));
    atomic_store(&running, count);
    for (unsigned i = 0; i < count; i++) {
        workers[i].work = w;
        workers[i].number = i;
        workers[i].context = context;
        workers[i].own_context = strcmp(mode, "own") == 0;
        workers[i].own_stream = strcmp(mode, "default") != 0;
        workers[i].rounds = captures ? ROUNDS_BESIDE_CAPTURES : ROUNDS;
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
            return 2;
    }
    if (captures)
        capture_often(&w);
    for (unsigned i = 0; i < count; i++) {
        if (pthread_join(workers[i].thread, NULL) != 0)
            return 2;
        printf("thread %u: digest %08x\n", i, workers[i].digest);
    }
    snippets_close(&w);
    MUST(gpu.DevicePrimaryCtxRelease(device));
    return 0;
}
