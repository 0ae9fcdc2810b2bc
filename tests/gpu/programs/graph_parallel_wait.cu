/* A graph with two branches: a kernel of the one runs until a kernel of the other has written a
 * flag. A profiler that launches the one and waits for its end before it launches the other waits
 * for ever. */
#include "check.h"

#define N 5000

__global__ void raise(volatile unsigned *flag, unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + 1;
    __threadfence();
    if (i == 0)
        *flag = 1;
}

__global__ void waitForFlag(volatile unsigned *flag, unsigned *count)
{
    while (!*flag)
        ;
    __threadfence();
    *count = 2 * *count + 1;
}

__global__ void follow(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 5 * data[i] + k;
}

__global__ void join(unsigned *data, const unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] += *count;
}

int main()
{
    static unsigned host[N];
    const int blocks = (int)blocks_for(N, 128);
    unsigned *data, *count, *flag, expected = 0, counted = 0;
    cudaStream_t a, b;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMalloc(&count, sizeof(*count)));
    CHECK(cudaMalloc(&flag, sizeof(*flag)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaMemset(count, 0, sizeof(*count)));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(flag, 0, sizeof(*flag), a));
    CHECK(cudaEventRecord(forked, a));
    CHECK(cudaStreamWaitEvent(b, forked, 0));
    waitForFlag<<<1, 1, 0, a>>>(flag, count);
    raise<<<blocks, 128, 0, b>>>(flag, data);
    follow<<<blocks, 128, 0, b>>>(data, 7);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(joined, b));
    CHECK(cudaStreamWaitEvent(a, joined, 0));
    join<<<blocks, 128, 0, a>>>(data, count);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 4; k++) {
        CHECK(cudaGraphLaunch(executable, a));
        follow<<<blocks, 128, 0, a>>>(data, k);
        CHECK(cudaGetLastError());
        counted = 2 * counted + 1;
        expected = 5 * (5 * (3 * expected + 1) + 7 + counted) + k;
    }
    CHECK(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, a));
    CHECK(cudaStreamSynchronize(a));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    printf("graph_parallel_wait: ok %u\n", expected);
    return 0;
}
