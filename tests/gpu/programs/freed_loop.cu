/* Memory that is freed right behind its launch, in a loop, each launch with other work than all
 * before: from cudaMalloc and from a pool. Then memory is freed twice, and nearly all of it is
 * allocated. */
#include "check.h"

enum { ROUNDS = 150, N = 1 << 16 };

__global__ void grow(unsigned *data, int n, int times)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < times; k++)
            data[i] = data[i] * 3 + k;
}

__global__ void pooled(unsigned *data, int n, int times)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < times; k++)
            data[i] = data[i] * 5 + k;
}

static void check_round(const unsigned *seen, int times, unsigned factor, unsigned first)
{
    unsigned expected = first;
    for (int k = 0; k < times; k++)
        expected = expected * factor + k;
    for (int i = 0; i < N; i++)
        REQUIRE(seen[i] == expected, "element %d is %u, not %u", i, seen[i], expected);
}

int main()
{
    static unsigned seen[N];
    unsigned *data, *large;
    size_t unused, total;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int k = 0; k < ROUNDS; k++) {
        int n = N + 1024 * (k % 3);
        CHECK(cudaMalloc((void **)&data, n * sizeof(unsigned)));
        CHECK(cudaMemset(data, 1, n * sizeof(unsigned)));
        grow<<<blocks_for(n, 256), 256>>>(data, n, k + 1);
        CHECK(cudaMemcpy(seen, data, sizeof(seen), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(data));
        check_round(seen, k + 1, 3, 0x01010101);
    }
    for (int k = 0; k < ROUNDS; k++) {
        CHECK(cudaMallocAsync((void **)&data, N * sizeof(unsigned), stream));
        CHECK(cudaMemsetAsync(data, 2, N * sizeof(unsigned), stream));
        pooled<<<blocks_for(N, 256), 256, 0, stream>>>(data, N, k + 1);
        CHECK(cudaMemcpyAsync(seen, data, sizeof(seen), cudaMemcpyDeviceToHost, stream));
        CHECK(cudaFreeAsync(data, stream));
        CHECK(cudaStreamSynchronize(stream));
        check_round(seen, k + 1, 5, 0x02020202);
    }
    CHECK(cudaMalloc((void **)&data, N * sizeof(unsigned)));
    CHECK(cudaMemset(data, 1, N * sizeof(unsigned)));
    grow<<<blocks_for(N, 256), 256>>>(data, N, 7);
    CHECK(cudaFree(data));
    int twice = cudaFree(data);
    cudaGetLastError();
    CHECK(cudaMemGetInfo(&unused, &total));
    int got = cudaMalloc((void **)&large, unused - unused / 8);
    CHECK(cudaFree(large));
    CHECK(cudaStreamDestroy(stream));
    printf("freed_loop: ok, twice %d, large %d\n", twice, got);
    return 0;
}
