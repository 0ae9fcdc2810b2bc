/* The driver API, linked: a module from PTX, launched with an array of parameters, with a packed
 * buffer of them, and through cuLaunchKernelEx. */
#include "driver.h"
#include "ptx.h"

int main()
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr data;
    static unsigned host[SCALE_N];
    CUdevice device = use_primary_context();
    DRIVER(cuModuleLoadData(&module, scale_ptx));
    DRIVER(cuModuleGetFunction(&function, module, "scale"));
    DRIVER(cuMemAlloc(&data, sizeof(host)));
    for (unsigned i = 0; i < SCALE_N; i++)
        host[i] = i % 10;
    DRIVER(cuMemcpyHtoD(data, host, sizeof(host)));

    unsigned blocks = (unsigned)blocks_for(SCALE_N, SCALE_BLOCK), n = SCALE_N, factor = 1;
    void *parameters[] = {&data, &n, &factor};
    DRIVER(cuLaunchKernel(function, blocks, 1, 1, SCALE_BLOCK, 1, 1, 0, NULL, parameters, NULL));

    factor = 2;
    struct {
        CUdeviceptr data;
        unsigned n, factor;
    } packed = {data, n, factor};
    size_t size = sizeof(packed);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    DRIVER(cuLaunchKernel(function, blocks, 1, 1, SCALE_BLOCK, 1, 1, 0, NULL, NULL, extra));

    factor = 3;
    CUlaunchConfig config = {};
    config.gridDimX = blocks;
    config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = SCALE_BLOCK;
    config.blockDimY = config.blockDimZ = 1;
    DRIVER(cuLaunchKernelEx(&config, function, parameters, NULL));

    DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
    unsigned sum = 0;
    for (unsigned i = 0; i < SCALE_N; i++) {
        REQUIRE(host[i] == scale_expected(i, 3), "element %u is %u, not %u", i, host[i],
                scale_expected(i, 3));
        sum += host[i];
    }
    DRIVER(cuMemFree(data));
    DRIVER(cuModuleUnload(module));
    DRIVER(cuDevicePrimaryCtxRelease(device));
    printf("driver: ok sum=%u\n", sum);
    return 0;
}
