/* A stream captured into a graph, launched several times, among ordinary launches. Nothing may be
 * measured, copied or waited for while the stream is being captured. */
#include "check.h"

__global__ void captured(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 2 * data[i] + 1;
}

__global__ void ordinary(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] -= i;
}

int main()
{
    const int n = 10000, rounds = 5;
    size_t bytes = n * sizeof(int);
    int *data, *other, *host = (int *)malloc(bytes);
    REQUIRE(host, "out of memory");
    cudaStream_t stream;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMalloc(&other, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    captured<<<blocks_for(n, 128), 128, 0, stream>>>(data, n);
    CHECK(cudaGetLastError());
    captured<<<blocks_for(n, 128), 128, 0, stream>>>(data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(other, data, bytes, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));

    for (int k = 0; k < rounds; k++) {
        CHECK(cudaGraphLaunch(executable, stream));
        ordinary<<<blocks_for(n, 128), 128, 0, stream>>>(data, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        int expected = 0;
        for (int k = 0; k < rounds; k++)
            expected = 4 * expected + 3 - i;
        REQUIRE(host[i] == expected, "element %d is %d, not %d", i, host[i], expected);
        sum += host[i];
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    printf("capture: ok nodes=%zu sum=%lld\n", nodes, sum);
    return 0;
}
