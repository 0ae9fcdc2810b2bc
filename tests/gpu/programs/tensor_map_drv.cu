/* The only way to the memory is a tensor map in the parameters: the kernel adds to it with bulk copies
 * that reduce. On GPUs that have none of this nothing is launched. */
#include "driver.h"

static const int tile = 256;

__global__ void add(const __grid_constant__ CUtensorMap map, int k)
{
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int values[tile];
    values[threadIdx.x] = k + threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned from = (unsigned)__cvta_generic_to_shared(values);
        asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group "
                     "[%0, {%1}], [%2];\n"
                     "cp.async.bulk.commit_group;\n"
                     "cp.async.bulk.wait_group 0;\n" ::"l"(&map),
                     "r"(blockIdx.x * tile), "r"(from)
                     : "memory");
    }
#endif
}

int main()
{
    const int n = tile * 400, launches = 6;
    static int host[n];
    CHECK(cudaFree(NULL));
    int major;
    CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    if (major < 9) {
        printf("tensor_map: this GPU has none\n");
        return 0;
    }
    int *data;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    CUtensorMap map;
    cuuint64_t size = n, pitch = sizeof(host); /* of which one dimension uses none */
    cuuint32_t box = tile, step = 1;
    DRIVER(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 1, data, &size, &pitch, &box,
                                  &step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    int expected = 0;
    for (int k = 0; k < launches; k++) {
        add<<<n / tile, tile>>>(map, k);
        CHECK(cudaGetLastError());
        expected += k;
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected + launches * (i % tile), "element %d is %d, not %d", i, host[i],
                expected + launches * (i % tile));
    CHECK(cudaFree(data));
    printf("tensor_map: ok %d\n", expected);
    return 0;
}
