/* A graph of three kernels, launched many times: as it was made, with parameters changed, with nodes
 * switched off, after its graph was destroyed, and updated from captured ones. */
#include "check.h"

#define N 9000

__global__ void add(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

__global__ void turn(unsigned *data)
{
    __shared__ unsigned tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < N ? data[i] : 0;
    __syncthreads();
    if (i < N)
        data[i] = (tile[threadIdx.x] << 1) ^ (tile[threadIdx.x] >> 3);
}

static unsigned host[N], expected = 1;

static void expect_add(unsigned k)
{
    expected = 3 * expected + k;
}

static void expect_turn()
{
    expected = (expected << 1) ^ (expected >> 3);
}

static void capture(cudaGraph_t *graph, cudaStream_t stream, unsigned *data, unsigned k)
{
    const int blocks = (int)blocks_for(N, 128);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    add<<<blocks, 128, 0, stream>>>(data, k);
    turn<<<blocks, 128, 0, stream>>>(data);
    add<<<blocks, 128, 0, stream>>>(data, k + 1);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamEndCapture(stream, graph));
}

static void expect_launch(unsigned k)
{
    expect_add(k);
    expect_turn();
    expect_add(k + 1);
}

/* The same as the captured work, by hand, for the nodes. */
static void build(cudaGraph_t *graph, cudaGraphNode_t *nodes, unsigned *data, unsigned k)
{
    unsigned next = k + 1;
    void *one[] = {&data, &k}, *other[] = {&data, &next};
    cudaKernelNodeParams p = {};
    p.gridDim = dim3(blocks_for(N, 128));
    p.blockDim = dim3(128);
    CHECK(cudaGraphCreate(graph, 0));
    p.func = (void *)add;
    p.kernelParams = one;
    CHECK(cudaGraphAddKernelNode(&nodes[0], *graph, NULL, 0, &p));
    p.func = (void *)turn;
    CHECK(cudaGraphAddKernelNode(&nodes[1], *graph, &nodes[0], 1, &p));
    p.func = (void *)add;
    p.kernelParams = other;
    CHECK(cudaGraphAddKernelNode(&nodes[2], *graph, &nodes[1], 1, &p));
}

int main()
{
    unsigned *data, sum = 0, k = 77;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t nodes[3];
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, sizeof(host)));
    for (int i = 0; i < N; i++)
        host[i] = 1;
    CHECK(cudaMemcpy(data, host, sizeof(host), cudaMemcpyHostToDevice));

    build(&graph, nodes, data, 5);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 4; i++) {
        CHECK(cudaGraphLaunch(executable, stream));
        expect_launch(5);
    }

    void *arguments[] = {&data, &k};
    cudaKernelNodeParams p = {};
    p.func = (void *)add;
    p.gridDim = dim3(blocks_for(N, 64));
    p.blockDim = dim3(64);
    p.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, nodes[2], &p));
    k = 0; /* its value when it was set counts */
    for (int i = 0; i < 3; i++) {
        CHECK(cudaGraphLaunch(executable, stream));
        expect_add(5);
        expect_turn();
        expect_add(77);
    }

    CHECK(cudaGraphNodeSetEnabled(executable, nodes[0], 0));
    CHECK(cudaGraphLaunch(executable, stream));
    expect_turn();
    expect_add(77);
    CHECK(cudaGraphNodeSetEnabled(executable, nodes[0], 1));
    CHECK(cudaGraphNodeSetEnabled(executable, nodes[1], 0));
    CHECK(cudaGraphLaunch(executable, stream));
    expect_add(5);
    expect_add(77);
    CHECK(cudaGraphNodeSetEnabled(executable, nodes[1], 1));
    CHECK(cudaGraphDestroy(graph));

    for (unsigned round = 0; round < 3; round++) {
        cudaGraphExecUpdateResultInfo info;
        capture(&graph, stream, data, 10 * round);
        CHECK(cudaGraphExecUpdate(executable, graph, &info));
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaGraphLaunch(executable, stream));
        expect_launch(10 * round);
        expect_launch(10 * round);
    }
    CHECK(cudaMemcpyAsync(host, data, sizeof(host), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < N; i++) {
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
        sum += host[i];
    }
    CHECK(cudaGraphExecDestroy(executable));
    printf("graph_kernels: ok sum=%u\n", sum);
    return 0;
}
