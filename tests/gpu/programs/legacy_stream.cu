/* The legacy default stream: it waits for the blocking streams, and they for it, so that launches
 * on three streams work on the same memory in order without any event. */
#include "check.h"

#define N 100000

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

int main()
{
    static unsigned host[N];
    unsigned *data, expected = 0;
    cudaStream_t streams[2];
    for (int s = 0; s < 2; s++)
        CHECK(cudaStreamCreate(&streams[s]));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    for (unsigned k = 0; k < 16; k++) {
        /* a, default, b, legacy by its name, and so on */
        cudaStream_t stream = k % 2 == 0   ? streams[k / 2 % 2]
                              : k % 4 == 1 ? (cudaStream_t)NULL
                                           : cudaStreamLegacy;
        update<<<blocks_for(N, 128), 128, 0, stream>>>(data, k);
        CHECK(cudaGetLastError());
        expected = 3 * expected + k;
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    for (int s = 0; s < 2; s++)
        CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFree(data));
    printf("legacy_stream: ok %u\n", expected);
    return 0;
}
