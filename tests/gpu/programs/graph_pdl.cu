/* Programmatic dependent launch in a graph: its kernels may overlap, and each waits on the device for its
 * input. They are captured, and launched again and again; both update the same memory in place. */
#include "check.h"

#define N 20000

__global__ void produce(unsigned *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    if (i < N)
        data[i] = 3 * data[i] + 7;
}

__global__ void consume(const unsigned *data, unsigned *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    if (i < N)
        sums[i] = 5 * sums[i] + data[i];
}

int main()
{
    static unsigned host[N];
    unsigned *data, *sums, expected_data = 0, expected = 0;
    int major;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMalloc(&sums, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaMemset(sums, 0, sizeof(host)));
    CHECK(cudaDeviceSynchronize());
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks_for(N, 128));
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = major >= 9 ? 1 : 0;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < 3; k++) {
        CHECK(cudaLaunchKernelEx(&config, produce, data));
        CHECK(cudaLaunchKernelEx(&config, consume, (const unsigned *)data, sums));
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    for (int round = 0; round < 4; round++)
        CHECK(cudaGraphLaunch(exec, stream));
    for (int k = 0; k < 12; k++) {
        expected_data = 3 * expected_data + 7;
        expected = 5 * expected + expected_data;
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "sum %d is %u, not %u", i, host[i], expected);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    printf("graph_pdl: ok %u\n", host[0]);
    return 0;
}
