/* Captures that are never ended: their stream is destroyed, or its context. The launches after that
 * are launches like any other. */
#include "driver.h"

#define N 64

static void capture(bool with_context)
{
    CUcontext context, popped;
    CUstream stream;
    if (with_context) {
#if CUDA_VERSION >= 13000
        CUctxCreateParams ordinary = {};
        DRIVER(cuCtxCreate(&context, &ordinary, 0, 0));
#else
        DRIVER(cuCtxCreate(&context, 0, 0));
#endif
    }
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    if (with_context) {
        DRIVER(cuCtxPopCurrent(&popped));
        DRIVER(cuCtxDestroy(context));
    } else {
        DRIVER(cuStreamDestroy(stream));
    }
}

int main()
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr data;
    unsigned host[N], expected[N], calls = 0, sum = 0;
    use_primary_context();
    DRIVER(cuModuleLoadData(&module, count_ptx("step", 3)));
    DRIVER(cuModuleGetFunction(&function, module, "step"));
    for (int i = 0; i < N; i++)
        host[i] = expected[i] = i;
    DRIVER(cuMemAlloc(&data, sizeof(host)));
    DRIVER(cuMemcpyHtoD(data, host, sizeof(host)));
    void *parameters[] = {&data};
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < 3; k++) {
            DRIVER(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
            for (int i = 0; i < N; i++)
                expected[i] = expected[i] * 3 + calls;
            calls++;
        }
        DRIVER(cuCtxSynchronize());
        capture(round % 2 == 1);
    }
    DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    printf("capture_abandoned: ok sum=%u\n", sum);
    return 0;
}
