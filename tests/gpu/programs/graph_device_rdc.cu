// A graph whose kernel launches other graphs from the device: one at once (fire and forget), one
// when it has ended itself (tail). Its kernels cannot run by themselves. And an ordinary kernel of
// the same module, launched by itself before there is such a graph and afterwards.
#include "check.h"

__global__ void launched(int *counts)
{
    atomicAdd(&counts[0], 1);
}

__global__ void last(int *counts)
{
    counts[1] = 2 * counts[1] + counts[0] % 2;
}

__global__ void launcher(cudaGraphExec_t now, cudaGraphExec_t later, int *counts)
{
    counts[2] += 1;
    if (cudaGraphLaunch(now, cudaStreamGraphFireAndForget) != cudaSuccess ||
        cudaGraphLaunch(later, cudaStreamGraphTailLaunch) != cudaSuccess)
        counts[3] += 1;
}

__global__ void follow(int *counts)
{
    counts[4] += counts[2];
}

__global__ void ordinary(int *out)
{
    out[threadIdx.x] = 3 * out[threadIdx.x] + 1;
}

static cudaGraphExec_t deviceGraph(void (*kernel)(int *), int *counts)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    void *arguments[] = {&counts};
    cudaKernelNodeParams params = {};
    params.func = (void *)kernel;
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

static void launchOrdinary(int *out, cudaStream_t stream)
{
    for (int i = 0; i < 3; i++)
        ordinary<<<1, 64, 0, stream>>>(out);
    CHECK(cudaGetLastError());
}

int main()
{
    const int rounds = 5;
    int *counts, *out, got[5], numbers[64];
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&counts, sizeof(got)));
    CHECK(cudaMalloc(&out, sizeof(numbers)));
    CHECK(cudaMemset(counts, 0, sizeof(got)));
    CHECK(cudaMemset(out, 0, sizeof(numbers)));
    CHECK(cudaDeviceSynchronize());
    launchOrdinary(out, stream);

    cudaGraphExec_t now = deviceGraph(launched, counts), later = deviceGraph(last, counts), exec;
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launcher<<<1, 1, 0, stream>>>(now, later, counts);
    follow<<<1, 1, 0, stream>>>(counts);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphUpload(now, stream));
    CHECK(cudaGraphUpload(later, stream));
    for (int round = 0; round < rounds; round++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
    }
    launchOrdinary(out, stream);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(got, counts, sizeof(got), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(numbers, out, sizeof(numbers), cudaMemcpyDeviceToHost));
    REQUIRE(got[0] == rounds && got[2] == rounds && got[3] == 0,
            "%d launched, %d launchers, %d refused", got[0], got[2], got[3]);
    REQUIRE(got[1] == 21, "the last is %d", got[1]); /* 10101 in binary: it sees 1 to 5 launches */
    REQUIRE(got[4] == 15, "the following launch is %d", got[4]);
    REQUIRE(numbers[63] == 364, "the ordinary number is %d", numbers[63]);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphExecDestroy(now));
    CHECK(cudaGraphExecDestroy(later));
    CHECK(cudaGraphDestroy(graph));
    printf("graph_device: ok %d\n", got[0]);
    return 0;
}
