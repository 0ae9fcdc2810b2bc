/* A graph in a graph in a graph, each with kernels before, after and beside; and one of them launched
 * into a stream that is being captured. */
#include "check.h"

#define N 7000

__global__ void add(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        data[i] = 3 * data[i] + k;
}

static unsigned *data, *other;

static cudaGraphNode_t add_kernel(cudaGraph_t graph, unsigned *what, unsigned k,
                                  const cudaGraphNode_t *after, size_t count)
{
    cudaGraphNode_t node;
    void *arguments[] = {&what, &k};
    cudaKernelNodeParams p = {};
    p.func = (void *)add;
    p.gridDim = dim3(blocks_for(N, 128));
    p.blockDim = dim3(128);
    p.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, count, &p));
    return node;
}

static void expect_on(const unsigned *device, unsigned value, const char *what)
{
    static unsigned host[N];
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == value, "%s: element %d is %u, not %u", what, i, host[i], value);
}

int main()
{
    unsigned expected = 0, beside = 0;
    cudaStream_t stream;
    cudaGraph_t inner, middle, outer;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, N * sizeof(unsigned)));
    CHECK(cudaMalloc(&other, N * sizeof(unsigned)));
    CHECK(cudaMemset(data, 0, N * sizeof(unsigned)));
    CHECK(cudaMemset(other, 0, N * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaGraphCreate(&inner, 0));
    CHECK(cudaGraphCreate(&middle, 0));
    CHECK(cudaGraphCreate(&outer, 0));
    cudaGraphNode_t node = add_kernel(inner, data, 1, NULL, 0);
    add_kernel(inner, data, 2, &node, 1);
    node = add_kernel(middle, data, 3, NULL, 0);
    CHECK(cudaGraphAddChildGraphNode(&node, middle, &node, 1, inner));
    node = add_kernel(middle, data, 4, &node, 1);
    cudaGraphNode_t ends[2], first = add_kernel(outer, data, 5, NULL, 0);
    CHECK(cudaGraphAddChildGraphNode(&ends[0], outer, &first, 1, middle));
    ends[1] = add_kernel(outer, other, 6, &first, 1);
    add_kernel(outer, data, 7, ends, 2);
    CHECK(cudaGraphInstantiate(&executable, outer, 0));
    CHECK(cudaGraphDestroy(inner));
    CHECK(cudaGraphDestroy(middle));
    CHECK(cudaGraphDestroy(outer));

    static const unsigned order[] = {5, 3, 1, 2, 4, 7};
    for (int round = 0; round < 3; round++) {
        CHECK(cudaGraphLaunch(executable, stream));
        for (unsigned k : order)
            expected = 3 * expected + k;
        beside = 3 * beside + 6;
    }
    CHECK(cudaStreamSynchronize(stream));
    expect_on(data, expected, "children");
    expect_on(other, beside, "beside children");

    CHECK(cudaGraphExecDestroy(executable));
    printf("graph_child: ok %u %u\n", expected, beside);
    return 0;
}
