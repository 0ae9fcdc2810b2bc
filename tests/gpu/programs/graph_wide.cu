/* A graph with more kernels side by side than gpuprof has streams for. By their code they wait for
 * nobody. In a second such graph all but one wait for that one: to launch them one behind the other
 * would take for ever. */
#include "check.h"

#define N 3000
#define WIDTH 12

__global__ void scale(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = k * data[i] + 1;
}

__global__ void join(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        for (int branch = 1; branch < WIDTH; branch++)
            data[i] += data[branch * N + i];
}

__global__ void waitForFlag(volatile unsigned *flag, unsigned *data)
{
    while (!*flag)
        ;
    __threadfence();
    *data = 2 * *data + *flag;
}

__global__ void raise(volatile unsigned *flag)
{
    *flag = 3;
}

static cudaStream_t streams[WIDTH];
static cudaEvent_t forked, joined[WIDTH];

static void fork()
{
    CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal));
    CHECK(cudaEventRecord(forked, streams[0]));
    for (int b = 1; b < WIDTH; b++)
        CHECK(cudaStreamWaitEvent(streams[b], forked, 0));
}

static cudaGraphExec_t come_together()
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaGetLastError());
    for (int b = 1; b < WIDTH; b++) {
        CHECK(cudaEventRecord(joined[b], streams[b]));
        CHECK(cudaStreamWaitEvent(streams[0], joined[b], 0));
    }
    CHECK(cudaStreamEndCapture(streams[0], &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return executable;
}

int main()
{
    static unsigned host[N * WIDTH], expected[WIDTH];
    const int blocks = (int)blocks_for(N, 128);
    unsigned *data, *flag, waited = 0;
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    for (int b = 0; b < WIDTH; b++) {
        CHECK(cudaStreamCreateWithFlags(&streams[b], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&joined[b], cudaEventDisableTiming));
    }
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaMalloc(&flag, 4));
    CHECK(cudaDeviceSynchronize());

    fork();
    for (int b = 0; b < WIDTH; b++)
        scale<<<blocks, 128, 0, streams[b]>>>(data + b * N, (unsigned)b + 2);
    cudaGraphExec_t wide = come_together();
    for (int k = 0; k < 5; k++) {
        CHECK(cudaGraphLaunch(wide, streams[0]));
        join<<<blocks, 128, 0, streams[0]>>>(data);
        for (int b = 0; b < WIDTH; b++)
            expected[b] = ((unsigned)b + 2) * expected[b] + 1;
        for (int b = 1; b < WIDTH; b++)
            expected[0] += expected[b];
    }
    CHECK(cudaGraphExecDestroy(wide));

    /* Each waiting kernel has an element of its own. */
    fork();
    for (int b = 0; b < WIDTH - 1; b++)
        waitForFlag<<<1, 1, 0, streams[b]>>>(flag, data + b);
    raise<<<1, 1, 0, streams[WIDTH - 1]>>>(flag);
    cudaGraphExec_t waiting = come_together();
    for (int k = 0; k < 3; k++) {
        CHECK(cudaMemsetAsync(flag, 0, 4, streams[0]));
        CHECK(cudaGraphLaunch(waiting, streams[0]));
        waited = 2 * waited + 3;
    }
    CHECK(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, streams[0]));
    CHECK(cudaStreamSynchronize(streams[0]));
    for (int b = 0; b < WIDTH; b++)
        for (int i = 0; i < N; i++) {
            unsigned right = b == 0 && i < WIDTH - 1 ? 8 * expected[0] + waited : expected[b];
            REQUIRE(host[b * N + i] == right, "element %d of branch %d is %u, not %u", i, b,
                    host[b * N + i], right);
        }
    CHECK(cudaGraphExecDestroy(waiting));
    printf("graph_wide: ok %u\n", expected[0]);
    return 0;
}
