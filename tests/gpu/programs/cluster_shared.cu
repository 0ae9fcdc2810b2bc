/* Clusters of four blocks that read each other's shared memory and update global memory in place.
 * Where the chip has no clusters the same sums are made from global memory. */
#include "check.h"
#include <cooperative_groups.h>

#define CLUSTER 4
#define THREADS 96

__global__ void exchange(unsigned *data, const unsigned *input)
{
    unsigned sum = 0, i = blockIdx.x * THREADS + threadIdx.x;
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned mine[THREADS];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = input[i];
    cluster.sync();
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++)
        sum += (rank + 1) * cluster.map_shared_rank(mine, rank)[threadIdx.x];
    cluster.sync();
#else
    for (unsigned rank = 0; rank < CLUSTER; rank++)
        sum += (rank + 1) * input[(blockIdx.x / CLUSTER * CLUSTER + rank) * THREADS + threadIdx.x];
#endif
    data[i] = 3 * data[i] + sum;
}

int main()
{
    const unsigned blocks = 16, n = blocks * THREADS, launches = 6;
    unsigned host[n], *data, *input;
    int clusters;
    CHECK(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
    for (unsigned i = 0; i < n; i++)
        host[i] = i;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMalloc(&input, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CHECK(cudaMemcpy(input, host, sizeof(host), cudaMemcpyHostToDevice));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = CLUSTER;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = clusters ? 1 : 0;
    for (unsigned k = 0; k < launches; k++)
        CHECK(cudaLaunchKernelEx(&config, exchange, data, (const unsigned *)input));
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    unsigned total = 0;
    for (unsigned i = 0; i < n; i++) {
        unsigned sum = 0, expected = 0, base = i / THREADS / CLUSTER * CLUSTER;
        for (unsigned rank = 0; rank < CLUSTER; rank++)
            sum += (rank + 1) * ((base + rank) * THREADS + i % THREADS);
        for (unsigned k = 0; k < launches; k++)
            expected = 3 * expected + sum;
        REQUIRE(host[i] == expected, "element %u is %u, not %u", i, host[i], expected);
        total += host[i];
    }
    CHECK(cudaFree(data));
    CHECK(cudaFree(input));
    printf("cluster_shared: ok sum=%u\n", total);
    return 0;
}
