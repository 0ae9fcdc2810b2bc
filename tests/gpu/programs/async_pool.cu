/* Memory from the stream-ordered pool, freed and had again at the same addresses. */
#include "check.h"

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = value + i;
}

__global__ void update(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + 1;
}

int main()
{
    int supported;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    REQUIRE(supported, "this device has no memory pools");
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    long long sum = 0;
    for (int round = 0; round < 20; round++) {
        int n = 1000 + 517 * (round % 4), *data, *other;
        size_t bytes = n * sizeof(int);
        CHECK(cudaMallocAsync(&data, bytes, stream));
        CHECK(cudaMallocAsync(&other, bytes, stream));
        fill<<<blocks_for(n, 128), 128, 0, stream>>>(data, n, round);
        update<<<blocks_for(n, 128), 128, 0, stream>>>(data, n);
        CHECK(cudaMemcpyAsync(other, data, bytes, cudaMemcpyDeviceToDevice, stream));
        CHECK(cudaFreeAsync(data, stream));
        update<<<blocks_for(n, 128), 128, 0, stream>>>(other, n);
        CHECK(cudaGetLastError());
        int *host = (int *)malloc(bytes);
        REQUIRE(host, "out of memory");
        CHECK(cudaMemcpyAsync(host, other, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(other, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; i++) {
            int expected = 9 * (round + i) + 4;
            REQUIRE(host[i] == expected, "round %d: element %d is %d, not %d", round, i, host[i],
                    expected);
            sum += host[i];
        }
        free(host);
    }
    CHECK(cudaStreamDestroy(stream));
    printf("async_pool: ok sum=%lld\n", sum);
    return 0;
}
