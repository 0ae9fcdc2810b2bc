/* A cooperative launch that fills the whole GPU and works in place, step by step, with grid.sync()
 * between the steps: a prefix sum, whose every step needs the one before. */
#include "check.h"
#include <cooperative_groups.h>

__global__ void prefix(unsigned *data, unsigned *other, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int all = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int distance = 1; distance < n; distance *= 2) {
        for (int i = first; i < n; i += all)
            other[i] = data[i] + (i >= distance ? data[i - distance] : 0);
        grid.sync();
        for (int i = first; i < n; i += all)
            data[i] = other[i];
        grid.sync();
    }
}

int main()
{
    int n = 100003, supported, processors, per_processor;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    REQUIRE(supported, "this device has no cooperative launch");
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, prefix, 256, 0));
    size_t bytes = n * sizeof(unsigned);
    unsigned *host = (unsigned *)malloc(bytes), *expected = (unsigned *)malloc(bytes);
    unsigned *data, *other, sum = 0;
    REQUIRE(host && expected, "out of memory");
    for (int i = 0; i < n; i++)
        host[i] = expected[i] = i % 10;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice));
    void *arguments[] = {&data, &other, &n};
    for (int k = 0; k < 4; k++) {
        CHECK(cudaLaunchCooperativeKernel((const void *)prefix, dim3(processors * per_processor),
                                          dim3(256), arguments, 0, NULL));
        for (int i = 1; i < n; i++)
            expected[i] += expected[i - 1];
    }
    cudaError_t too_many = cudaLaunchCooperativeKernel(
        (const void *)prefix, dim3(processors * per_processor + 1), dim3(256), arguments, 0, NULL);
    REQUIRE(too_many == cudaErrorCooperativeLaunchTooLarge, "one block too many: %s",
            cudaGetErrorName(too_many));
    REQUIRE(cudaGetLastError() == too_many, "the last error is another");
    CHECK(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(other));
    printf("cooperative_grid: ok sum=%u\n", sum);
    return 0;
}
