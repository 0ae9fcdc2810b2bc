/* A step as training programs capture it: inputs copied in, buffers cleared, kernels on two streams,
 * results copied out; copies of rows and of boxes, fills of bytes and of words. The inputs change
 * between the launches. And a graph that ends in a copy to memory only the host knows. */
#include "check.h"

#define ROWS 64
#define WIDTH 100
#define N (ROWS * WIDTH)

__global__ void forward(const unsigned *input, const unsigned *weights, unsigned *output)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        output[i] = 3 * input[i] + weights[i];
}

__global__ void gradient(const unsigned *output, unsigned *grad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        atomicAdd(&grad[i % WIDTH], output[i]);
}

__global__ void step(unsigned *weights, const unsigned *grad)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        weights[i] = 5 * weights[i] + grad[i % WIDTH];
}

static unsigned weights[N], output[N], grad[WIDTH];

static void expect_step(const unsigned *input)
{
    for (int i = 0; i < WIDTH; i++)
        grad[i] = 0;
    for (int i = 0; i < N; i++) {
        output[i] = 3 * input[i] + weights[i];
        grad[i % WIDTH] += output[i];
    }
    for (int i = 0; i < N; i++)
        weights[i] = 5 * weights[i] + grad[i % WIDTH];
}

int main()
{
    const int blocks = (int)blocks_for(N, 128);
    const size_t bytes = N * sizeof(unsigned), row = WIDTH * sizeof(unsigned);
    static unsigned seen[N];
    unsigned *in_host, *out_host, *rows, *in, *w, *out, *g, sum = 0;
    size_t pitch;
    cudaStream_t a, b;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    CHECK(cudaMallocHost(&in_host, bytes));
    CHECK(cudaMallocHost(&out_host, bytes));
    CHECK(cudaMallocPitch(&rows, &pitch, row, ROWS));
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc(&w, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMalloc(&g, row));
    CHECK(cudaMemset(w, 0, bytes));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemset2DAsync(rows, pitch, 0xee, row, ROWS, a));
    CHECK(cudaMemcpy2DAsync(rows, pitch, in_host, row, row, ROWS, cudaMemcpyHostToDevice, a));
    CHECK(cudaEventRecord(forked, a));
    CHECK(cudaStreamWaitEvent(b, forked, 0));
    CHECK(cudaMemsetAsync(g, 0, row, b));
    CHECK(cudaMemcpy2DAsync(in, row, rows, pitch, row, ROWS, cudaMemcpyDeviceToDevice, a));
    forward<<<blocks, 128, 0, a>>>(in, w, out);
    CHECK(cudaEventRecord(joined, b));
    CHECK(cudaStreamWaitEvent(a, joined, 0));
    gradient<<<blocks, 128, 0, a>>>(out, g);
    step<<<blocks, 128, 0, a>>>(w, g);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(out_host, out, bytes, cudaMemcpyDeviceToHost, a));
    CHECK(cudaStreamEndCapture(a, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (unsigned k = 0; k < 4; k++) {
        for (unsigned i = 0; i < N; i++)
            in_host[i] = 7 * i + k;
        CHECK(cudaGraphLaunch(executable, a));
        CHECK(cudaStreamSynchronize(a));
        expect_step(in_host);
        for (int i = 0; i < N; i++)
            REQUIRE(out_host[i] == output[i], "output %d is %u, not %u", i, out_host[i], output[i]);
        sum += out_host[k];
    }
    CHECK(cudaGraphExecDestroy(executable));

    cudaGraphNode_t node;
    void *arguments[] = {&in, &w, &out};
    cudaKernelNodeParams p = {};
    p.func = (void *)forward;
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(128);
    p.kernelParams = arguments;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p));
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, &node, 1, seen, out, bytes,
                                   cudaMemcpyDeviceToHost));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, a));
    CHECK(cudaStreamSynchronize(a));
    for (int i = 0; i < N; i++)
        REQUIRE(seen[i] == 3 * in_host[i] + weights[i], "element %d is %u", i, seen[i]);
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    printf("graph_copies: ok %u\n", sum);
    return 0;
}
