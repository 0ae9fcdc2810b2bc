/* Thirty-two streams, more than the GPU has queues for, with launches round and round and no wait between.
 */
#include "check.h"

#define STREAMS 32
#define LAUNCHES 4
#define N 5000

__global__ void update(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

int main()
{
    static unsigned host[STREAMS][N];
    cudaStream_t streams[STREAMS];
    unsigned *data[STREAMS], sum = 0;
    for (int s = 0; s < STREAMS; s++) {
        CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&data[s], sizeof(host[s])));
        CHECK(cudaMemsetAsync(data[s], 0, sizeof(host[s]), streams[s]));
    }
    for (unsigned k = 0; k < LAUNCHES; k++)
        for (int s = 0; s < STREAMS; s++) {
            update<<<blocks_for(N, 128), 128, 0, streams[s]>>>(data[s], k + s);
            CHECK(cudaGetLastError());
        }
    for (int s = 0; s < STREAMS; s++) {
        CHECK(
            cudaMemcpyAsync(host[s], data[s], sizeof(host[s]), cudaMemcpyDeviceToHost, streams[s]));
        CHECK(cudaStreamSynchronize(streams[s]));
        unsigned expected = 0;
        for (unsigned k = 0; k < LAUNCHES; k++)
            expected = 3 * expected + k + s;
        for (int i = 0; i < N; i++)
            REQUIRE(host[s][i] == expected, "stream %d: element %d is %u, not %u", s, i, host[s][i],
                    expected);
        sum += expected;
        CHECK(cudaFree(data[s]));
        CHECK(cudaStreamDestroy(streams[s]));
    }
    printf("many_streams: ok sum=%u\n", sum);
    return 0;
}
