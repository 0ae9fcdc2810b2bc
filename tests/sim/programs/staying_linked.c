/*
 * staying_linked CASE...: the primary context is to go, by a call that fails or that is not its
 * last user's, and stays. Meanwhile a stream of it is being captured. In the case "at_work" a
 * function is changed while a kernel waits for a flag. Each launch makes x = 2 * x + 1 of every
 * element.
 */
#include "programs/linked.h"
#include "programs/snippets.h"

enum { N = 1000, ROUNDS = 6 };

static CUcontext context;
static CUstream stream;
static CUfunction f;
static CUdeviceptr x;
static float expected;

static void launch_into(CUstream s)
{
    unsigned n = N;
    float factor = 2;
    void *params[] = {&x, &n, &factor};

    MUST(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, s, params, NULL));
    expected = 2 * expected + 1;
}

/* A green context keeps the primary one. */
static void released(void)
{
    CUgreenCtx green;

    MUST(cuGreenCtxCreate(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    MUST(cuDevicePrimaryCtxRelease(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuGreenCtxDestroy(green));
}

static void destroyed(void)
{
    expect(cuCtxDestroy(context) != CUDA_SUCCESS, "a primary context is not destroyed");
}

static void while_captured(const char *name, void (*asks_to_go)(void))
{
    CUstream beside;
    CUgraph graph;
    CUgraphExec exec;
    float seen[N];

    MUST(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    for (int round = 0; round < ROUNDS; round++) {
        launch_into(NULL);
        MUST(cuCtxSynchronize());
        MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
        asks_to_go();
        launch_into(stream);
        launch_into(beside);
        MUST(cuStreamSynchronize(beside));
        MUST(cuStreamEndCapture(stream, &graph));
        MUST(cuGraphInstantiateWithFlags(&exec, graph, 0));
        MUST(cuGraphLaunch(exec, stream));
        MUST(cuStreamSynchronize(stream));
        MUST(cuGraphExecDestroy(exec));
        MUST(cuGraphDestroy(graph));
    }
    MUST(cuMemcpyDtoH(seen, x, sizeof(seen)));
    for (int i = 0; i < N; i++)
        expect(seen[i] == expected, name);
    printf("%s: %g\n", name, (double)expected);
}

/* Nobody sets the flag before the function is changed. */
static void at_work(const void *image)
{
    CUstream beside;
    CUmodule module;
    CUfunction wait;
    CUdeviceptr flag, seen;
    void *params[] = {&flag, &seen};

    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&wait, module, "wait_for_flag"));
    MUST(cuMemAlloc(&flag, 4));
    MUST(cuMemAlloc(&seen, 4));
    MUST(cuMemsetD32(flag, 0, 1));
    MUST(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < ROUNDS; i++)
        launch_into(NULL);
    MUST(cuCtxSynchronize());
    MUST(cuLaunchKernel(wait, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    MUST(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    MUST(cuMemsetD32Async(flag, 1, 1, beside));
    MUST(cuCtxSynchronize());
    printf("at work: %g\n", (double)expected);
}

int main(int argc, char **argv)
{
    CUmodule module;
    size_t size;
    void *image = snippets_image(&size);

    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuModuleGetFunction(&f, module, "scale_in_place"));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&x, N * sizeof(float)));
    MUST(cuMemsetD32(x, 0, N));
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "released") == 0)
            while_captured(argv[i], released);
        else if (strcmp(argv[i], "destroyed") == 0)
            while_captured(argv[i], destroyed);
        else if (strcmp(argv[i], "at_work") == 0)
            at_work(image);
    }
    free(image);
    return 0;
}
