/* A capture that forks to a second stream by an event and joins again, while a third stream, which
 * is not captured, launches too. Then the graph, among ordinary launches. */
#include "check.h"

#define N 10000

__global__ void left(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 2)
        data[i] = 3 * data[i] + 1;
}

__global__ void right(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N / 2 && i < N)
        data[i] = 5 * data[i] + 2;
}

__global__ void join(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 2)
        data[i] += data[i + N / 2];
}

__global__ void beside(unsigned *count)
{
    *count = 2 * *count + 1;
}

int main()
{
    static unsigned host[N];
    const int blocks = (int)blocks_for(N, 128);
    unsigned *data, *count, counted, low = 0, high = 0;
    cudaStream_t a, b, c;
    cudaEvent_t forked, joined;
    for (cudaStream_t *stream : {&a, &b, &c})
        CHECK(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMalloc(&count, sizeof(counted)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaMemset(count, 0, sizeof(counted)));
    beside<<<1, 1>>>(count);
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecord(forked, a));
    CHECK(cudaStreamWaitEvent(b, forked, 0));
    left<<<blocks, 128, 0, a>>>(data);
    right<<<blocks, 128, 0, b>>>(data);
    beside<<<1, 1, 0, c>>>(count);
    CHECK(cudaEventRecord(joined, b));
    CHECK(cudaStreamWaitEvent(a, joined, 0));
    join<<<blocks, 128, 0, a>>>(data);
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 5; k++) {
        CHECK(cudaGraphLaunch(executable, a));
        join<<<blocks, 128, 0, a>>>(data);
        beside<<<1, 1, 0, c>>>(count);
        CHECK(cudaGetLastError());
        high = 5 * high + 2;
        low = 3 * low + 1 + 2 * high;
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&counted, count, sizeof(counted), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == (i < N / 2 ? low : high), "element %d is %u", i, host[i]);
    REQUIRE(counted == 127, "the launches beside it made %u", counted);
    printf("capture_fork_join: ok %u %u %u\n", low, high, counted);
    return 0;
}
