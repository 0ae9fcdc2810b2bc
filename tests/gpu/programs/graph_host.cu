/* A graph with a host function between its kernels, which reads the output of the one and writes
 * the input of the other, among ordinary launches. Another graph is destroyed while its host
 * function runs. */
#include "check.h"

#include <time.h>

#define N 1000

__global__ void first(unsigned *mapped, unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        mapped[i] = data[i] + 1;
}

__global__ void second(const unsigned *mapped, unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = mapped[i];
}

__global__ void ordinary(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + 2;
}

static void times_five(void *memory)
{
    unsigned *mapped = (unsigned *)memory;
    for (int i = 0; i < N; i++)
        mapped[i] *= 5;
}

static void slow_call(void *calls)
{
    struct timespec a_while = {0, 20000000};
    nanosleep(&a_while, NULL);
    ++*(int *)calls;
}

static void destroy_while_it_runs(cudaStream_t stream, unsigned *data)
{
    static int calls;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    calls = 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ordinary<<<(int)blocks_for(N, 128), 128, 0, stream>>>(data);
    CHECK(cudaLaunchHostFunc(stream, slow_call, &calls));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(calls == 1, "the host function was called %d times, not once", calls);
}

int main()
{
    static unsigned host[N];
    const int blocks = (int)blocks_for(N, 128);
    unsigned *mapped, *on_device, *data, expected = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc(&mapped, sizeof(host), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer(&on_device, mapped, 0));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    first<<<blocks, 128, 0, stream>>>(on_device, data);
    CHECK(cudaLaunchHostFunc(stream, times_five, mapped));
    second<<<blocks, 128, 0, stream>>>(on_device, data);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 5; k++) {
        CHECK(cudaGraphLaunch(executable, stream));
        ordinary<<<blocks, 128, 0, stream>>>(data);
        CHECK(cudaGetLastError());
        expected = 3 * (5 * (expected + 1)) + 2;
    }
    CHECK(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    for (int k = 0; k < 3; k++)
        destroy_while_it_runs(stream, data);
    CHECK(cudaFreeHost(mapped));
    printf("graph_host: ok %u\n", expected);
    return 0;
}
