/*
 * host_linked WORD...: a number makes as many rounds of all the words behind it, up to the next
 * number; `twice` begins another thread that does the same rounds at the same time. `launch`
 * launches a kernel, `graph` a graph of three, `captured` captures a launch. `to`, `from` and `by`
 * copy to the device, from it, and by address from the host; `device` copies by address inside the
 * device; `asynchronous` copies to it without a wait. `context`, `stream` and `event` wait.
 * `used` allocates memory, launches a kernel on it, and frees it.
 * `memory`, `pitched`, `managed`, `locked`, `registered` and `pooled` allocate and free. `nothing`
 * frees address 0, `wrong` an address that there is not. `start` and `stop` call cuProfilerStart
 * and cuProfilerStop. Prints the sum of the elements.
 */
#include <pthread.h>

#include "programs/linked.h"
#include "programs/snippets.h"

#define N 256u
#define KERNELS 3

CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

static struct gpu gpu;
static struct work w = {.gpu = &gpu};
static CUdeviceptr numbers, others;
static CUcontext context;
static CUstream stream;
static CUevent event;
static CUgraphExec exec;
static float host[N];
static char page[1 << 16] __attribute__((aligned(4096)));

static void launch_on(CUdeviceptr memory, CUstream in)
{
    unsigned n = N;
    float factor = 1;
    void *params[] = {&memory, &n, &factor};
    CUfunction function;

    MUST(gpu.ModuleGetFunction(&function, w.module, "scale_in_place"));
    MUST(gpu.LaunchKernel(function, 1, 1, 1, N, 1, 1, 0, in, params, NULL));
}

static void launch_once(CUstream in)
{
    launch_on(numbers, in);
}

static void use_memory(void)
{
    CUdeviceptr memory;

    MUST(gpu.MemAlloc(&memory, sizeof(host)));
    launch_on(memory, NULL);
    MUST(gpu.MemFree(memory));
}

static CUgraph captured(unsigned count)
{
    CUgraph graph;
    CUstream own;

    MUST(gpu.StreamCreate(&own, CU_STREAM_NON_BLOCKING));
    MUST(gpu.StreamBeginCapture(own, CU_STREAM_CAPTURE_MODE_RELAXED));
    while (count--)
        launch_once(own);
    MUST(gpu.StreamEndCapture(own, &graph));
    MUST(gpu.StreamDestroy(own));
    return graph;
}

static void launch_graph(void)
{
    if (!exec) {
        CUgraph graph = captured(KERNELS);
        MUST(gpu.GraphInstantiateWithFlags(&exec, graph, 0));
        MUST(gpu.GraphDestroy(graph));
    }
    MUST(gpu.GraphLaunch(exec, NULL));
}

static bool allocates(const char *word)
{
    CUdeviceptr address = 0;
    void *pointer = NULL;
    size_t pitch;

    if (strcmp(word, "memory") == 0)
        MUST(gpu.MemAlloc(&address, sizeof(host)));
    else if (strcmp(word, "pitched") == 0)
        MUST(gpu.MemAllocPitch(&address, &pitch, sizeof(host), 2, 4));
    else if (strcmp(word, "managed") == 0)
        MUST(gpu.MemAllocManaged(&address, sizeof(host), CU_MEM_ATTACH_GLOBAL));
    else if (strcmp(word, "locked") == 0)
        MUST(gpu.MemHostAlloc(&pointer, sizeof(host), 0));
    else if (strcmp(word, "registered") == 0)
        MUST(cuMemHostRegister(page, sizeof(page), 0));
    else if (strcmp(word, "pooled") == 0) {
        MUST(gpu.MemAllocAsync(&address, sizeof(host), stream));
        MUST(gpu.MemFreeAsync(address, stream));
        return true;
    } else
        return false;
    if (address)
        MUST(gpu.MemFree(address));
    else if (pointer)
        MUST(gpu.MemFreeHost(pointer));
    else
        MUST(cuMemHostUnregister(page));
    return true;
}

static bool copies(const char *word)
{
    if (strcmp(word, "to") == 0)
        MUST(gpu.MemcpyHtoD(numbers, host, sizeof(host)));
    else if (strcmp(word, "from") == 0)
        MUST(gpu.MemcpyDtoH(host, numbers, sizeof(host)));
    else if (strcmp(word, "by") == 0)
        MUST(cuMemcpy(numbers, (CUdeviceptr)(uintptr_t)host, sizeof(host)));
    else if (strcmp(word, "device") == 0)
        MUST(cuMemcpy(others, numbers, sizeof(host)));
    else if (strcmp(word, "asynchronous") == 0)
        MUST(gpu.MemcpyHtoDAsync(numbers, host, sizeof(host), NULL));
    else
        return false;
    return true;
}

static void does(const char *word)
{
    if (strcmp(word, "launch") == 0)
        launch_once(NULL);
    else if (strcmp(word, "graph") == 0)
        launch_graph();
    else if (strcmp(word, "used") == 0)
        use_memory();
    else if (strcmp(word, "captured") == 0)
        MUST(gpu.GraphDestroy(captured(1)));
    else if (strcmp(word, "context") == 0)
        MUST(gpu.CtxSynchronize());
    else if (strcmp(word, "stream") == 0)
        MUST(gpu.StreamSynchronize(stream));
    else if (strcmp(word, "event") == 0)
        MUST(gpu.EventSynchronize(event));
    else if (strcmp(word, "nothing") == 0)
        MUST(gpu.MemFree(0));
    else if (strcmp(word, "wrong") == 0)
        expect(gpu.MemFree(numbers + 1) != CUDA_SUCCESS, "free");
    else if (strcmp(word, "start") == 0)
        MUST(cuProfilerStart());
    else if (strcmp(word, "stop") == 0)
        MUST(cuProfilerStop());
    else
        expect(allocates(word) || copies(word), word);
}

/* The words from one number to the next. */
struct rounds {
    unsigned count;
    char **words;
    int word_count;
};

static void *make_rounds(void *user)
{
    const struct rounds *rounds = user;

    MUST(gpu.CtxSetCurrent(context));
    for (unsigned i = 0; i < rounds->count; i++)
        for (int k = 0; k < rounds->word_count; k++)
            does(rounds->words[k]);
    return NULL;
}

static void make_twice(struct rounds *rounds)
{
    pthread_t thread;

    rounds->words++;
    rounds->word_count--;
    expect(pthread_create(&thread, NULL, make_rounds, rounds) == 0, "thread");
    make_rounds(rounds);
    expect(pthread_join(thread, NULL) == 0, "thread");
}

static bool is_number(const char *word)
{
    return word[0] >= '0' && word[0] <= '9';
}

int main(int argc, char **argv)
{
    double sum = 0;

    gpu_from_linker(&gpu);
    snippets_open(&w);
    MUST(cuCtxGetCurrent(&context));
    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(gpu.EventCreate(&event, CU_EVENT_DEFAULT));
    MUST(gpu.EventRecord(event, stream));
    numbers = allocate(&w, sizeof(host));
    others = allocate(&w, sizeof(host));
    for (unsigned k = 0; k < N; k++)
        host[k] = 1;
    MUST(gpu.MemcpyHtoD(numbers, host, sizeof(host)));
    for (int i = 1; i < argc;) {
        struct rounds rounds = {.count = (unsigned)atoi(argv[i]), .words = &argv[i + 1]};
        for (i++; i < argc && !is_number(argv[i]); i++)
            rounds.word_count++;
        if (rounds.word_count > 0 && strcmp(rounds.words[0], "twice") == 0)
            make_twice(&rounds);
        else
            make_rounds(&rounds);
    }
    MUST(gpu.MemcpyDtoH(host, numbers, sizeof(host)));
    for (unsigned k = 0; k < N; k++)
        sum += (double)host[k];
    printf("%.0f\n", sum);
    if (exec)
        MUST(gpu.GraphExecDestroy(exec));
    MUST(gpu.EventDestroy(event));
    MUST(gpu.StreamDestroy(stream));
    MUST(gpu.MemFree(others));
    snippets_close(&w);
    return 0;
}
