/* Programmatic dependent launch: the second kernel of a pair may begin before the first has ended,
 * and the next pair before this one has. Each waits on the device for its input. Both update the
 * same memory in place. */
#ifndef GPUPROF_TESTS_PDL_H
#define GPUPROF_TESTS_PDL_H

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

struct pairs {
    cudaStream_t stream;
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config;
    unsigned *data, *sums;                 /* N of each, 0 at first */
    unsigned expected_data, expected_sums; /* of each element */
};

static void begin_pairs(struct pairs *p)
{
    int major;
    *p = {};
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    CHECK(cudaStreamCreate(&p->stream));
    CHECK(cudaMalloc(&p->data, N * sizeof(unsigned)));
    CHECK(cudaMalloc(&p->sums, N * sizeof(unsigned)));
    CHECK(cudaMemset(p->data, 0, N * sizeof(unsigned)));
    CHECK(cudaMemset(p->sums, 0, N * sizeof(unsigned)));
    CHECK(cudaDeviceSynchronize());
    p->attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    p->attribute.val.programmaticStreamSerializationAllowed = 1;
    p->config.gridDim = dim3(blocks_for(N, 128));
    p->config.blockDim = dim3(128);
    p->config.stream = p->stream;
    p->config.attrs = &p->attribute;
    p->config.numAttrs = major >= 9 ? 1 : 0;
}

static void launch_pair(const struct pairs *p, unsigned k)
{
    CHECK(cudaLaunchKernelEx(&p->config, produce, p->data, k));
    CHECK(cudaLaunchKernelEx(&p->config, consume, (const unsigned *)p->data, p->sums));
}

/* The same on the host. */
static void expect_pair(struct pairs *p, unsigned k)
{
    p->expected_data = 3 * p->expected_data + k;
    p->expected_sums = 5 * p->expected_sums + p->expected_data;
}

static void end_pairs(const struct pairs *p)
{
    static unsigned host[N];
    CHECK(cudaStreamSynchronize(p->stream));
    CHECK(cudaMemcpy(host, p->sums, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        REQUIRE(host[i] == p->expected_sums, "sum %d is %u, not %u", i, host[i], p->expected_sums);
    CHECK(cudaStreamDestroy(p->stream));
}

#endif
