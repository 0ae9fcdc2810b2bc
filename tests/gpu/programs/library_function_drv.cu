/* Libraries whose kernel is launched as the function that it is in the context only, unloaded and
 * loaded again, so that the next function may get the handle of the last. */
#include "driver.h"

#define N 64

int main()
{
    CUdeviceptr data;
    unsigned host[N], expected[N], sum = 0;
    use_primary_context();
    for (int i = 0; i < N; i++)
        host[i] = expected[i] = i;
    DRIVER(cuMemAlloc(&data, sizeof(host)));
    DRIVER(cuMemcpyHtoD(data, host, sizeof(host)));
    void *parameters[] = {&data};
    for (unsigned round = 0; round < 6; round++) {
        const char *name = round % 2 ? "leap" : "step";
        unsigned factor = 3 + 2 * round;
        CUlibrary library;
        CUkernel kernel;
        CUfunction function;
        DRIVER(cuLibraryLoadData(&library, count_ptx(name, factor), NULL, NULL, 0, NULL, NULL, 0));
        DRIVER(cuLibraryGetKernel(&kernel, library, name));
        DRIVER(cuKernelGetFunction(&function, kernel));
        for (unsigned k = 0; k < 2; k++) {
            DRIVER(cuLaunchKernel(function, 1, 1, 1, N, 1, 1, 0, NULL, parameters, NULL));
            for (int i = 0; i < N; i++)
                expected[i] = expected[i] * factor + k;
        }
        DRIVER(cuCtxSynchronize());
        DRIVER(cuLibraryUnload(library));
    }
    DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    DRIVER(cuMemFree(data));
    printf("library_function: ok sum=%u\n", sum);
    return 0;
}
