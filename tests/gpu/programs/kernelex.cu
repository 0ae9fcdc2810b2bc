/* cudaLaunchKernelExC: with a cluster attribute where the chip has clusters, and without any. */
#include "check.h"
#include <cooperative_groups.h>

__global__ void clustered(int *data)
{
    int blocks = 1;
#if __CUDA_ARCH__ >= 900
    blocks = (int)cooperative_groups::this_cluster().num_blocks();
#endif
    data[blockIdx.x * blockDim.x + threadIdx.x] += blocks;
}

int main()
{
    const int blocks = 8, threads = 64, n = blocks * threads;
    int clusters, host[n], *data;
    CHECK(cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, 0));
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.attrs = &attribute;
    void *arguments[] = {&data};

    config.numAttrs = clusters ? 1 : 0;
    for (int k = 0; k < 3; k++)
        CHECK(cudaLaunchKernelExC(&config, (const void *)clustered, arguments));
    config.numAttrs = 0;
    CHECK(cudaLaunchKernelExC(&config, (const void *)clustered, arguments));

    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    int expected = 3 * (clusters ? 2 : 1) + 1;
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "element %d is %d, not %d", i, host[i], expected);
    CHECK(cudaFree(data));
    printf("kernelex: ok %d\n", host[0]);
    return 0;
}
