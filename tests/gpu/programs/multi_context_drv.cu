/* Two contexts of the driver API on one device, each with its own module and memory, launched one
 * after the other; one is destroyed in the middle and another made. */
#include "driver.h"

#define N 64

static CUcontext popped;

struct owner {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr data;
    unsigned factor, calls, expected[N];
};

static void enter(struct owner *p, CUdevice device, const char *name, unsigned factor)
{
#if CUDA_VERSION >= 13000
    CUctxCreateParams ordinary = {};
    DRIVER(cuCtxCreate(&p->context, &ordinary, 0, device));
#else
    DRIVER(cuCtxCreate(&p->context, 0, device));
#endif
    DRIVER(cuModuleLoadData(&p->module, count_ptx(name, factor)));
    DRIVER(cuModuleGetFunction(&p->function, p->module, name));
    DRIVER(cuMemAlloc(&p->data, sizeof(p->expected)));
    p->factor = factor;
    p->calls = 0;
    for (int i = 0; i < N; i++)
        p->expected[i] = i;
    DRIVER(cuMemcpyHtoD(p->data, p->expected, sizeof(p->expected)));
    DRIVER(cuCtxPopCurrent(&popped));
}

static void launch(struct owner *p)
{
    void *parameters[] = {&p->data};
    DRIVER(cuCtxPushCurrent(p->context));
    DRIVER(cuLaunchKernel(p->function, 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
    DRIVER(cuCtxPopCurrent(&popped));
    for (int i = 0; i < N; i++)
        p->expected[i] = p->expected[i] * p->factor + p->calls;
    p->calls++;
}

static unsigned leave(struct owner *p)
{
    unsigned host[N], sum = 0;
    DRIVER(cuCtxPushCurrent(p->context));
    DRIVER(cuMemcpyDtoH(host, p->data, sizeof(host)));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == p->expected[i], "factor %u: element %d is %u, not %u", p->factor, i,
                host[i], p->expected[i]);
        sum += host[i];
    }
    DRIVER(cuCtxPopCurrent(&popped));
    DRIVER(cuCtxDestroy(p->context));
    return sum;
}

int main()
{
    static struct owner a, b;
    CUdevice device = 0;
    unsigned sum = 0;
    DRIVER(cuInit(0));
    enter(&a, device, "step", 3);
    for (int round = 0; round < 3; round++) {
        enter(&b, device, round % 2 ? "hop" : "leap", 5 + 2 * round);
        for (int k = 0; k < 4; k++)
            launch(k % 2 ? &b : &a);
        sum += leave(&b);
    }
    launch(&a);
    sum += leave(&a);
    printf("multi_context: ok sum=%u\n", sum);
    return 0;
}
