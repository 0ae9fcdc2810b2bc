/* Libraries (cuLibraryLoadData) loaded, launched by CUkernel and by CUfunction, unloaded and loaded
 * again, while another library stays. */
#include "driver.h"

#define N 64

static unsigned expected[N];

static CUlibrary load(const char *name, unsigned factor, CUkernel *kernel)
{
    CUlibrary library;
    DRIVER(cuLibraryLoadData(&library, count_ptx(name, factor), NULL, NULL, 0, NULL, NULL, 0));
    DRIVER(cuLibraryGetKernel(kernel, library, name));
    return library;
}

static void launch(CUfunction function, CUdeviceptr data, unsigned factor, unsigned calls)
{
    void *parameters[] = {&data};
    DRIVER(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
    for (int i = 0; i < N; i++)
        expected[i] = expected[i] * factor + calls;
}

int main()
{
    CUdeviceptr data;
    CUkernel stays, goes;
    CUfunction function;
    unsigned host[N], sum = 0, stayed = 0;
    use_primary_context();
    for (int i = 0; i < N; i++)
        host[i] = expected[i] = i;
    DRIVER(cuMemAlloc(&data, sizeof(host)));
    DRIVER(cuMemcpyHtoD(data, host, sizeof(host)));
    CUlibrary staying = load("stay", 5, &stays);
    for (int round = 0; round < 4; round++) {
        unsigned factor = 3 + 2 * round;
        CUlibrary library = load(round % 2 ? "leap" : "step", factor, &goes);
        launch((CUfunction)goes, data, factor, 0);
        launch((CUfunction)stays, data, 5, stayed++);
        DRIVER(cuKernelGetFunction(&function, goes));
        launch(function, data, factor, 1);
        DRIVER(cuCtxSynchronize());
        DRIVER(cuLibraryUnload(library));
        launch((CUfunction)stays, data, 5, stayed++);
    }
    DRIVER(cuLibraryUnload(staying));
    DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    DRIVER(cuMemFree(data));
    printf("library_unload: ok sum=%u\n", sum);
    return 0;
}
