/* A kernel breaks its context, which is destroyed; the program goes on in another one. */
#include "driver.h"

#define N 64

static const char trap_ptx[] = R"(
.version 6.4
.target sm_75
.address_size 64
.visible .entry broken(.param .u64 data)
{
    trap;
    ret;
}
)";

static CUcontext create(CUdevice device)
{
    CUcontext context;
#if CUDA_VERSION >= 13000
    CUctxCreateParams ordinary = {};
    DRIVER(cuCtxCreate(&context, &ordinary, 0, device));
#else
    DRIVER(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

static CUfunction load(const void *ptx, const char *name)
{
    CUmodule module;
    CUfunction function;
    DRIVER(cuModuleLoadData(&module, ptx));
    DRIVER(cuModuleGetFunction(&function, module, name));
    return function;
}

/* What three launches leave is checked. */
static unsigned work(unsigned factor)
{
    unsigned host[N], expected[N], sum = 0;
    CUdeviceptr data;
    CUfunction step = load(count_ptx("step", factor), "step");
    DRIVER(cuMemAlloc(&data, sizeof(host)));
    for (unsigned i = 0; i < N; i++)
        expected[i] = i;
    DRIVER(cuMemcpyHtoD(data, expected, sizeof(expected)));
    for (unsigned call = 0; call < 3; call++) {
        void *parameters[] = {&data};
        DRIVER(cuLaunchKernel(step, 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
        for (unsigned i = 0; i < N; i++)
            expected[i] = expected[i] * factor + call;
    }
    DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
    for (unsigned i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %u is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    return sum;
}

int main()
{
    CUdevice device;
    unsigned sum = 0;
    DRIVER(cuInit(0));
    DRIVER(cuDeviceGet(&device, 0));
    for (unsigned round = 0; round < 3; round++) {
        CUcontext context = create(device);
        sum += work(3 + 2 * round);
        CUdeviceptr nothing = 0;
        void *parameters[] = {&nothing};
        DRIVER(
            cuLaunchKernel(load(trap_ptx, "broken"), 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
        CUresult outcome = cuCtxSynchronize();
        REQUIRE(outcome == CUDA_ERROR_LAUNCH_FAILED, "the kernel ends with %d", (int)outcome);
        printf("destroyed: %d\n", (int)cuCtxDestroy(context));
    }
    create(device);
    sum += work(11);
    printf("broken_context: ok sum=%u\n", sum);
    return 0;
}
