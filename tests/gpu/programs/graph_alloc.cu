/* A captured graph that allocates memory, works in it and frees it, launched several times, among
 * ordinary launches. That memory comes and goes with the graph. */
#include "check.h"

#define N 10000

__global__ void inside(unsigned *scratch, const unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        scratch[i] = 3 * data[i] + 1;
}

__global__ void ordinary(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 5 * data[i] + k;
}

int main()
{
    static unsigned host[N];
    const int blocks = (int)blocks_for(N, 128);
    unsigned *data, *scratch, expected = 0;
    int supported;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    REQUIRE(supported, "this device has no memory pools");
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaDeviceSynchronize());
    ordinary<<<blocks, 128, 0, stream>>>(data, 1);
    CHECK(cudaGetLastError());
    expected = 5 * expected + 1;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMallocAsync(&scratch, sizeof(host), stream));
    inside<<<blocks, 128, 0, stream>>>(scratch, data);
    CHECK(cudaMemcpyAsync(data, scratch, sizeof(host), cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaFreeAsync(scratch, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (unsigned k = 0; k < 5; k++) {
        CHECK(cudaGraphLaunch(executable, stream));
        ordinary<<<blocks, 128, 0, stream>>>(data, k);
        CHECK(cudaGetLastError());
        expected = 5 * (3 * expected + 1) + k;
    }
    CHECK(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(data));
    printf("graph_alloc: ok %u\n", expected);
    return 0;
}
