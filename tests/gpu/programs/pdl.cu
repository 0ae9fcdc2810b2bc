/* Programmatic dependent launch: the second kernel of each pair may begin before the first has
 * ended, and waits on the device for its input. Both update the same memory in place. */
#include "check.h"

#define N 20000

__global__ void produce(unsigned *data, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    if (i < N)
        data[i] = 3 * data[i] + k;
}

__global__ void consume(unsigned *data, unsigned *sums)
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
    unsigned *data, *sums;
    int major;
    cudaStream_t stream;
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
    unsigned expected_data = 0, expected = 0;
    for (unsigned k = 0; k < 8; k++) {
        CHECK(cudaLaunchKernelEx(&config, produce, data, k));
        CHECK(cudaLaunchKernelEx(&config, consume, data, sums));
        expected_data = 3 * expected_data + k;
        expected = 5 * expected + expected_data;
    }
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, sums, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == expected, "sum %d is %u, not %u", i, host[i], expected);
    CHECK(cudaStreamDestroy(stream));
    printf("pdl: ok %u\n", host[0]);
    return 0;
}
