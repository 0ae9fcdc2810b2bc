/* Grids of millions of blocks, and as long in y and z as CUDA allows; each block marks its own
 * word. */
#include "check.h"
#include <vector>

__global__ void mark(unsigned *data, unsigned k)
{
    size_t block = (blockIdx.z * (size_t)gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (threadIdx.x == 0)
        data[block] = 3 * data[block] + k + blockIdx.x + blockIdx.y + blockIdx.z;
}

int main()
{
    const dim3 grids[] = {dim3(3000, 500, 2), dim3(100000),     dim3(1, 65535, 1),
                          dim3(2, 3, 65535),  dim3(1000000, 2), dim3(1, 1, 65535)};
    const size_t n = 3000000;
    std::vector<unsigned> host(n), expected(n);
    unsigned *data, sum = 0, k = 0;
    CHECK(cudaMalloc(&data, n * sizeof(unsigned)));
    CHECK(cudaMemset(data, 0, n * sizeof(unsigned)));
    for (const dim3 &grid : grids) {
        mark<<<grid, 32>>>(data, k);
        CHECK(cudaGetLastError());
        size_t block = 0;
        for (unsigned z = 0; z < grid.z; z++)
            for (unsigned y = 0; y < grid.y; y++)
                for (unsigned x = 0; x < grid.x; x++, block++)
                    expected[block] = 3 * expected[block] + k + x + y + z;
        k++;
    }
    CHECK(cudaMemcpy(host.data(), data, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < n; i++) {
        REQUIRE(host[i] == expected[i], "block %zu made %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    CHECK(cudaFree(data));
    printf("huge_grid: ok sum=%u\n", sum);
    return 0;
}
