/* Forty different kernels of one template, each launched twice; their results depend on each of
 * them having run once per launch, in order. */
#include "check.h"

#define N 1000
#define KERNELS 40

template <unsigned K> __global__ void step(unsigned *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = (2 * K + 1) * data[i] + (i ^ K);
}

template <unsigned K> static void launch_up_to(unsigned *data)
{
    launch_up_to<K - 1>(data);
    step<K><<<blocks_for(N, 128), 128>>>(data);
    CHECK(cudaGetLastError());
}

template <> void launch_up_to<0>(unsigned *)
{
}

int main()
{
    unsigned host[N], *data, sum = 0;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    for (int round = 0; round < 2; round++)
        launch_up_to<KERNELS>(data);
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < N; i++) {
        unsigned expected = 0;
        for (int round = 0; round < 2; round++)
            for (unsigned k = 1; k <= KERNELS; k++)
                expected = (2 * k + 1) * expected + (i ^ k);
        REQUIRE(host[i] == expected, "element %u is %u, not %u", i, host[i], expected);
        sum += host[i];
    }
    CHECK(cudaFree(data));
    printf("many_kernels: ok sum=%u\n", sum);
    return 0;
}
