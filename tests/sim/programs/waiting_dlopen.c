/* waiting_dlopen CASE...: a kernel that ends only when a flag is set: the host, in pinned
 * memory, or a copy in another stream. A profiler that waits for the kernel at its launch waits
 * for ever; an alarm ends that after 30 seconds. In the case "left" nobody sets it: the program
 * ends. In the case "beside" another kernel is launched beside the one that waits. In the case
 * "set" the flag is there before the kernel, and in the case "wide" before two warps of it. In the
 * case "copied" a thread waits for the kernel in a copy while others are launched. In the case
 * "queued" more is launched behind it than the driver takes, and in the case "destroyed" its
 * context is destroyed, until a thread sets the flag by a copy elsewhere. In the case "answered" a
 * thread sets the flag once and takes it back when the kernel has seen it, and again when it is
 * known how long the launch took; in the case "answered_late" the kernel takes long before. In the
 * case "scale" it is a kernel that waits for nothing; in the case "long" one that takes 0.4 s by
 * itself, and in the case "polling" another such, of which nobody can know that. In the case
 * "then_written" the flag is there, and memory is written right behind the launch. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "programs/snippets.h"

static void set_by_host(struct work *w, CUstream stream)
{
    CUdeviceptr flag, seen = allocate(w, 4);
    volatile uint32_t *on_host;
    uint32_t answer = 0;
    void *params[] = {&flag, &seen};
    void *memory;

    MUST(w->gpu->MemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(w->gpu->MemHostGetDevicePointer(&flag, memory, 0));
    on_host = memory;
    *on_host = 0;
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, stream, params);
    printf("launched, %s\n",
           w->gpu->StreamQuery(stream) == CUDA_ERROR_NOT_READY ? "running" : "done already");
    (void)usleep(20000);
    __atomic_store_n(on_host, 7u, __ATOMIC_RELEASE);
    MUST(w->gpu->StreamSynchronize(stream));
    download(w, &answer, seen, 4);
    expect(answer == 7, "host");
    printf("ended, saw %u\n", answer);
    MUST(w->gpu->MemFreeHost(memory));
}

struct waiting {
    CUdeviceptr flag, seen; /* the flag that the kernel waits for, and the value that it has seen */
};

/* Launches a kernel that waits for its flag, which has this value now, to be other than 0. */
static struct waiting launch_waiting(struct work *w, CUstream stream, unsigned value,
                                     unsigned threads)
{
    struct waiting kernel = {allocate(w, 4), allocate(w, 4)};
    void *params[] = {&kernel.flag, &kernel.seen};

    MUST(w->gpu->MemsetD32(kernel.flag, value, 1));
    MUST(w->gpu->CtxSynchronize()); /* the other streams do not wait for it */
    launch(w, "wait_for_flag", 1, 1, threads, 1, 0, stream, params);
    return kernel;
}

static void set_by_stream(struct work *w, CUstream stream)
{
    struct waiting kernel;
    uint32_t answer = 0;
    CUstream other;

    MUST(w->gpu->StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    kernel = launch_waiting(w, stream, 0, 32);
    MUST(w->gpu->MemsetD32Async(kernel.flag, 9, 1, other));
    MUST(w->gpu->StreamSynchronize(stream));
    download(w, &answer, kernel.seen, 4);
    expect(answer == 9, "stream");
    printf("ended, saw %u\n", answer);
}

static void scale(struct work *w, CUstream stream)
{
    CUdeviceptr numbers = allocate(w, 4 * 64);
    unsigned n = 64;
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    /* In this stream alone: in the case "beside" a kernel in another one still waits. The GPU is
     * idle at the launch, where it is not that kernel's. */
    MUST(w->gpu->MemsetD32Async(numbers, 0, n, stream));
    MUST(w->gpu->StreamSynchronize(stream));
    launch(w, "scale_in_place", 1, 1, n, 1, 0, stream, params);
    MUST(w->gpu->StreamSynchronize(stream));
    printf("scaled\n");
}

static void take_long(struct work *w, CUstream stream, const char *kernel)
{
    CUdeviceptr x = allocate(w, 4);
    unsigned ms = 400;
    uint32_t answer = 0;
    void *params[] = {&x, &ms};

    MUST(w->gpu->MemsetD32(x, 3, 1));
    MUST(w->gpu->CtxSynchronize());
    launch(w, kernel, 1, 1, 32, 1, 0, stream, params);
    MUST(w->gpu->StreamSynchronize(stream));
    download(w, &answer, x, 4);
    expect(answer == 7, kernel);
    printf("took long\n");
}

static void set_before(struct work *w, CUstream stream, unsigned threads)
{
    (void)launch_waiting(w, stream, 5, threads);
    MUST(w->gpu->StreamSynchronize(stream));
    printf("did not wait\n");
}

static void beside(struct work *w, CUstream stream)
{
    struct waiting kernel;
    CUstream other;

    MUST(w->gpu->StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    kernel = launch_waiting(w, stream, 0, 32);
    scale(w, other);
    MUST(w->gpu->MemsetD32Async(kernel.flag, 9, 1, other));
    MUST(w->gpu->CtxSynchronize());
    printf("ended\n");
}

static void full(struct work *w, CUstream stream)
{
    struct waiting kernel;
    CUdeviceptr much;
    CUstream other;

    MUST(w->gpu->StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    kernel = launch_waiting(w, stream, 0, 32);
    printf("much memory: %d\n", (int)w->gpu->MemAlloc(&much, (size_t)1 << 40));
    MUST(w->gpu->MemsetD32Async(kernel.flag, 4, 1, other));
    MUST(w->gpu->CtxSynchronize());
    printf("ended\n");
}

struct copy {
    struct work *work;
    CUcontext context;
    CUdeviceptr from;
};

static void *copy_one(void *argument)
{
    struct copy *copy = argument;
    uint32_t answer = 0;

    MUST(copy->work->gpu->CtxSetCurrent(copy->context));
    download(copy->work, &answer, copy->from, 4);
    expect(answer == 3, "copied");
    return NULL;
}

static void copied(struct work *w, CUstream stream)
{
    struct copy copy = {.work = w, .from = allocate(w, 4)};
    CUdeviceptr flag, numbers = allocate(w, 4 * 64);
    unsigned n = 64;
    float factor = 2;
    void *params[] = {&flag, &copy.from}, *scale_params[] = {&numbers, &n, &factor};
    void *memory;
    pthread_t thread;

    MUST(w->gpu->DevicePrimaryCtxRetain(&copy.context, 0));
    MUST(w->gpu->MemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(w->gpu->MemHostGetDevicePointer(&flag, memory, 0));
    *(volatile uint32_t *)memory = 0;
    MUST(w->gpu->MemsetD32(numbers, 0, n));
    MUST(w->gpu->CtxSynchronize()); /* the other streams do not wait for it */
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, NULL, params);
    if (pthread_create(&thread, NULL, copy_one, &copy) != 0)
        exit(2);
    (void)usleep(20000);
    for (int i = 0; i < 100; i++)
        launch(w, "scale_in_place", 1, 1, n, 1, 0, stream, scale_params);
    __atomic_store_n((uint32_t *)memory, 3u, __ATOMIC_RELEASE);
    if (pthread_join(thread, NULL) != 0)
        exit(2);
    printf("copied\n");
    MUST(w->gpu->MemFreeHost(memory));
    MUST(w->gpu->DevicePrimaryCtxRelease(0));
}

struct setter {
    struct work *work;
    CUcontext context;
    CUdeviceptr flag;
    unsigned launched;
};

/* Sets the flag once nothing has been launched for a while. */
static void *set_later(void *argument)
{
    struct setter *s = argument;
    const struct gpu *gpu = s->work->gpu;
    unsigned seen, now = 0;
    CUstream other;

    MUST(gpu->CtxSetCurrent(s->context));
    MUST(gpu->StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    do {
        seen = now;
        (void)usleep(500000);
        now = __atomic_load_n(&s->launched, __ATOMIC_ACQUIRE);
    } while (now != seen);
    MUST(gpu->MemsetD32Async(s->flag, 6, 1, other));
    MUST(gpu->StreamSynchronize(other));
    MUST(gpu->StreamDestroy(other));
    return NULL;
}

static void queued(struct work *w, CUstream stream)
{
    enum { BEHIND = 1100 };
    struct setter setter = {.work = w, .flag = allocate(w, 4), .launched = 1};
    CUdeviceptr seen = allocate(w, 4), numbers = allocate(w, 4 * 64);
    unsigned n = 64;
    float factor = 2, expected = 0, last[64];
    void *params[] = {&setter.flag, &seen}, *scale_params[] = {&numbers, &n, &factor};
    pthread_t thread;

    MUST(w->gpu->DevicePrimaryCtxRetain(&setter.context, 0));
    MUST(w->gpu->MemsetD32(setter.flag, 0, 1));
    MUST(w->gpu->MemsetD32(numbers, 0, n));
    MUST(w->gpu->CtxSynchronize()); /* the other streams do not wait for it */
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, stream, params);
    if (pthread_create(&thread, NULL, set_later, &setter) != 0)
        exit(2);
    for (int i = 0; i < BEHIND; i++) {
        launch(w, "scale_in_place", 1, 1, n, 1, 0, stream, scale_params);
        (void)__atomic_fetch_add(&setter.launched, 1, __ATOMIC_ACQ_REL);
        expected = expected * factor + 1;
    }
    if (pthread_join(thread, NULL) != 0)
        exit(2);
    MUST(w->gpu->StreamSynchronize(stream));
    download(w, last, numbers, sizeof(last));
    expect(last[63] == expected, "queued");
    printf("queued\n");
    MUST(w->gpu->DevicePrimaryCtxRelease(0));
}

/* The flag lies in page-locked memory, which the kernel's context does not own. */
static void destroyed(struct work *w)
{
    struct setter setter = {.work = w, .launched = 1};
    struct work other = {.gpu = w->gpu};
    CUcontext context;
    CUdeviceptr flag, seen;
    void *params[] = {&flag, &seen}, *memory, *image;
    pthread_t thread;
    size_t size;

    MUST(w->gpu->DevicePrimaryCtxRetain(&setter.context, 0));
    MUST(w->gpu->MemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    *(volatile uint32_t *)memory = 0;
    MUST(w->gpu->MemHostGetDevicePointer(&setter.flag, memory, 0));
    MUST(w->gpu->CtxCreate(&context, 0, 0));
    MUST(w->gpu->MemHostGetDevicePointer(&flag, memory, 0));
    MUST(w->gpu->MemAlloc(&seen, 4));
    image = snippets_image(&size);
    MUST(w->gpu->ModuleLoadData(&other.module, image));
    free(image);
    launch(&other, "wait_for_flag", 1, 1, 32, 1, 0, NULL, params);
    if (pthread_create(&thread, NULL, set_later, &setter) != 0)
        exit(2);
    MUST(w->gpu->CtxDestroy(context));
    if (pthread_join(thread, NULL) != 0)
        exit(2);
    printf("destroyed\n");
    MUST(w->gpu->CtxSetCurrent(setter.context));
    MUST(w->gpu->MemFreeHost(memory));
    MUST(w->gpu->DevicePrimaryCtxRelease(0));
}

/* The flag, the value that the kernel has seen, and how long to wait. */
static void *answer_once(void *argument)
{
    uint32_t *words = argument;

    (void)usleep(words[2]);
    __atomic_store_n(&words[0], 7u, __ATOMIC_RELEASE);
    while (__atomic_load_n(&words[1], __ATOMIC_ACQUIRE) == 0)
        ;
    __atomic_store_n(&words[0], 0u, __ATOMIC_RELEASE);
    __atomic_store_n(&words[1], 0u, __ATOMIC_RELEASE);
    return NULL;
}

/* Run again by gpuprof the kernel waits, and finds all memory as it was. */
/* A kernel of another module, which is unloaded when both have ended. */
static CUmodule module_beside;

static void run_beside(struct work *w)
{
    struct work other = *w;
    CUstream stream;
    size_t size;
    void *image = snippets_image(&size);

    MUST(w->gpu->ModuleLoadData(&module_beside, image));
    free(image);
    other.module = module_beside;
    MUST(w->gpu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    launch(&other, "noop", 1, 1, 32, 1, 0, stream, NULL);
}

static void unload_beside(const struct work *w)
{
    MUST(w->gpu->CtxSynchronize());
    MUST(w->gpu->ModuleUnload(module_beside));
}

static void answered(struct work *w, CUstream stream, uint32_t after_us)
{
    CUdeviceptr flag, seen, much = allocate(w, 64 << 20); /* so that it takes time to find that */
    void *params[] = {&flag, &seen}, *memory;
    struct timespec before, after;
    pthread_t thread;

    MUST(w->gpu->MemsetD32(much, 1, 16 << 20));
    MUST(w->gpu->CtxSynchronize()); /* the other streams do not wait for it */
    MUST(w->gpu->MemHostAlloc(&memory, 12, CU_MEMHOSTALLOC_DEVICEMAP));
    memcpy(memory, (uint32_t[3]){0, 0, after_us}, 12);
    MUST(w->gpu->MemHostGetDevicePointer(&flag, memory, 0));
    seen = flag + 4;
    if (pthread_create(&thread, NULL, answer_once, memory) != 0)
        exit(2);
    (void)clock_gettime(CLOCK_MONOTONIC, &before);
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, stream, params);
    (void)clock_gettime(CLOCK_MONOTONIC, &after);
    if (pthread_join(thread, NULL) != 0)
        exit(2);
    run_beside(w);
    __atomic_store_n((uint32_t *)memory, 9u, __ATOMIC_RELEASE);
    MUST(w->gpu->StreamSynchronize(stream));
    unload_beside(w);
    printf("answered%s\n", after.tv_sec - before.tv_sec > 30 ? ", late" : "");
    MUST(w->gpu->MemFreeHost(memory));
}

/* The flag is there, in memory of the GPU, and memory is written after the launch. The end of its
 * stream is one of the launch. */
static void then_written(struct work *w)
{
    CUdeviceptr flag = allocate(w, 4), seen = allocate(w, 4);
    void *params[] = {&flag, &seen};
    CUstream stream, other;
    uint32_t value = 0;

    MUST(w->gpu->StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(w->gpu->StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    MUST(w->gpu->MemsetD32(flag, 7, 1));
    MUST(w->gpu->CtxSynchronize());
    launch(w, "wait_for_flag", 1, 1, 32, 1, 0, stream, params);
    MUST(w->gpu->StreamSynchronize(stream));
    MUST(w->gpu->StreamDestroy(stream));
    MUST(w->gpu->MemsetD32Async(seen, 9, 1, other));
    MUST(w->gpu->CtxSynchronize());
    MUST(w->gpu->MemcpyDtoH(&value, seen, 4));
    printf("written, %u\n", value);
    MUST(w->gpu->StreamDestroy(other));
}

static void left(struct work *w, CUstream stream)
{
    (void)launch_waiting(w, stream, 0, 32);
    printf("left\n");
    exit(0);
}

int main(int argc, char **argv)
{
    struct gpu gpu;
    struct work w = {.gpu = &gpu};
    CUstream stream;

    (void)alarm(30);
    gpu_from_dlsym(&gpu);
    snippets_open(&w);
    MUST(gpu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "host") == 0)
            set_by_host(&w, stream);
        else if (strcmp(argv[i], "stream") == 0)
            set_by_stream(&w, stream);
        else if (strcmp(argv[i], "scale") == 0)
            scale(&w, stream);
        else if (strcmp(argv[i], "long") == 0)
            take_long(&w, stream, "compute_long");
        else if (strcmp(argv[i], "polling") == 0)
            take_long(&w, stream, "poll_long");
        else if (strcmp(argv[i], "copied") == 0)
            copied(&w, stream);
        else if (strcmp(argv[i], "answered") == 0)
            answered(&w, stream, 50000);
        else if (strcmp(argv[i], "answered_late") == 0)
            answered(&w, stream, 400000);
        else if (strcmp(argv[i], "queued") == 0)
            queued(&w, stream);
        else if (strcmp(argv[i], "destroyed") == 0)
            destroyed(&w);
        else if (strcmp(argv[i], "full") == 0)
            full(&w, stream);
        else if (strcmp(argv[i], "set") == 0)
            set_before(&w, stream, 32);
        else if (strcmp(argv[i], "wide") == 0)
            set_before(&w, stream, 64);
        else if (strcmp(argv[i], "then_written") == 0)
            then_written(&w);
        else if (strcmp(argv[i], "beside") == 0)
            beside(&w, stream);
        else if (strcmp(argv[i], "again") == 0) { /* the kernels are loaded again */
            snippets_close(&w);
            snippets_open(&w);
        } else
            left(&w, stream);
    }
    snippets_close(&w);
    return 0;
}
