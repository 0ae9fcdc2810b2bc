/* blocked_linked [SECONDS] CASE...: launches that cannot run before the program goes on, twenty
 * times each. In the cases "value", "event" and "function" they stand in a stream behind a wait for
 * a value, for an event of a stream that waits for one, or behind a host function that waits. In
 * the case "host" a kernel itself waits for the host, in the case "released" the host has let
 * that end, in the case "consumer" it waits for a kernel that is launched after it. A profiler may
 * wait in vain, but not long, and not at each of them: an alarm ends the program after SECONDS
 * (60). Behind each case there are launches of an ordinary kernel. */
#include <unistd.h>

#include "programs/cases.h"
#include "programs/linked.h"
#include "programs/snippets.h"

enum { ROUNDS = 20, ORDINARY = 3, N = 64 };

struct blocked {
    CUfunction scale, wait, ordinary;
    CUstream stream, other;
    CUevent event;
    CUdeviceptr numbers, seen, flag; /* the flag in memory of the host */
    volatile uint32_t *on_host;
};

static void launch_of(CUfunction f, CUdeviceptr numbers, CUstream stream)
{
    unsigned n = 1;
    float factor = 2;
    void *params[] = {&numbers, &n, &factor};

    MUST(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
}

static void launch_scale(const struct blocked *b, CUdeviceptr numbers, CUstream stream)
{
    launch_of(b->scale, numbers, stream);
}

static void launch_wait(const struct blocked *b, CUdeviceptr flag)
{
    CUdeviceptr seen = b->seen;
    void *params[] = {&flag, &seen};

    MUST(cuLaunchKernel(b->wait, 1, 1, 1, 32, 1, 1, 0, b->stream, params, NULL));
}

static void set(const struct blocked *b, uint32_t value)
{
    __atomic_store_n(b->on_host, value, __ATOMIC_RELEASE);
}

static void CUDA_CB wait_on_host(void *data)
{
    const struct blocked *b = data;

    while (__atomic_load_n(b->on_host, __ATOMIC_ACQUIRE) == 0)
        (void)usleep(100);
}

static void block_by_value(struct blocked *b)
{
    MUST(cuStreamWaitValue32(b->stream, b->flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    launch_scale(b, b->numbers, b->stream);
}

static void block_by_event(struct blocked *b)
{
    MUST(cuStreamWaitValue32(b->other, b->flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    MUST(cuEventRecord(b->event, b->other));
    MUST(cuStreamWaitEvent(b->stream, b->event, 0));
    launch_scale(b, b->numbers, b->stream);
}

static void block_by_function(struct blocked *b)
{
    MUST(cuLaunchHostFunc(b->stream, wait_on_host, b));
    launch_scale(b, b->numbers, b->stream);
}

static void block_by_kernel(struct blocked *b)
{
    launch_wait(b, b->flag);
    launch_scale(b, b->numbers, b->stream);
}

/* Between two rounds nothing is under way. */
static void repeat(struct blocked *b, const char *what, void (*block)(struct blocked *))
{
    float number = 0, expected = 0;

    MUST(cuMemsetD32(b->numbers, 0, 1));
    MUST(cuCtxSynchronize());
    for (unsigned i = 0; i < ROUNDS; i++) {
        set(b, 0);
        block(b);
        set(b, 1);
        MUST(cuStreamSynchronize(b->stream));
        expected = 2 * expected + 1;
    }
    MUST(cuMemcpyDtoH(&number, b->numbers, sizeof(number)));
    expect(number == expected, what);
    printf("%s: %g\n", what, (double)number);
}

/* The host lets the kernel end, and goes on at once. */
static void release_kernel(struct blocked *b)
{
    launch_wait(b, b->flag);
    set(b, 1);
    launch_scale(b, b->numbers, b->stream);
}

/* The flag of each round lies in memory of the GPU, and its producer is launched after it. */
static void consumer(struct blocked *b)
{
    uint32_t seen = 0;
    CUdeviceptr flag;

    MUST(cuMemAlloc(&flag, 4));
    for (unsigned i = 0; i < ROUNDS; i++) {
        MUST(cuMemsetD32(flag, 0, 1));
        MUST(cuCtxSynchronize());
        launch_wait(b, flag);
        launch_scale(b, flag, b->other);
        MUST(cuStreamSynchronize(b->stream));
    }
    MUST(cuMemcpyDtoH(&seen, b->seen, sizeof(seen)));
    expect(seen == 0x3f800000, "consumer");
    printf("consumer: saw %x\n", seen);
}

static void ordinary(const struct blocked *b)
{
    MUST(cuCtxSynchronize());
    for (unsigned i = 0; i < ORDINARY; i++)
        launch_of(b->ordinary, b->numbers, b->stream);
    MUST(cuStreamSynchronize(b->stream));
}

static void begin(struct blocked *b)
{
    CUcontext context;
    CUmodule module;
    void *image, *memory;
    size_t size;

    MUST(cuInit(0));
    MUST(cuCtxCreate_v2(&context, 0, 0));
    image = snippets_image(&size);
    MUST(cuModuleLoadData(&module, image));
    free(image);
    MUST(cuModuleGetFunction(&b->scale, module, "scale_in_place"));
    MUST(cuModuleGetFunction(&b->wait, module, "wait_for_flag"));
    MUST(cuModuleGetFunction(&b->ordinary, module, "ordinary"));
    MUST(cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&b->other, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&b->event, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&b->numbers, 4 * N));
    MUST(cuMemAlloc(&b->seen, 4));
    MUST(cuMemHostAlloc(&memory, 4, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetDevicePointer(&b->flag, memory, 0));
    b->on_host = memory;
}

int main(int argc, char **argv)
{
    static struct blocked b;

    (void)alarm(60);
    begin(&b);
    for (int i = 1; i < argc; i++) {
        if (sets_alarm(argv[i]))
            continue;
        if (strcmp(argv[i], "value") == 0)
            repeat(&b, argv[i], block_by_value);
        else if (strcmp(argv[i], "event") == 0)
            repeat(&b, argv[i], block_by_event);
        else if (strcmp(argv[i], "function") == 0)
            repeat(&b, argv[i], block_by_function);
        else if (strcmp(argv[i], "host") == 0)
            repeat(&b, argv[i], block_by_kernel);
        else if (strcmp(argv[i], "released") == 0)
            repeat(&b, argv[i], release_kernel);
        else
            consumer(&b);
        ordinary(&b);
    }
    (void)alarm(60); /* the end is no part of it */
    return 0;
}
