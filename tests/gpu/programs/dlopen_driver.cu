/* The driver API without being linked to it: by dlopen and dlsym, and by the driver's own
 * cuGetProcAddress. */
#include "check.h"
#include "ptx.h"
#include <cudaTypedefs.h>
#include <dlfcn.h>

#define DRIVER(call)                                                         \
    do {                                                                     \
        CUresult result = (call);                                            \
        REQUIRE(result == CUDA_SUCCESS, "%s: error %d", #call, (int)result); \
    } while (0)

static void *library;

static void *find(const char *name)
{
    void *function = dlsym(library, name);
    REQUIRE(function, "the driver has no %s", name);
    return function;
}

int main()
{
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library, "%s", dlerror());
    REQUIRE(!dlsym(library, "cuNoSuchFunction"), "the driver has a cuNoSuchFunction");
    REQUIRE(dlerror(), "dlsym failed without a message");

    PFN_cuInit_v2000 init = (PFN_cuInit_v2000)find("cuInit");
    PFN_cuDeviceGet_v2000 get_device = (PFN_cuDeviceGet_v2000)find("cuDeviceGet");
    PFN_cuDevicePrimaryCtxRetain_v7000 retain =
        (PFN_cuDevicePrimaryCtxRetain_v7000)find("cuDevicePrimaryCtxRetain");
    PFN_cuCtxSetCurrent_v4000 set_current = (PFN_cuCtxSetCurrent_v4000)find("cuCtxSetCurrent");
    PFN_cuModuleLoadData_v2000 load = (PFN_cuModuleLoadData_v2000)find("cuModuleLoadData");
    PFN_cuModuleGetFunction_v2000 get_function =
        (PFN_cuModuleGetFunction_v2000)find("cuModuleGetFunction");
    PFN_cuMemAlloc_v3020 allocate = (PFN_cuMemAlloc_v3020)find("cuMemAlloc_v2");
    PFN_cuMemFree_v3020 release = (PFN_cuMemFree_v3020)find("cuMemFree_v2");
    PFN_cuMemcpyHtoD_v3020 copy_in = (PFN_cuMemcpyHtoD_v3020)find("cuMemcpyHtoD_v2");
    PFN_cuMemcpyDtoH_v3020 copy_out = (PFN_cuMemcpyDtoH_v3020)find("cuMemcpyDtoH_v2");
    PFN_cuLaunchKernel_v4000 launch = (PFN_cuLaunchKernel_v4000)find("cuLaunchKernel");
    PFN_cuGetProcAddress_v12000 get_address =
        (PFN_cuGetProcAddress_v12000)find("cuGetProcAddress_v2");

    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr data;
    static unsigned host[SCALE_N];
    DRIVER(init(0));
    DRIVER(get_device(&device, 0));
    DRIVER(retain(&context, device));
    DRIVER(set_current(context));
    DRIVER(load(&module, scale_ptx));
    DRIVER(get_function(&function, module, "scale"));
    DRIVER(allocate(&data, sizeof(host)));
    for (unsigned i = 0; i < SCALE_N; i++)
        host[i] = i % 10;
    DRIVER(copy_in(data, host, sizeof(host)));

    unsigned blocks = (unsigned)blocks_for(SCALE_N, SCALE_BLOCK), n = SCALE_N, factor = 1;
    void *parameters[] = {&data, &n, &factor};
    DRIVER(launch(function, blocks, 1, 1, SCALE_BLOCK, 1, 1, 0, NULL, parameters, NULL));

    PFN_cuLaunchKernel_v4000 launch_too = NULL;
    CUdriverProcAddressQueryResult found;
    DRIVER(get_address("cuLaunchKernel", (void **)&launch_too, 12000, 0, &found));
    REQUIRE(found == CU_GET_PROC_ADDRESS_SUCCESS && launch_too, "cuLaunchKernel: status %d", found);
    factor = 2;
    DRIVER(launch_too(function, blocks, 1, 1, SCALE_BLOCK, 1, 1, 0, NULL, parameters, NULL));

    PFN_cuLaunchKernel_v7000_ptsz launch_ptsz = NULL;
    DRIVER(get_address("cuLaunchKernel", (void **)&launch_ptsz, 12000,
                       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
    REQUIRE(launch_ptsz, "no cuLaunchKernel for per-thread streams");
    PFN_cuCtxSynchronize_v2000 wait = (PFN_cuCtxSynchronize_v2000)find("cuCtxSynchronize");
    DRIVER(wait());
    factor = 3;
    DRIVER(launch_ptsz(function, blocks, 1, 1, SCALE_BLOCK, 1, 1, 0, NULL, parameters, NULL));
    DRIVER(wait());

    void *nothing = (void *)1;
    CUresult result = get_address("cuNoSuchFunction", &nothing, 12000, 0, &found);
    printf("dlopen_driver: no such function: result %d status %d\n", (int)result, (int)found);

    DRIVER(copy_out(host, data, sizeof(host)));
    unsigned sum = 0;
    for (unsigned i = 0; i < SCALE_N; i++) {
        REQUIRE(host[i] == scale_expected(i, 3), "element %u is %u, not %u", i, host[i],
                scale_expected(i, 3));
        sum += host[i];
    }
    DRIVER(release(data));
    printf("dlopen_driver: ok sum=%u\n", sum);
    return 0;
}
