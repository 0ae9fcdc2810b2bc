/* Modules loaded, unloaded and loaded again: the same image, then another one whose function may
 * get the handle of the first. Each module starts with its own variable at 0. */
#include "driver.h"

#define N 64

static unsigned expected[N];

/* Loads a module and launches its kernel; with two of them, both modules live at once. */
static void round_of(CUdeviceptr data, const char *name, unsigned factor, unsigned launches)
{
    CUmodule modules[2];
    CUfunction functions[2];
    for (int m = 0; m < 2; m++) {
        DRIVER(cuModuleLoadData(&modules[m], count_ptx(name, factor)));
        DRIVER(cuModuleGetFunction(&functions[m], modules[m], name));
    }
    void *parameters[] = {&data};
    for (unsigned k = 0; k < launches; k++)
        for (int m = 0; m < 2; m++) {
            DRIVER(cuLaunchKernel(functions[m], 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
            for (int i = 0; i < N; i++)
                expected[i] = expected[i] * factor + k;
        }
    for (int m = 0; m < 2; m++) {
        CUdeviceptr variable;
        size_t size;
        unsigned calls;
        DRIVER(cuModuleGetGlobal(&variable, &size, modules[m], "calls"));
        DRIVER(cuMemcpyDtoH(&calls, variable, sizeof(calls)));
        REQUIRE(calls == launches, "%s: %u calls, not %u", name, calls, launches);
    }
    for (int m = 0; m < 2; m++)
        DRIVER(cuModuleUnload(modules[m]));
}

int main()
{
    CUdeviceptr data;
    unsigned host[N], sum = 0;
    use_primary_context();
    for (int i = 0; i < N; i++)
        host[i] = expected[i] = i;
    DRIVER(cuMemAlloc(&data, sizeof(host)));
    DRIVER(cuMemcpyHtoD(data, host, sizeof(host)));
    for (int round = 0; round < 3; round++) {
        round_of(data, "step", 3, 3);
        round_of(data, "leap", 7, 2);
    }
    DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    DRIVER(cuMemFree(data));
    printf("module_reload: ok sum=%u\n", sum);
    return 0;
}
