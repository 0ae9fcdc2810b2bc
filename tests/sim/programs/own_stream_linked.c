/*
 * own_stream_linked CASE...: stream 0 is each thread's own, as in a program built with
 * --default-stream per-thread. In the cases "launches" and "graph" the main thread launches while
 * the stream of another thread waits for the host, which ends only behind these launches: all work
 * that stands in the stream that all threads share would wait for ever. In the case "capture" the
 * thread's stream is captured, in the case "failing" a capture is refused, becomes invalid, or is
 * ended without another stream that takes part; and launches follow. Each launch makes x = 2 * x +
 * 1, so that one that runs twice, or from the wrong memory, is seen. An alarm ends the program
 * after 30 seconds.
 */
#include "programs/cases.h"
#include "programs/getproc.h"
#include "programs/linked.h"
#include "programs/snippets.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

enum { N = 64, KNOWN = 4, BEHIND = 5, WAYS = 3 };

static struct gpu own; /* calls for which stream 0 is the thread's own */
static CUcontext context;
static CUfunction scale;
static CUdeviceptr x, flag;
static volatile uint32_t *on_host;
static unsigned launches; /* that x has seen */
static sem_t blocked, set;

static void launch_as(int way)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&x, &n, &factor};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = N,
                             .blockDimY = 1,
                             .blockDimZ = 1};

    if (way == 0)
        MUST(own.LaunchKernel(scale, 1, 1, 1, N, 1, 1, 0, NULL, params, NULL));
    else if (way == 1)
        MUST(own.LaunchKernelEx(&config, scale, params, NULL));
    else
        MUST(own.LaunchCooperativeKernel(scale, 1, 1, 1, N, 1, 1, 0, NULL, params));
    launches++;
}

/* x begins anew, which floats hold exactly for some launches. */
static void begin(void)
{
    MUST(own.MemsetD32Async(x, 0, N, NULL));
    launches = 0;
}

static void check(const char *name)
{
    float seen[N];

    MUST(own.MemcpyDtoHAsync(seen, x, sizeof(seen), NULL));
    MUST(own.StreamSynchronize(NULL));
    for (unsigned i = 0; i < N; i++)
        expect(seen[i] == (float)((1u << launches) - 1), name);
    printf("%s: %u launches\n", name, launches);
}

static void *wait_for_host(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamWaitValue32(CU_STREAM_PER_THREAD, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    (void)sem_post(&blocked);
    (void)sem_wait(&set);
    MUST(own.StreamSynchronize(NULL));
    return NULL;
}

static pthread_t block(void)
{
    pthread_t thread;

    *on_host = 0;
    if (pthread_create(&thread, NULL, wait_for_host, NULL))
        exit(2);
    (void)sem_wait(&blocked);
    return thread;
}

static void release(pthread_t thread)
{
    __atomic_store_n(on_host, 1, __ATOMIC_RELEASE);
    (void)sem_post(&set);
    if (pthread_join(thread, NULL))
        exit(2);
}

static void in_all_ways(void)
{
    for (int way = 0; way < WAYS; way++) {
        begin();
        for (int i = 0; i < KNOWN; i++)
            launch_as(way);
        check("alone");
        pthread_t thread = block();
        for (int i = 0; i < BEHIND; i++)
            launch_as(way);
        check("beside a stream that waits");
        release(thread);
    }
}

static CUgraphExec graph_of_launch(void)
{
    CUgraph graph;
    CUgraphExec exec;

    MUST(own.StreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch_as(0);
    launches--;
    MUST(own.StreamEndCapture(NULL, &graph));
    MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    return exec;
}

static void launch_often(CUgraphExec exec, int count)
{
    for (int i = 0; i < count; i++, launches++)
        MUST(own.GraphLaunch(exec, NULL));
}

static void in_graph(void)
{
    begin();
    CUgraphExec exec = graph_of_launch();
    launch_often(exec, KNOWN);
    check("alone");
    pthread_t thread = block();
    launch_often(exec, BEHIND);
    check("beside a stream that waits");
    release(thread);
    MUST(cuGraphExecDestroy(exec));
}

static void capture(void)
{
    begin();
    CUgraphExec exec = graph_of_launch();
    for (int i = 0; i < BEHIND; i++)
        launch_as(0);
    check("behind a capture");
    MUST(cuGraphExecDestroy(exec));
}

static void failing(void)
{
    CUstream first, other;
    CUevent event;
    CUgraph graph;
    CUdeviceptr none;

    MUST(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    printf("refused: %d\n",
           own.StreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(own.StreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    printf("not allowed: %d\n", cuMemAlloc(&none, 4));
    printf("invalid: %d\n", own.StreamEndCapture(first, &graph));
    MUST(own.StreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(own.EventRecord(event, first));
    MUST(own.StreamWaitEvent(other, event, 0));
    MUST(own.MemsetD32Async(x, 0, N, other));
    printf("not joined: %d\n", own.StreamEndCapture(first, &graph));
    begin();
    for (int i = 0; i < BEHIND; i++)
        launch_as(0);
    check("behind failing captures");
    MUST(cuEventDestroy(event));
    MUST(cuStreamDestroy(other));
    MUST(cuStreamDestroy(first));
}

int main(int argc, char **argv)
{
    static const struct program_case cases[] = {{"launches", in_all_ways},
                                                {"graph", in_graph},
                                                {"capture", capture},
                                                {"failing", failing},
                                                {0}};
    CUmodule module;
    void *image, *memory;
    size_t size;

    (void)alarm(30);
    if (sem_init(&blocked, 0, 0) || sem_init(&set, 0, 0))
        return 2;
    gpu_from_getproc(&own, true);
    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = snippets_image(&size);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    MUST(cuMemAlloc(&x, 4 * N));
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    on_host = memory;
    for (int i = 1; i < argc; i++)
        run_case(cases, argv[i]);
    return 0;
}
