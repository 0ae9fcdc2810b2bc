/*
 * returns_linked [SECONDS] CASE...: launches of a kernel that has been launched before, so that a
 * profiler can know their reach. In the cases "value", "function" and "kernel" they stand in their
 * stream behind a wait for a value, a host function that waits or a kernel that does: none of them
 * runs before all of them have returned, and a profiler that waits for one waits in vain. In the
 * case "beside" they stand in another stream than that kernel. In the case "streams" they stand in
 * several streams, of which only the last is free. In the cases "led" and "led_behind" memory that
 * they reach is made to point to other memory, in the case "numbers" it holds a number that is
 * equal to an address, in the case "counting" each counts other instructions by the number that the
 * one before has left there, in the case "refused" one of them is refused, in the case "failing"
 * one of them fails on the GPU, in the case "exit" the process ends behind them, in the case
 * "killed" it is killed there, and in the case "threads" each of some threads has its stream. In
 * the cases "freed", "reused", "gone", "full_memory", "full_behind" and "unreturned" memory goes,
 * or is needed, while launches wait; in the case "full" a stream takes no more, and in the case
 * "captured" one is captured. Each launch makes x = 2 * x + 1 of its numbers, or 3 * x + 1, so that
 * one that runs twice, or from the wrong memory, is seen. An alarm ends the program after SECONDS
 * (60).
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/snippets.h"

enum { KNOWN = 4, BEHIND = 12, N = 256, STREAMS = 3, THREADS = 4 };

static CUcontext context;
static CUmodule module;
static CUfunction scale;
static volatile uint32_t *on_host;
static CUdeviceptr flag, seen;

struct numbers {
    CUdeviceptr x;
    float expected[N];
};

static void begin(struct numbers *numbers)
{
    MUST(cuMemAlloc(&numbers->x, sizeof(numbers->expected)));
    MUST(cuMemsetD32(numbers->x, 0, N));
    memset(numbers->expected, 0, sizeof(numbers->expected));
    MUST(cuCtxSynchronize());
}

static void launch_in(struct numbers *numbers, unsigned n, CUstream stream)
{
    float factor = 2;
    void *params[] = {&numbers->x, &n, &factor};

    MUST(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    for (unsigned i = 0; i < n; i++)
        numbers->expected[i] = 2 * numbers->expected[i] + 1;
}

static void make_known(struct numbers *numbers, CUstream stream)
{
    for (unsigned i = 0; i < KNOWN; i++)
        launch_in(numbers, N, stream);
    MUST(cuCtxSynchronize());
}

static void check(const char *what, const struct numbers *numbers)
{
    float found[N];

    MUST(cuMemcpyDtoH(found, numbers->x, sizeof(found)));
    for (unsigned i = 0; i < N; i++)
        if (found[i] != numbers->expected[i]) {
            printf("%s: element %u is %g, not %g\n", what, i, (double)found[i],
                   (double)numbers->expected[i]);
            exit(1);
        }
    printf("%s: element 7 is %g\n", what, (double)found[7]);
}

/* ---- behind waits ---------------------------------------------------------------------------- */

static void set(uint32_t value)
{
    __atomic_store_n(on_host, value, __ATOMIC_RELEASE);
}

static void CUDA_CB wait_on_host(void *unused)
{
    (void)unused;
    while (__atomic_load_n(on_host, __ATOMIC_ACQUIRE) == 0)
        (void)usleep(100);
}

static void block_by_value(CUstream stream)
{
    MUST(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

static void block_by_function(CUstream stream)
{
    MUST(cuLaunchHostFunc(stream, wait_on_host, NULL));
}

static void block_by_kernel(CUstream stream)
{
    CUfunction wait;
    void *params[] = {&flag, &seen};

    MUST(cuModuleGetFunction(&wait, module, "wait_for_flag"));
    MUST(cuLaunchKernel(wait, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}

static void behind(const char *what, void (*block)(CUstream stream))
{
    struct numbers numbers;
    CUstream stream;

    begin(&numbers);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, stream);
    set(0);
    block(stream);
    for (unsigned i = 0; i < BEHIND; i++)
        launch_in(&numbers, i % N + 1, stream);
    set(1);
    MUST(cuStreamSynchronize(stream));
    check(what, &numbers);
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(numbers.x));
}

/* They stand in another stream than the kernel that waits. */
static void beside(void)
{
    struct numbers numbers;
    CUstream waiting, stream;

    begin(&numbers);
    MUST(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, stream);
    set(0);
    block_by_kernel(waiting);
    for (unsigned i = 0; i < BEHIND; i++)
        launch_in(&numbers, i % N + 1, stream);
    MUST(cuStreamSynchronize(stream));
    set(1);
    MUST(cuStreamSynchronize(waiting));
    check("beside", &numbers);
    MUST(cuStreamDestroy(waiting));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(numbers.x));
}

static void in_streams(void)
{
    struct numbers numbers[STREAMS];
    CUstream streams[STREAMS];

    for (int s = 0; s < STREAMS; s++) {
        begin(&numbers[s]);
        MUST(cuStreamCreate(&streams[s], CU_STREAM_NON_BLOCKING));
    }
    make_known(&numbers[0], streams[0]);
    set(0);
    for (int s = 0; s < STREAMS - 1; s++)
        block_by_value(streams[s]);
    for (unsigned i = 0; i < BEHIND; i++)
        launch_in(&numbers[i % STREAMS], N, streams[i % STREAMS]);
    MUST(cuStreamSynchronize(streams[STREAMS - 1])); /* the others wait all the while */
    set(1);
    MUST(cuCtxSynchronize());
    for (int s = 0; s < STREAMS; s++) {
        check("streams", &numbers[s]);
        MUST(cuStreamDestroy(streams[s]));
        MUST(cuMemFree(numbers[s].x));
    }
}

/* ---- memory that points ---------------------------------------------------------------------- */

struct element {
    uint32_t value, low, high;
};

/* A list of one element, then of two: the second one lies in memory of its own. Launches on that
 * one return before they run, where they stand behind a wait. */
static void lead(bool waits)
{
    CUstream stream;
    CUfunction walk;
    CUdeviceptr first, second;
    struct element element = {5, 0, 0};
    void *params[] = {&first};
    uint32_t expected[2] = {5, 5};

    MUST(cuModuleGetFunction(&walk, module, "reach_list"));
    MUST(cuMemAlloc(&first, sizeof(element)));
    MUST(cuMemAlloc(&second, sizeof(element)));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemcpyHtoD(first, &element, sizeof(element)));
    MUST(cuMemcpyHtoD(second, &element, sizeof(element)));
    for (unsigned i = 0; i < KNOWN + BEHIND; i++) {
        if (i == KNOWN + BEHIND / 2) {
            uint32_t halves[2] = {(uint32_t)second, (uint32_t)(second >> 32)};
            MUST(cuStreamSynchronize(stream));
            MUST(cuMemcpyHtoD(first + 4, halves, sizeof(halves)));
            set(!waits);
            block_by_value(stream);
        }
        MUST(cuLaunchKernel(walk, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
        expected[0] = 3 * expected[0] + 1;
        if (i >= KNOWN + BEHIND / 2)
            expected[1] = 3 * expected[1] + 1;
    }
    set(1);
    MUST(cuStreamSynchronize(stream));
    for (int i = 0; i < 2; i++) {
        MUST(cuMemcpyDtoH(&element, i ? second : first, sizeof(element)));
        expect(element.value == expected[i], "led");
        printf("led: element %d is %u\n", i, element.value);
    }
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(first));
    MUST(cuMemFree(second));
}

static void led(void)
{
    lead(false);
}

static void led_behind(void)
{
    lead(true);
}

/* Numbers of which two are equal to the address of other memory; the kernel reads none. */
static void numbers_like_addresses(void)
{
    CUfunction compute;
    CUdeviceptr mine, others;
    uint32_t number[4] = {1}, expected = 1;
    unsigned ms = 0;
    void *params[] = {&mine, &ms};

    MUST(cuModuleGetFunction(&compute, module, "compute_long"));
    MUST(cuMemAlloc(&mine, sizeof(number)));
    MUST(cuMemAlloc(&others, 1 << 20));
    MUST(cuMemsetD32(others, 7, (1 << 20) / 4));
    MUST(cuMemcpyHtoD(mine, number, sizeof(number)));
    for (unsigned i = 0; i < KNOWN + BEHIND; i++) {
        if (i == KNOWN + BEHIND / 2)
            MUST(cuMemcpyHtoD(mine + 8, &others, sizeof(others)));
        MUST(cuLaunchKernel(compute, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
        expected = 2 * expected + 1;
    }
    MUST(cuMemcpyDtoH(number, mine, sizeof(number)));
    expect(number[0] == expected, "numbers");
    printf("numbers: %u\n", number[0]);
    MUST(cuMemFree(mine));
    MUST(cuMemFree(others));
}

/* Each launch counts other instructions, by the number that the one before has left in memory. */
static void counting(void)
{
    CUfunction count_down;
    CUdeviceptr number;
    uint32_t left;
    void *params[] = {&number};

    MUST(cuModuleGetFunction(&count_down, module, "count_down"));
    MUST(cuMemAlloc(&number, 4));
    MUST(cuMemsetD32(number, 1000, 1));
    for (unsigned i = 0; i < KNOWN + BEHIND; i++)
        MUST(cuLaunchKernel(count_down, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    MUST(cuMemcpyDtoH(&left, number, 4));
    expect(left == 1000 - KNOWN - BEHIND, "counting");
    printf("counting: %u\n", left);
}

/* ---- launches that go wrong ------------------------------------------------------------------ */

static void refused(void)
{
    struct numbers numbers;
    unsigned n = N;
    float factor = 2;
    void *params[] = {&numbers.x, &n, &factor};

    begin(&numbers);
    make_known(&numbers, NULL);
    for (unsigned i = 0; i < BEHIND; i++) {
        launch_in(&numbers, N, NULL);
        if (i == BEHIND / 2)
            printf("refused: %d\n",
                   cuLaunchKernel(scale, 2, 1, 1, 2048, 1, 1, 0, NULL, params, NULL));
    }
    check("refused", &numbers);
}

static void failing(void)
{
    struct numbers numbers;
    CUfunction out_of_bounds;
    CUdeviceptr small;
    unsigned n = 100;
    void *params[] = {&small, &n};

    begin(&numbers);
    MUST(cuMemAlloc(&small, 4 * n));
    MUST(cuModuleGetFunction(&out_of_bounds, module, "out_of_bounds"));
    make_known(&numbers, NULL);
    for (unsigned i = 0; i < BEHIND; i++)
        launch_in(&numbers, N, NULL);
    printf("failing: launched with %d\n",
           cuLaunchKernel(out_of_bounds, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    printf("failing: %d\n", cuCtxSynchronize());
}

static void until_end(bool killed)
{
    struct numbers numbers;

    begin(&numbers);
    make_known(&numbers, NULL);
    for (unsigned i = 0; i < BEHIND; i++)
        launch_in(&numbers, N, NULL);
    if (killed)
        (void)raise(SIGKILL);
    printf("exit\n");
    exit(0);
}

/* ---- memory that goes -------------------------------------------------------------------------
 */

static void point(CUdeviceptr element, CUdeviceptr to, CUstream stream)
{
    uint32_t halves[2] = {(uint32_t)to, (uint32_t)(to >> 32)};

    MUST(cuMemcpyHtoDAsync(element + 4, halves, sizeof(halves), stream));
    MUST(cuStreamSynchronize(stream));
}

static CUdeviceptr make_element(void)
{
    struct element element = {5, 0, 0};
    CUdeviceptr made;

    MUST(cuMemAlloc(&made, sizeof(element)));
    MUST(cuMemcpyHtoD(made, &element, sizeof(element)));
    return made;
}

static void walk_from(CUdeviceptr first, unsigned launches, CUstream stream)
{
    CUfunction walk;
    void *params[] = {&first};

    MUST(cuModuleGetFunction(&walk, module, "reach_list"));
    for (unsigned i = 0; i < launches; i++)
        MUST(cuLaunchKernel(walk, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}

/* Only contents lead to memory that is freed before the launch is replayed. */
static void freed(void)
{
    CUdeviceptr first = make_element(), second = make_element();
    CUstream stream;
    CUfunction walk;

    MUST(cuModuleGetFunction(&walk, module, "reach_list"));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    walk_from(first, KNOWN + 3, stream);
    point(first, second, stream);
    walk_from(first, 1, stream);
    MUST(cuCtxSynchronize());
    point(first, 0, stream);
    MUST(cuMemFree(second));
    MUST(cuMemFree(first));
    MUST(cuFuncSetCacheConfig(walk, CU_FUNC_CACHE_PREFER_L1)); /* it is replayed by now */
    printf("freed: %d\n", cuCtxSynchronize());
}

/* A launch is given up while its stream waits; others follow in another one. Then its copy is made.
 */
static void reused(void)
{
    CUdeviceptr a = make_element(), b = make_element(), second = make_element();
    CUfunction walk;
    CUstream blocked, stream;
    struct element element;

    MUST(cuModuleGetFunction(&walk, module, "reach_list"));
    MUST(cuStreamCreate(&blocked, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    walk_from(b, KNOWN, stream);
    MUST(cuCtxSynchronize());
    set(0);
    block_by_value(blocked);
    point(a, second, stream);
    walk_from(a, 1, blocked);
    MUST(cuFuncSetCacheConfig(walk, CU_FUNC_CACHE_PREFER_L1));
    walk_from(b, 8, stream);
    MUST(cuStreamSynchronize(stream));
    set(1);
    MUST(cuCtxSynchronize());
    MUST(cuMemFree(second));
    MUST(cuMemFree(b));
    MUST(cuMemcpyDtoH(&element, a, sizeof(element)));
    printf("reused: %u\n", element.value);
}

/* Memory that a parameter leads to, and which the kernel does not use, goes while launches wait in
 * their stream: freed in stream order, and at once, for which the driver does not wait as it is
 * from a pool. */
static void gone(void)
{
    struct numbers numbers;
    CUdeviceptr unused, at_once;
    CUstream blocked, stream;
    unsigned n = 0;
    float factor = 2;
    void *params[] = {&unused, &n, &factor}, *more[] = {&at_once, &n, &factor};

    begin(&numbers);
    MUST(cuStreamCreate(&blocked, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, blocked);
    MUST(cuMemAllocAsync(&unused, 4096, stream));
    MUST(cuMemAllocAsync(&at_once, 4096, stream));
    MUST(cuStreamSynchronize(stream));
    set(0);
    block_by_value(blocked);
    MUST(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, blocked, params, NULL));
    MUST(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, blocked, more, NULL));
    MUST(cuMemFreeAsync(unused, stream));
    MUST(cuMemFree(at_once));
    MUST(cuStreamSynchronize(stream));
    set(1);
    printf("gone: %d\n", cuCtxSynchronize());
    check("gone", &numbers);
}

static CUdeviceptr taken;
static size_t all_free;

static void *take_all(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&taken, all_free));
    MUST(cuMemsetD32(taken, 0x11111111, 1 << 18));
    return NULL;
}

static void *set_later(void *unused)
{
    (void)unused;
    (void)usleep(600000);
    set(1);
    return NULL;
}

/* A thread needs all memory there is, and waits until gpuprof's can be freed; another one launches.
 */
static void full_memory(void)
{
    struct numbers numbers;
    CUstream blocked, stream;
    pthread_t taking, setting;
    size_t total;

    begin(&numbers);
    MUST(cuStreamCreate(&blocked, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, stream);
    MUST(cuFuncSetCacheConfig(scale, CU_FUNC_CACHE_PREFER_L1)); /* nothing is held any more */
    MUST(cuMemGetInfo(&all_free, &total));
    all_free &= ~(size_t)3;
    set(0);
    block_by_value(blocked);
    expect(pthread_create(&setting, NULL, set_later, NULL) == 0, "full_memory");
    expect(pthread_create(&taking, NULL, take_all, NULL) == 0, "full_memory");
    (void)usleep(200000); /* until it waits */
    launch_in(&numbers, N, stream);
    expect(pthread_join(taking, NULL) == 0, "full_memory");
    expect(pthread_join(setting, NULL) == 0, "full_memory");
    printf("full_memory: %d\n", cuCtxSynchronize());
    check("full_memory", &numbers);
}

/* A thread needs all memory where launches wait already: their copies are to be written behind
 * them. */
static void full_behind(void)
{
    struct numbers numbers;
    CUstream blocked, stream;
    pthread_t setting;
    size_t total;

    begin(&numbers);
    MUST(cuStreamCreate(&blocked, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, blocked);
    MUST(cuFuncSetCacheConfig(scale, CU_FUNC_CACHE_PREFER_L1)); /* nothing is held any more */
    MUST(cuMemGetInfo(&all_free, &total));
    all_free &= ~(size_t)3;
    set(0);
    block_by_value(blocked);
    launch_in(&numbers, N, blocked);
    expect(pthread_create(&setting, NULL, set_later, NULL) == 0, "full_behind");
    (void)take_all(NULL);
    expect(pthread_join(setting, NULL) == 0, "full_behind");
    printf("full_behind: %d\n", cuCtxSynchronize());
    check("full_behind", &numbers);
}

static struct numbers numbers_in_full;
static CUstream full_stream;

static void *launch_into_full(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    launch_in(&numbers_in_full, N, full_stream);
    return NULL;
}

/* A full stream holds a launch up while a module is unloaded; then its memory is freed. */
static void full(void)
{
    enum { MOST_QUEUED = 1022 };
    struct numbers beside;
    CUfunction here = scale;
    CUdeviceptr filled;
    CUmodule other;
    pthread_t thread;
    size_t size;
    void *image = snippets_image(&size);

    begin(&numbers_in_full);
    begin(&beside);
    MUST(cuModuleLoadData(&other, image));
    free(image);
    MUST(cuStreamCreate(&full_stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&filled, 4096));
    make_known(&numbers_in_full, full_stream);
    MUST(cuModuleGetFunction(&scale, other, "scale_in_place"));
    make_known(&beside, full_stream);
    scale = here;
    set(0);
    block_by_value(full_stream);
    for (int i = 0; i < MOST_QUEUED; i++)
        MUST(cuMemsetD32Async(filled, 0, 4, full_stream));
    expect(pthread_create(&thread, NULL, launch_into_full, NULL) == 0, "full");
    (void)usleep(200000); /* until it waits */
    MUST(cuModuleUnload(other));
    set(1);
    expect(pthread_join(thread, NULL) == 0, "full");
    MUST(cuCtxSynchronize());
    check("full", &numbers_in_full);
    MUST(cuMemFree(numbers_in_full.x));
    launch_in(&beside, N, NULL);
    check("full", &beside);
}

/* Launches that were given up have ended long before the program needs all memory. */
static void unreturned(void)
{
    struct numbers numbers;
    CUstream blocked;
    size_t total;

    begin(&numbers);
    MUST(cuStreamCreate(&blocked, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, blocked);
    set(0);
    block_by_value(blocked);
    launch_in(&numbers, N, blocked);
    launch_in(&numbers, N, blocked);
    MUST(cuFuncSetCacheConfig(scale, CU_FUNC_CACHE_PREFER_L1));
    set(1);
    MUST(cuCtxSynchronize());
    MUST(cuMemGetInfo(&all_free, &total));
    all_free &= ~(((size_t)4 << 20) - 1);
    printf("unreturned: %d\n", cuMemAlloc(&taken, all_free));
}

/* Launches are drained while a stream is being captured. */
static void captured(void)
{
    struct numbers numbers;
    CUstream stream;
    CUgraph graph;

    begin(&numbers);
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    make_known(&numbers, stream);
    for (int i = 0; i < 5; i++)
        launch_in(&numbers, N, stream);
    MUST(cuCtxSynchronize());
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuFuncSetAttribute(scale, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    printf("captured: %d\n", cuStreamEndCapture(stream, &graph));
    check("captured", &numbers);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *launch_in_thread(void *data)
{
    struct numbers *numbers = data;
    CUstream stream;

    MUST(cuCtxSetCurrent(context));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 4 * BEHIND; i++)
        launch_in(numbers, N, stream);
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamDestroy(stream));
    return NULL;
}

static void in_threads(void)
{
    static struct numbers numbers[THREADS];
    pthread_t threads[THREADS];

    for (int t = 0; t < THREADS; t++)
        begin(&numbers[t]);
    make_known(&numbers[0], NULL);
    for (int t = 0; t < THREADS; t++)
        expect(pthread_create(&threads[t], NULL, launch_in_thread, &numbers[t]) == 0, "threads");
    for (int t = 0; t < THREADS; t++)
        expect(pthread_join(threads[t], NULL) == 0, "threads");
    for (int t = 0; t < THREADS; t++)
        check("threads", &numbers[t]);
}

static void until_exit(void)
{
    until_end(false);
}

static void until_killed(void)
{
    until_end(true);
}

static void behind_value(void)
{
    behind("value", block_by_value);
}

static void behind_function(void)
{
    behind("function", block_by_function);
}

static void behind_kernel(void)
{
    behind("kernel", block_by_kernel);
}

static void run(const char *which)
{
    static const struct program_case cases[] = {{"value", behind_value},
                                                {"function", behind_function},
                                                {"kernel", behind_kernel},
                                                {"beside", beside},
                                                {"streams", in_streams},
                                                {"led", led},
                                                {"led_behind", led_behind},
                                                {"numbers", numbers_like_addresses},
                                                {"counting", counting},
                                                {"refused", refused},
                                                {"failing", failing},
                                                {"exit", until_exit},
                                                {"killed", until_killed},
                                                {"threads", in_threads},
                                                {"freed", freed},
                                                {"reused", reused},
                                                {"gone", gone},
                                                {"full_memory", full_memory},
                                                {"full_behind", full_behind},
                                                {"full", full},
                                                {"unreturned", unreturned},
                                                {"captured", captured},
                                                {0}};

    run_case(cases, which);
}

int main(int argc, char **argv)
{
    void *image, *memory;
    size_t size;

    (void)alarm(60);
    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = snippets_image(&size);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuModuleGetFunction(&scale, module, "scale_in_place"));
    MUST(cuMemAlloc(&seen, 4));
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    on_host = memory;
    for (int i = 1; i < argc; i++)
        if (!sets_alarm(argv[i]))
            run(argv[i]);
    (void)alarm(60); /* the end is no part of it */
    return 0;
}
