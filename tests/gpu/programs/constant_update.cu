/* Constant memory written anew before each launch: from the host, asynchronously on the launch's
 * stream, and from device memory that a kernel has just updated. */
#include "check.h"

#define N 512

__constant__ unsigned factors[N];

__global__ void add(unsigned *sums)
{
    sums[threadIdx.x] = 3 * sums[threadIdx.x] + factors[threadIdx.x];
}

__global__ void next(unsigned *source)
{
    source[threadIdx.x] = 5 * source[threadIdx.x] + 1;
}

int main()
{
    static unsigned host[N], expected[N], source_expected[N];
    unsigned *sums, *source, *pinned, sum = 0;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&sums, sizeof(host)));
    CHECK(cudaMalloc(&source, sizeof(host)));
    CHECK(cudaMallocHost(&pinned, sizeof(host)));
    CHECK(cudaMemset(sums, 0, sizeof(host)));
    CHECK(cudaMemset(source, 0, sizeof(host)));
    for (unsigned k = 0; k < 12; k++) {
        CHECK(cudaStreamSynchronize(stream)); /* `pinned` has been read */
        for (unsigned i = 0; i < N; i++)
            pinned[i] = host[i] = 7 * k + i;
        if (k % 3 == 0) {
            CHECK(cudaMemcpyToSymbol(factors, host, sizeof(host)));
        } else if (k % 3 == 1) {
            CHECK(cudaMemcpyToSymbolAsync(factors, pinned, sizeof(host), 0, cudaMemcpyHostToDevice,
                                          stream));
        } else {
            next<<<1, N, 0, stream>>>(source);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpyToSymbolAsync(factors, source, sizeof(host), 0,
                                          cudaMemcpyDeviceToDevice, stream));
        }
        add<<<1, N, 0, stream>>>(sums);
        CHECK(cudaGetLastError());
        for (unsigned i = 0; i < N; i++) {
            if (k % 3 == 2)
                source_expected[i] = 5 * source_expected[i] + 1;
            expected[i] = 3 * expected[i] + (k % 3 == 2 ? source_expected[i] : 7 * k + i);
        }
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "sum %u is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaStreamDestroy(stream));
    printf("constant_update: ok sum=%u\n", sum);
    return 0;
}
