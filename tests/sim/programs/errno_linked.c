/*
 * errno_linked: sets errno before each call of the driver and says of each kind of call whether it
 * was ever changed.
 */
#include <errno.h>

#include "programs/linked.h"
#include "programs/snippets.h"

#define MINE 4242
#define N 128

/* Makes the call `times` times. */
#define CALL(times, call)                                               \
    do {                                                                \
        int changed = 0;                                                \
        for (int i_ = 0; i_ < (times); i_++) {                          \
            errno = MINE;                                               \
            CUresult result_ = call;                                    \
            changed = errno == MINE ? changed : errno;                  \
            if (result_ != CUDA_SUCCESS)                                \
                printf("%s: error %d\n", #call, result_);               \
        }                                                               \
        printf("%.*s: %d\n", (int)strcspn(#call, "("), #call, changed); \
    } while (0)

/* All that a program has in one context. */
static void use(CUcontext context, const void *image)
{
    static float numbers[N];
    unsigned n = N;
    float factor = 2;
    CUdeviceptr x;
    CUmodule module;
    CUfunction f;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    void *params[] = {&x, &n, &factor};

    CALL(1, cuCtxSetCurrent(context));
    CALL(1, cuModuleLoadData(&module, image));
    CALL(1, cuModuleGetFunction(&f, module, "scale_in_place"));
    CALL(1, cuMemAlloc(&x, sizeof(numbers)));
    CALL(1, cuMemsetD32(x, 0, N));
    CALL(1, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CALL(100, cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
    CALL(3, cuLaunchCooperativeKernel(f, 1, 1, 1, N, 1, 1, 0, stream, params));
    CALL(1, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CALL(2, cuLaunchKernel(f, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
    CALL(1, cuStreamEndCapture(stream, &graph));
    CALL(1, cuGraphInstantiateWithFlags(&exec, graph, 0));
    CALL(5, cuGraphLaunch(exec, stream));
    CALL(1, cuStreamSynchronize(stream));
    CALL(1, cuMemcpyDtoH(numbers, x, sizeof(numbers)));
    CALL(1, cuGraphExecDestroy(exec));
    CALL(1, cuGraphDestroy(graph));
    CALL(1, cuStreamDestroy(stream));
    CALL(1, cuMemFree(x));
    CALL(1, cuModuleUnload(module));
}

int main(void)
{
    CUcontext context;
    size_t size;
    void *image = snippets_image(&size);

    CALL(1, cuInit(0));
    CALL(1, cuCtxCreate_v2(&context, 0, 0));
    use(context, image);
    CALL(1, cuCtxDestroy(context));
    CALL(1, cuDevicePrimaryCtxRetain(&context, 0));
    use(context, image);
    CALL(1, cuDevicePrimaryCtxRelease(0));
    free(image);
    return 0;
}
