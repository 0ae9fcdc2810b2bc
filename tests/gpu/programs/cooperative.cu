/* A cooperative launch: blocks that wait for each other, so all must be on the GPU at once. */
#include "check.h"
#include <cooperative_groups.h>

__global__ void rotate(int *data, int rounds)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < rounds; k++) {
        int next = data[(i + blockDim.x) % n];
        grid.sync();
        data[i] = next + 1;
        grid.sync();
    }
}

int main()
{
    const int blocks = 16, threads = 128, n = blocks * threads;
    int supported, rounds = 7, host[n], *data;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    REQUIRE(supported, "this device has no cooperative launch");
    for (int i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice));
    void *arguments[] = {&data, &rounds};
    for (int k = 0; k < 3; k++)
        CHECK(cudaLaunchCooperativeKernel((const void *)rotate, dim3(blocks), dim3(threads),
                                          arguments, 0, NULL));
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        int expected = (i + 3 * rounds * threads) % n + 3 * rounds;
        REQUIRE(host[i] == expected, "element %d is %d, not %d", i, host[i], expected);
        sum += host[i];
    }
    CHECK(cudaFree(data));
    printf("cooperative: ok sum=%lld\n", sum);
    return 0;
}
