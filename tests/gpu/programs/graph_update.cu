/* A graph of two kernel nodes, whose parameters and grid are changed in the executable graph
 * between its launches, among ordinary launches of the same kernel. */
#include "check.h"

#define N 9000

__global__ void add(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

static unsigned host[N], expected[N];

static void expect(int n, unsigned k)
{
    for (int i = 0; i < n; i++)
        expected[i] = 3 * expected[i] + k;
}

int main()
{
    unsigned *data, sum = 0, k = 0;
    int n = N;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaDeviceSynchronize());
    void *arguments[] = {&data, &n, &k};
    cudaKernelNodeParams node = {};
    node.func = (void *)add;
    node.gridDim = dim3(blocks_for(N, 128));
    node.blockDim = dim3(128);
    node.kernelParams = arguments;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t first, second;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &node));
    CHECK(cudaGraphAddKernelNode(&second, graph, &first, 1, &node));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (unsigned round = 0; round < 6; round++) {
        n = N - 1000 * (int)round;
        k = round;
        node.gridDim = dim3(blocks_for(n, 128));
        CHECK(cudaGraphExecKernelNodeSetParams(executable, first, &node));
        k = 10 * round;
        CHECK(cudaGraphExecKernelNodeSetParams(executable, second, &node));
        add<<<blocks_for(N, 128), 128, 0, stream>>>(data, N, 100 + round);
        CHECK(cudaGetLastError());
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaGraphLaunch(executable, stream));
        add<<<blocks_for(n, 64), 64, 0, stream>>>(data, n, 200 + round);
        CHECK(cudaGetLastError());
        expect(N, 100 + round);
        for (int i = 0; i < 2; i++) {
            expect(n, round);
            expect(n, 10 * round);
        }
        expect(n, 200 + round);
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected[i], "element %d is %u, not %u", i, host[i], expected[i]);
        sum += host[i];
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    printf("graph_update: ok sum=%u\n", sum);
    return 0;
}
