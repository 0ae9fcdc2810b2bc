/*
 * hazards_linked CASE...: work of a program that could go wrong beside launches that a profiler
 * measures later. Its kernels have been launched before, so that a profiler can know them. In the
 * case "hidden" a launch with another grid writes memory that no parameter leads to, behind a
 * blocked stream. In the case "long" one that takes far longer than those before it stands there.
 * In the case "many" the thread that ends the wait of a stream launches into it nearly as often as
 * it can, in the case "rested" after that has ended, and in the case "cycles" a stream is blocked
 * again and again. In the cases "function" and "value" another thread blocks a stream in the middle
 * of a launch, and in the case "change" in the middle of a change of the kernel. In the case
 * "unload" a module goes while one thread waits in a copy and another one copies, and in the case
 * "unload_waiting" that one launches kernels that wait until it has launched others. In the case
 * "contexts" one of two contexts is blocked while there are launches in the other; in the case
 * "abandoned" it has waited in vain for a kernel before, and in the case "unload_beside" a module
 * of the other one goes. In the case "unload_devices" modules of two GPUs go, and in the case
 * "many_beside" there are many launches beside a context where a kernel waits that a profiler
 * leaves out. In the cases "variable" and "library" a module goes while a launch waits in its
 * stream. In the cases "managed" and "managed_blocked" the host writes a managed variable at a time
 * when nothing runs. In the cases "copied_from_gpu" and "managed_by_gpu" another GPU writes the
 * rest of the memory that launches reach. Each launch adds 1 to its numbers, so that one that runs
 * twice, or from the wrong memory, is seen. An alarm ends the program after 60 seconds.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "image.h"
#include "programs/cases.h"
#include "programs/linked.h"

enum { KNOWN = 4, BEHIND = 12, N = 256, NEARLY_FULL = 948, LONG_MS = 300 };

static CUcontext context;
static CUmodule module;
static CUfunction scale;
static volatile uint32_t *on_host;
static CUdeviceptr flag;

static void *image(bool managed)
{
    static const struct gpusim_image_kernel kernels[] = {{"scale_in_place", 10, 0, 0},
                                                         {"reach_hidden", 10, 0, 0},
                                                         {"compute_long", 8, 0, 0},
                                                         {"wait_for_flag", 8, 0, 0}};
    static const struct gpusim_image_global globals[] = {
        {"state", 4, NULL, GPUSIM_IMAGE_GLOBAL}, {"counter", 4, NULL, GPUSIM_IMAGE_MANAGED}};
    size_t bytes;

    return gpusim_image_build(kernels, sizeof(kernels) / sizeof(kernels[0]), globals,
                              managed ? 2 : 1, &bytes);
}

static CUfunction load(CUmodule *loaded, bool managed)
{
    CUfunction f;
    void *built = image(managed);

    MUST(cuModuleLoadData(loaded, built));
    free(built);
    MUST(cuModuleGetFunction(&f, *loaded, "scale_in_place"));
    return f;
}

static CUstream make_stream(void)
{
    CUstream stream;

    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

struct numbers {
    CUdeviceptr x;
    unsigned launches;
};

static void launch_in(struct numbers *numbers, unsigned launches, CUstream stream)
{
    float factor = 1;
    unsigned n = N;
    void *params[] = {&numbers->x, &n, &factor};

    for (unsigned i = 0; i < launches; i++)
        MUST(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    numbers->launches += launches;
}

static struct numbers allocate(void)
{
    struct numbers numbers = {0};

    MUST(cuMemAlloc(&numbers.x, 4 * N));
    MUST(cuMemsetD32(numbers.x, 0, N));
    MUST(cuCtxSynchronize());
    return numbers;
}

/* Numbers of a kernel that is known. */
static struct numbers begin(CUstream stream)
{
    struct numbers numbers = allocate();

    launch_in(&numbers, KNOWN, stream);
    MUST(cuCtxSynchronize());
    return numbers;
}

static void check(const char *name, const struct numbers *numbers)
{
    float found[N];

    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(found, numbers->x, sizeof(found)));
    for (unsigned i = 0; i < N; i++)
        if (found[i] != (float)numbers->launches) {
            printf("%s: element %u is %g, not %u\n", name, i, (double)found[i], numbers->launches);
            exit(1);
        }
    printf("%s: %u launches\n", name, numbers->launches);
}

static void set(uint32_t value)
{
    __atomic_store_n(on_host, value, __ATOMIC_RELEASE);
}

static uint32_t get(void)
{
    return __atomic_load_n(on_host, __ATOMIC_ACQUIRE);
}

static void CUDA_CB wait_on_host(void *unused)
{
    (void)unused;
    while (get() == 0)
        (void)usleep(100);
}

static void block_by_function(CUstream stream)
{
    MUST(cuLaunchHostFunc(stream, wait_on_host, NULL));
}

static void block_by_value(CUstream stream)
{
    MUST(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

static void block(CUstream stream)
{
    set(0);
    block_by_value(stream);
}

static pthread_t start(void *(*run)(void *), void *data)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, data))
        exit(2);
    return thread;
}

/* A change of the kernel makes a profiler read the launches that it has not read yet. */
static void change(CUfunction f)
{
    MUST(cuFuncSetCacheConfig(f, CU_FUNC_CACHE_PREFER_L1));
}

/* ---- launches behind a blocked stream -------------------------------------------------------- */

/* The first launches write nothing. Memory is set after the one that does: it stays so. */
static void hidden(void)
{
    CUfunction reach;
    CUdeviceptr x;
    CUstream stream = make_stream();
    uint64_t hidden_x;
    unsigned n = 0;
    uint32_t found[N];
    void *params[] = {&hidden_x, &n};

    MUST(cuModuleGetFunction(&reach, module, "reach_hidden"));
    MUST(cuMemAlloc(&x, sizeof(found)));
    MUST(cuMemsetD32(x, 1, N));
    hidden_x = ~(uint64_t)x;
    for (int i = 0; i < KNOWN; i++)
        MUST(cuLaunchKernel(reach, 1, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    MUST(cuCtxSynchronize());
    n = N;
    block(stream);
    MUST(cuLaunchKernel(reach, 2, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    set(1);
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemsetD32(x, 100, N));
    change(reach);
    MUST(cuMemcpyDtoH(found, x, sizeof(found)));
    printf("hidden: %u\n", found[5]);
}

/* It is the first of so many threads, so its time is not known. Memory that is written after it
 * stays so. */
static void take_long(void)
{
    CUfunction compute;
    CUdeviceptr x;
    CUstream stream = make_stream();
    unsigned ms = 1;
    uint32_t value = 1000;
    void *params[] = {&x, &ms};

    MUST(cuModuleGetFunction(&compute, module, "compute_long"));
    MUST(cuMemAlloc(&x, 4));
    MUST(cuMemsetD32(x, 0, 1));
    for (int i = 0; i < KNOWN; i++)
        MUST(cuLaunchKernel(compute, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    MUST(cuCtxSynchronize());
    ms = LONG_MS;
    block(stream);
    MUST(cuLaunchKernel(compute, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
    set(1);
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyHtoD(x, &value, 4));
    change(compute);
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(&value, x, 4));
    printf("long: %u\n", value);
}

/* Work of a profiler's in the stream takes room, too: then the last launch would not return. */
static void many(void)
{
    CUstream stream = make_stream();
    struct numbers numbers = begin(stream);

    block(stream);
    launch_in(&numbers, NEARLY_FULL, stream);
    set(1);
    MUST(cuStreamSynchronize(stream));
    check("many", &numbers);
}

/* Nothing blocks the stream any more. */
static void rested(void)
{
    CUstream stream = make_stream();
    struct numbers numbers = begin(stream);

    block(stream);
    launch_in(&numbers, 1, stream);
    set(1);
    MUST(cuStreamSynchronize(stream));
    launch_in(&numbers, 2 * BEHIND, stream);
    check("rested", &numbers);
}

/* A wait for the GPU is made of naps. On a busy machine a wait with a limit has fewer of them. */
static unsigned naps;
static _Thread_local bool counts_naps;

int nanosleep(const struct timespec *time, struct timespec *left)
{
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);

    if (counts_naps)
        naps++;
    if (error)
        errno = error;
    return error ? -1 : 0;
}

/* In each cycle there is a launch behind the wait, of a kernel that takes some milliseconds, and
 * one when nothing runs. To wait for the first in each cycle would be in vain. */
static void in_cycles(void)
{
    enum { CYCLES = 40, MOST_NAPS = 2000 };
    CUfunction compute;
    CUdeviceptr x;
    CUstream stream = make_stream();
    struct numbers numbers = begin(stream);
    unsigned ms = 4;
    void *params[] = {&x, &ms};

    MUST(cuModuleGetFunction(&compute, module, "compute_long"));
    MUST(cuMemAlloc(&x, 4));
    MUST(cuMemsetD32(x, 0, 1));
    for (int i = 0; i < KNOWN + CYCLES; i++) {
        if (i >= KNOWN)
            block(stream);
        counts_naps = i >= KNOWN;
        MUST(cuLaunchKernel(compute, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
        counts_naps = false;
        set(1);
        MUST(cuStreamSynchronize(stream));
        launch_in(&numbers, 1, stream);
        MUST(cuStreamSynchronize(stream));
    }
    if (naps > MOST_NAPS)
        printf("cycles: %u naps\n", naps);
    check("cycles", &numbers);
}

/* ---- other threads --------------------------------------------------------------------------- */

static struct {
    CUstream stream;
    void (*block)(CUstream stream);
    bool begins, done; /* the call beside which threads work */
} other;

static void *block_soon(void *unused)
{
    (void)unused;
    MUST(cuCtxSetCurrent(context));
    while (!__atomic_load_n(&other.begins, __ATOMIC_ACQUIRE))
        ;
    (void)usleep(60000);
    other.block(other.stream);
    return NULL;
}

/* The first launch of a kernel is measured at once. The other stream's wait ends when the launch
 * has returned. */
static void beside_launch(const char *name, void (*block_it)(CUstream stream))
{
    CUstream stream = make_stream();
    struct numbers numbers = allocate();
    pthread_t thread;

    other.stream = make_stream();
    other.block = block_it;
    set(0);
    thread = start(block_soon, NULL);
    __atomic_store_n(&other.begins, true, __ATOMIC_RELEASE);
    launch_in(&numbers, 1, stream);
    set(1);
    (void)pthread_join(thread, NULL);
    MUST(cuCtxSynchronize());
    check(name, &numbers);
}

static void beside_launch_function(void)
{
    beside_launch("function", block_by_function);
}

static void beside_launch_value(void)
{
    beside_launch("value", block_by_value);
}

/* The wait ends when the change has returned. */
static void beside_change(void)
{
    CUstream stream = make_stream();
    struct numbers numbers = begin(stream);
    pthread_t thread;

    block(stream);
    launch_in(&numbers, 2, stream);
    set(1);
    MUST(cuStreamSynchronize(stream));
    other.stream = stream;
    other.block = block_by_function;
    set(0);
    thread = start(block_soon, NULL);
    __atomic_store_n(&other.begins, true, __ATOMIC_RELEASE);
    change(scale);
    set(1);
    (void)pthread_join(thread, NULL);
    MUST(cuStreamSynchronize(stream));
    check("change", &numbers);
}

/* In another context, where it waits for the host. */
static void *copy_and_wait(void *elsewhere)
{
    CUstream blocking;
    CUdeviceptr memory;
    uint32_t value;

    MUST(cuCtxSetCurrent(elsewhere));
    MUST(cuMemAlloc(&memory, 4));
    MUST(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    block_by_value(blocking);
    MUST(cuMemcpyDtoH(&value, memory, 4));
    return NULL;
}

static void *copy_there_and_back(void *data)
{
    const struct numbers *numbers = data;
    static float written[N], found[N];
    uintptr_t wrong = 0;

    MUST(cuCtxSetCurrent(context));
    for (unsigned round = 1; !__atomic_load_n(&other.done, __ATOMIC_ACQUIRE); round++) {
        for (int i = 0; i < N; i++)
            written[i] = (float)(round % 1000000);
        MUST(cuMemcpyHtoD(numbers->x, written, sizeof(written)));
        (void)usleep(500);
        MUST(cuMemcpyDtoH(found, numbers->x, sizeof(found)));
        wrong += memcmp(written, found, sizeof(found)) != 0;
    }
    return (void *)wrong;
}

/* The kernel waits for the host, in another stream than the launch behind it. A profiler that
 * leaves it out does not know it. */
static void *launch_behind_waits(void *data)
{
    struct numbers *numbers = data;
    CUstream waiting, stream;
    CUfunction wait;
    CUdeviceptr seen;
    void *memory, *params[2];

    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleGetFunction(&wait, module, "wait_for_flag"));
    MUST(cuMemAlloc(&seen, 4));
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    params[0] = &memory;
    params[1] = &seen;
    waiting = make_stream();
    stream = make_stream();
    while (!__atomic_load_n(&other.done, __ATOMIC_ACQUIRE)) {
        __atomic_store_n((uint32_t *)memory, 0, __ATOMIC_RELEASE);
        MUST(cuLaunchKernel(wait, 1, 1, 1, 32, 1, 1, 0, waiting, params, NULL));
        launch_in(numbers, 1, stream);
        __atomic_store_n((uint32_t *)memory, 1, __ATOMIC_RELEASE);
        MUST(cuStreamSynchronize(waiting));
        MUST(cuStreamSynchronize(stream));
    }
    return NULL;
}

/* A profiler has to read launches before the module goes. One thread waits in the driver until it
 * has gone, so it cannot hold up the other: its copies are not to be undone, nor is it to wait
 * until a kernel has ended that waits for it. */
static void unload_beside_thread(const char *name, void *(*work)(void *))
{
    CUfunction own = scale;
    CUcontext elsewhere;
    CUmodule going;
    pthread_t waiting, copying;
    struct numbers numbers;
    void *wrong;

    scale = load(&going, false);
    (void)begin(NULL);
    scale = own;
    numbers = begin(NULL);
    launch_in(&numbers, BEHIND, NULL);
    MUST(cuCtxSynchronize());
    MUST(cuCtxCreate_v2(&elsewhere, 0, 0));
    MUST(cuCtxSetCurrent(context));
    set(0);
    waiting = start(copy_and_wait, elsewhere);
    (void)usleep(100000); /* until it waits */
    copying = start(work, &numbers);
    MUST(cuModuleUnload(going));
    __atomic_store_n(&other.done, true, __ATOMIC_RELEASE);
    set(1);
    (void)pthread_join(copying, &wrong);
    (void)pthread_join(waiting, NULL);
    printf("%s: %lu copies are wrong\n", name, (unsigned long)(uintptr_t)wrong);
}

static void unload(void)
{
    unload_beside_thread("unload", copy_there_and_back);
}

static void unload_waiting(void)
{
    unload_beside_thread("unload_waiting", launch_behind_waits);
}

/* ---- contexts, modules ----------------------------------------------------------------------- */

/* In the last launches nothing is blocked any more. */
static void in_contexts(void)
{
    enum { ROUNDS = 3, LAUNCHES = 4 };
    CUstream streams[2] = {make_stream()};
    CUcontext contexts[2] = {context};
    CUfunction functions[2] = {scale};
    struct numbers numbers[2] = {begin(streams[0])};
    CUmodule loaded;

    MUST(cuCtxCreate_v2(&contexts[1], 0, 0));
    scale = functions[1] = load(&loaded, false);
    streams[1] = make_stream();
    numbers[1] = allocate();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            MUST(cuCtxSetCurrent(contexts[i]));
            scale = functions[i];
            if (i == 0)
                block(streams[0]);
            launch_in(&numbers[i], LAUNCHES, streams[i]);
        }
        MUST(cuStreamSynchronize(streams[1])); /* the first one is blocked all the while */
        set(1);
        MUST(cuCtxSetCurrent(context));
        MUST(cuCtxSynchronize());
    }
    MUST(cuCtxSetCurrent(contexts[1]));
    launch_in(&numbers[1], LAUNCHES, streams[1]);
    check("contexts", &numbers[1]);
    MUST(cuCtxSetCurrent(context));
    check("contexts", &numbers[0]);
}

/* The first launch waits for the host, and has ended when the other context gets its first. */
static void abandoned(void)
{
    CUstream stream = make_stream();
    CUfunction first = scale, wait;
    struct numbers numbers = allocate(), others;
    CUdeviceptr seen = numbers.x;
    CUcontext second;
    CUmodule loaded;
    void *params[] = {&flag, &seen};

    MUST(cuModuleGetFunction(&wait, module, "wait_for_flag"));
    set(0);
    MUST(cuLaunchKernel(wait, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    set(1);
    MUST(cuCtxSynchronize());
    MUST(cuMemsetD32(numbers.x, 0, N));
    MUST(cuCtxSynchronize());
    MUST(cuCtxCreate_v2(&second, 0, 0));
    scale = load(&loaded, false);
    others = allocate();
    launch_in(&others, KNOWN, NULL);
    check("abandoned", &others);
    MUST(cuCtxSetCurrent(context));
    scale = first;
    launch_in(&numbers, KNOWN, stream);
    check("abandoned", &numbers);
}

/* Its context is not the one that is blocked. */
static void unload_beside(void)
{
    CUstream stream = make_stream();
    CUfunction first = scale;
    struct numbers numbers, others;
    CUcontext second;
    CUmodule going;

    MUST(cuCtxCreate_v2(&second, 0, 0));
    scale = load(&going, false);
    others = begin(NULL);
    MUST(cuCtxSetCurrent(context));
    scale = first;
    numbers = begin(stream);
    block(stream);
    launch_in(&numbers, 1, stream);
    MUST(cuCtxSetCurrent(second));
    MUST(cuModuleUnload(going));
    set(1);
    MUST(cuCtxSetCurrent(context));
    MUST(cuCtxSynchronize());
    launch_in(&numbers, KNOWN, stream);
    check("unload_beside", &numbers);
    MUST(cuCtxSetCurrent(second));
    scale = load(&going, false);
    launch_in(&others, KNOWN, NULL);
    check("unload_beside", &others);
    MUST(cuCtxSetCurrent(context));
    scale = first;
}

/* Its context is not known any more as that of launches: another one has gone in between. */
static void unload_devices(void)
{
    CUcontext contexts[2], gone;
    CUmodule going[2];
    struct numbers numbers[2];

    for (int i = 0; i < 2; i++) {
        MUST(cuCtxCreate_v2(&contexts[i], 0, i));
        scale = load(&going[i], false);
        numbers[i] = begin(NULL);
    }
    MUST(cuCtxCreate_v2(&gone, 0, 0));
    MUST(cuCtxDestroy(gone));
    for (int i = 0; i < 2; i++) {
        MUST(cuCtxSetCurrent(contexts[i]));
        MUST(cuModuleUnload(going[i]));
        check("unload_devices", &numbers[i]);
    }
    MUST(cuCtxSetCurrent(context));
}

/* A kernel of which nobody knows that it ends. */
static void launch_unknown(void)
{
    CUfunction compute;
    CUdeviceptr x;
    unsigned ms = 0;
    void *params[] = {&x, &ms};

    MUST(cuModuleGetFunction(&compute, module, "compute_long"));
    MUST(cuMemAlloc(&x, 4));
    MUST(cuMemsetD32(x, 0, 1));
    MUST(cuCtxSynchronize());
    MUST(cuLaunchKernel(compute, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    MUST(cuCtxSynchronize());
}

/* The kernel that waits in the first context is not selected, and has the counters there. */
static void many_beside(void)
{
    enum { LAUNCHES = 1500 };
    CUstream stream = make_stream();
    CUfunction first = scale, known, wait;
    struct numbers numbers, others;
    CUcontext second;
    CUmodule loaded;
    CUdeviceptr seen;
    void *params[] = {&flag, &seen};

    MUST(cuCtxCreate_v2(&second, 0, 0));
    scale = known = load(&loaded, false);
    others = begin(NULL);
    MUST(cuCtxSetCurrent(context));
    scale = first;
    numbers = begin(stream);
    MUST(cuMemAlloc(&seen, 4));
    MUST(cuModuleGetFunction(&wait, module, "wait_for_flag"));
    set(0);
    MUST(cuLaunchKernel(wait, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    MUST(cuCtxSetCurrent(second));
    scale = known;
    launch_in(&others, LAUNCHES, NULL);
    check("many_beside", &others);
    set(1);
    MUST(cuCtxSetCurrent(context));
    scale = first;
    check("many_beside", &numbers);
    launch_unknown();
}

/* A parameter leads to its variable, which the kernel does not use. */
static void of_variable(void)
{
    CUstream stream = make_stream();
    CUmodule going;
    CUdeviceptr state;
    size_t bytes;
    unsigned n = 0;
    float factor = 1;
    void *params[] = {&state, &n, &factor};

    (void)load(&going, false);
    MUST(cuModuleGetGlobal(&state, &bytes, going, "state"));
    (void)begin(stream);
    block(stream);
    MUST(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    printf("variable: %d", cuModuleUnload(going));
    set(1);
    printf(", %d\n", cuCtxSynchronize());
}

/* The kernel is one of a library. Nothing of the module is used. */
static void of_library(void)
{
    CUstream stream = make_stream();
    struct numbers numbers;
    CUlibrary library;
    CUkernel kernel;
    CUmodule going;
    void *built = image(false);

    MUST(cuLibraryLoadData(&library, built, NULL, NULL, 0, NULL, NULL, 0));
    free(built);
    MUST(cuLibraryGetKernel(&kernel, library, "scale_in_place"));
    (void)load(&going, false);
    MUST(cuKernelGetFunction(&scale, kernel));
    numbers = begin(stream);
    block(stream);
    launch_in(&numbers, 1, stream);
    printf("library: %d", cuModuleUnload(going));
    set(1);
    printf(", %d\n", cuCtxSynchronize());
    check("library", &numbers);
}

/* ---- managed variables ----------------------------------------------------------------------- */

static void *write_on_host(void *variable)
{
    volatile uint32_t *counter = variable;
    uint32_t written = *counter = 1;
    uintptr_t lost = 0;

    __atomic_store_n(&other.begins, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&other.done, __ATOMIC_ACQUIRE)) {
        lost += *counter != written;
        *counter = ++written;
    }
    return (void *)lost;
}

/* No kernel uses the variable. It is written while a profiler reads launches that have ended. */
static void on_host_too(const char *name, bool blocked)
{
    CUstream stream = make_stream();
    CUmodule with_managed;
    CUdeviceptr counter;
    struct numbers numbers;
    pthread_t thread;
    size_t bytes;
    void *lost;

    scale = load(&with_managed, true);
    MUST(cuModuleGetGlobal(&counter, &bytes, with_managed, "counter"));
    numbers = begin(stream);
    if (blocked)
        block(stream);
    launch_in(&numbers, BEHIND, stream);
    set(1);
    MUST(cuCtxSynchronize());
    thread = start(write_on_host, (void *)(uintptr_t)counter);
    while (!__atomic_load_n(&other.begins, __ATOMIC_ACQUIRE))
        ;
    change(scale);
    __atomic_store_n(&other.done, true, __ATOMIC_RELEASE);
    (void)pthread_join(thread, &lost);
    printf("%s: %lu writes are lost\n", name, (unsigned long)(uintptr_t)lost);
    check(name, &numbers);
}

static void managed(void)
{
    on_host_too("managed", false);
}

static void managed_blocked(void)
{
    on_host_too("managed_blocked", true);
}

/* Another GPU writes the rest of the memory, which launches here reach and do not use: by copies,
 * or because the memory is managed. All of that is in flight while they are measured. */
static void beside_gpu(const char *name, bool is_managed)
{
    enum { MORE = 120 };
    uint32_t found[MORE], lost = 0;
    struct numbers numbers = {0};
    CUdeviceptr source;
    CUcontext there;

    if (is_managed)
        MUST(cuMemAllocManaged(&numbers.x, 4 * (N + MORE), CU_MEM_ATTACH_GLOBAL));
    else
        MUST(cuMemAlloc(&numbers.x, 4 * (N + MORE)));
    MUST(cuMemsetD32(numbers.x, 0, N + MORE));
    launch_in(&numbers, KNOWN, NULL);
    MUST(cuCtxSynchronize());
    MUST(cuCtxCreate_v2(&there, 0, 1));
    MUST(cuMemAlloc(&source, 4));
    MUST(cuMemsetD32(source, 7, 1));
    MUST(cuCtxSynchronize());
    CUstream stream = make_stream();
    for (unsigned i = 0; i < MORE; i++) {
        CUdeviceptr to = numbers.x + 4 * (N + i);
        MUST(is_managed ? cuMemsetD32Async(to, 7, 1, stream)
                        : cuMemcpyPeerAsync(to, context, source, there, 4, stream));
    }
    MUST(cuCtxSetCurrent(context));
    launch_in(&numbers, KNOWN, NULL);
    MUST(cuCtxSynchronize());
    MUST(cuCtxSetCurrent(there));
    MUST(cuStreamSynchronize(stream));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemcpyDtoH(found, numbers.x + 4 * N, sizeof(found)));
    for (unsigned i = 0; i < MORE; i++)
        lost += found[i] != 7;
    printf("%s: %u words are lost\n", name, lost);
    check(name, &numbers);
}

static void copied_from_gpu(void)
{
    beside_gpu("copied_from_gpu", false);
}

static void managed_by_gpu(void)
{
    beside_gpu("managed_by_gpu", true);
}

static void run(const char *which)
{
    static const struct program_case cases[] = {{"hidden", hidden},
                                                {"long", take_long},
                                                {"many", many},
                                                {"rested", rested},
                                                {"cycles", in_cycles},
                                                {"function", beside_launch_function},
                                                {"value", beside_launch_value},
                                                {"change", beside_change},
                                                {"unload", unload},
                                                {"unload_waiting", unload_waiting},
                                                {"contexts", in_contexts},
                                                {"abandoned", abandoned},
                                                {"unload_beside", unload_beside},
                                                {"unload_devices", unload_devices},
                                                {"many_beside", many_beside},
                                                {"variable", of_variable},
                                                {"library", of_library},
                                                {"managed", managed},
                                                {"managed_blocked", managed_blocked},
                                                {"copied_from_gpu", copied_from_gpu},
                                                {"managed_by_gpu", managed_by_gpu},
                                                {0}};

    memset(&other, 0, sizeof(other));
    run_case(cases, which);
}

int main(int argc, char **argv)
{
    void *memory;

    (void)alarm(60);
    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    scale = load(&module, false);
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&flag, memory, 0));
    on_host = memory;
    for (int i = 1; i < argc; i++)
        run(argv[i]);
    return 0;
}
