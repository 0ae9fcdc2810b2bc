/*
 * window_linked WORD...: `start` and `stop` call cuProfilerStart and cuProfilerStop,
 * `runtime-start` and `runtime-stop` do as the CUDA runtime does, which asks cuGetProcAddress for
 * them. A number launches scale_in_place so often; `thread` has another thread make the launches of
 * the next number, `other` makes those behind it launches of `ordinary`. `graph` launches a graph
 * of three kernels that was captured, `captured` captures a launch and leaves it; so does
 * `captured-stop`, which calls cuProfilerStop meanwhile. `copy` copies to the device, `nap` waits a
 * fifth of a second, `kill` ends the process at once. `fork` has a child do all the words behind
 * it, and waits for it. Prints the sum of the elements.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "programs/linked.h"
#include "programs/snippets.h"

#define N 256u
#define KERNELS 3

CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

static struct gpu gpu;
static struct work w = {.gpu = &gpu};
static CUdeviceptr numbers;
static CUcontext context;
static CUgraphExec exec;
static bool other;
static float host[N];

static void launches_of(unsigned count)
{
    unsigned n = N;
    float factor = 1;
    void *params[] = {&numbers, &n, &factor};

    while (count--)
        launch(&w, other ? "ordinary" : "scale_in_place", 1, 1, N, 1, 0, NULL, params);
}

static void *launches_of_thread(void *count)
{
    MUST(gpu.CtxSetCurrent(context));
    launches_of(*(const unsigned *)count);
    return NULL;
}

static void launches_in_thread(unsigned count)
{
    pthread_t thread;

    expect(pthread_create(&thread, NULL, launches_of_thread, &count) == 0, "thread");
    expect(pthread_join(thread, NULL) == 0, "thread");
}

/* The graph of so many launches, captured; meanwhile cuProfilerStop is called where `stops`. */
static CUgraph captured(unsigned count, bool stops)
{
    CUstream stream;
    CUgraph graph;
    CUfunction function;
    unsigned n = N;
    float factor = 1;
    void *params[] = {&numbers, &n, &factor};

    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(gpu.ModuleGetFunction(&function, w.module, "scale_in_place"));
    MUST(gpu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    while (count--)
        MUST(gpu.LaunchKernel(function, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
    if (stops)
        MUST(cuProfilerStop());
    MUST(gpu.StreamEndCapture(stream, &graph));
    MUST(gpu.StreamDestroy(stream));
    return graph;
}

static void launch_graph(void)
{
    if (!exec) {
        CUgraph graph = captured(KERNELS, false);
        MUST(gpu.GraphInstantiateWithFlags(&exec, graph, 0));
        MUST(gpu.GraphDestroy(graph));
    }
    MUST(gpu.GraphLaunch(exec, NULL));
}

static void call_as_runtime(const char *name)
{
    CUresult(CUDAAPI * function)(void);
    void *found = NULL;

    MUST(cuGetProcAddress(name, &found, 7000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    expect(gpu_store(&function, found), name);
    MUST(function());
}

static void fork_and_wait(void)
{
    int status;
    pid_t child = fork();

    if (child == 0)
        return;
    expect(child > 0 && waitpid(child, &status, 0) == child && status == 0, "fork");
    exit(0);
}

static bool does(const char *word)
{
    if (strcmp(word, "start") == 0)
        MUST(cuProfilerStart());
    else if (strcmp(word, "stop") == 0)
        MUST(cuProfilerStop());
    else if (strcmp(word, "runtime-start") == 0)
        call_as_runtime("cuProfilerStart");
    else if (strcmp(word, "runtime-stop") == 0)
        call_as_runtime("cuProfilerStop");
    else if (strcmp(word, "graph") == 0)
        launch_graph();
    else if (strcmp(word, "captured") == 0)
        MUST(gpu.GraphDestroy(captured(1, false)));
    else if (strcmp(word, "captured-stop") == 0)
        MUST(gpu.GraphDestroy(captured(1, true)));
    else if (strcmp(word, "copy") == 0)
        MUST(gpu.MemcpyHtoD(numbers, host, sizeof(host)));
    else if (strcmp(word, "nap") == 0)
        usleep(200000);
    else if (strcmp(word, "kill") == 0)
        (void)raise(SIGKILL);
    else if (strcmp(word, "other") == 0)
        other = true;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    double sum = 0;
    int i = 1;

    if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        fork_and_wait();
        i++;
    }
    gpu_from_linker(&gpu);
    snippets_open(&w);
    MUST(cuCtxGetCurrent(&context));
    numbers = allocate(&w, sizeof(host));
    for (unsigned k = 0; k < N; k++)
        host[k] = 1;
    MUST(gpu.MemcpyHtoD(numbers, host, sizeof(host)));
    for (; i < argc; i++) {
        if (strcmp(argv[i], "thread") == 0 && i + 1 < argc)
            launches_in_thread((unsigned)atoi(argv[++i]));
        else if (!does(argv[i]))
            launches_of((unsigned)atoi(argv[i]));
    }
    MUST(gpu.CtxSynchronize());
    download(&w, host, numbers, sizeof(host));
    for (unsigned k = 0; k < N; k++)
        sum += (double)host[k];
    printf("%.0f\n", sum);
    if (exec)
        MUST(gpu.GraphExecDestroy(exec));
    snippets_close(&w);
    return 0;
}
