/*
 * green_linked: launches in a green context, before those in the primary context, between them and
 * behind them: with the green context current, and into a stream of it while the primary one is.
 * The memory that a launch updates was allocated while the other kind of context was current, and
 * so was the module loaded whose variable a kernel counts in.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

enum { N = 256, ROUNDS = 4 };

static CUcontext primary, green_context;
static CUgreenCtx green;
static CUdeviceptr ours, theirs; /* allocated in the primary context, in the green one */
static CUfunction scale, count;
static CUmodule counting;
static float expected;
static uint32_t counted;

static CUfunction load(CUmodule *module, const char *name)
{
    CUfunction f;
    size_t size;
    void *image = snippets_image_managed(&size);

    MUST(cuModuleLoadData(module, image));
    MUST(cuModuleGetFunction(&f, *module, name));
    free(image);
    return f;
}

static void update(CUdeviceptr x, CUstream stream)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&x, &n, &factor};

    MUST(cuLaunchKernel(scale, 2, 1, 1, 128, 1, 1, 0, stream, params, NULL));
}

static void show(const char *what, CUdeviceptr x)
{
    float seen[N];

    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(seen, x, sizeof(seen)));
    for (int i = 0; i < N; i++)
        expect(seen[i] == expected, what);
    printf("%s: %g\n", what, (double)seen[0]);
}

static void each_in(const char *what, CUcontext context, CUstream stream)
{
    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++) {
        update(ours, stream);
        update(theirs, stream);
        if (stream)
            MUST(cuStreamSynchronize(stream));
        expected = 2 * expected + 1;
    }
    show(what, ours);
    show(what, theirs);
}

/* A kernel that counts its threads in a variable of its module. */
static void count_in(CUcontext context)
{
    CUdeviceptr counter;
    uint32_t seen = 0;
    size_t size;

    MUST(cuCtxSetCurrent(context));
    for (int i = 0; i < ROUNDS; i++)
        MUST(cuLaunchKernel(count, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    MUST(cuCtxSynchronize());
    MUST(cuModuleGetGlobal(&counter, &size, counting, "counter"));
    MUST(cuMemcpyDtoH(&seen, counter, sizeof(seen)));
    counted += 32 * ROUNDS;
    expect(seen == counted, "counted");
    printf("counted: %u\n", seen);
}

int main(void)
{
    CUmodule module;
    CUstream stream;

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&primary, 0));
    MUST(cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MUST(cuCtxFromGreenCtx(&green_context, green));
    MUST(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    MUST(cuCtxSetCurrent(primary));
    MUST(cuMemAlloc(&ours, 4 * N));
    MUST(cuMemsetD32(ours, 0, N));
    scale = load(&module, "scale_in_place");
    MUST(cuCtxSynchronize());
    MUST(cuCtxSetCurrent(green_context));
    count = load(&counting, "global_counter");
    MUST(cuMemAlloc(&theirs, 4 * N));
    MUST(cuMemsetD32(theirs, 0, N));
    MUST(cuCtxSynchronize());

    each_in("green", green_context, NULL);
    each_in("primary", primary, NULL);
    each_in("its stream", primary, stream);
    each_in("its own stream", green_context, stream);
    count_in(primary);
    count_in(green_context);
    MUST(cuCtxSetCurrent(primary));
    MUST(cuStreamDestroy(stream));
    MUST(cuGreenCtxDestroy(green));
    each_in("without", primary, NULL);
    MUST(cuDevicePrimaryCtxRelease(0));
    return 0;
}
