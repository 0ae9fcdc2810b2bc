/* A graph whose first kernel waits for the host, with more kernels behind it than a stream takes
 * launches before it holds up the host. The host answers once the graph is launched. A profiler
 * that launches the nodes one by one waits for ever. */
#include "check.h"

#define BEHIND 1500

__global__ void waitForHost(volatile unsigned *flag, unsigned value)
{
    while (*flag != value)
        ;
}

__global__ void step(unsigned *number)
{
    *number = 3 * *number + 1;
}

int main()
{
    unsigned *number, host, expected = 0;
    volatile unsigned *flag;
    unsigned *mapped;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaHostAlloc((void **)&flag, sizeof(*flag), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&mapped, (void *)flag, 0));
    CHECK(cudaMalloc(&number, sizeof(*number)));
    CHECK(cudaMemset(number, 0, sizeof(*number)));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    step<<<1, 1, 0, stream>>>(number);
    waitForHost<<<1, 1, 0, stream>>>(mapped, 1);
    for (int i = 0; i < BEHIND; i++)
        step<<<1, 1, 0, stream>>>(number);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int k = 0; k < 3; k++) {
        *flag = 0;
        CHECK(cudaGraphLaunch(executable, stream));
        *flag = 1;
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i <= BEHIND; i++)
            expected = 3 * expected + 1;
    }
    CHECK(cudaMemcpy(&host, number, sizeof(host), cudaMemcpyDeviceToHost));
    REQUIRE(host == expected, "the number is %u, not %u", host, expected);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    printf("graph_many_behind: ok %u\n", host);
    return 0;
}
