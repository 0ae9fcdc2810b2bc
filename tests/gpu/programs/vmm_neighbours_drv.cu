/* Memory that grows by mapping more of it behind, as allocators with expandable segments do it, and is
 * used across the borders: the kernel is given a pointer into the first piece only. */
#include "driver.h"

__global__ void update(unsigned *data, size_t n, unsigned k)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

int main()
{
    const int pieces = 6;
    CHECK(cudaFree(NULL));
    CUmemAllocationProp kind = {};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {};
    access.location = kind.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    size_t size;
    DRIVER(cuMemGetAllocationGranularity(&size, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUdeviceptr start;
    DRIVER(cuMemAddressReserve(&start, pieces * size, 0, 0, 0));
    unsigned *host = (unsigned *)malloc(pieces * size), expected[pieces];
    REQUIRE(host, "out of memory");
    for (int p = 0; p < pieces; p++) {
        CUmemGenericAllocationHandle block;
        DRIVER(cuMemCreate(&block, size, &kind, 0));
        DRIVER(cuMemMap(start + p * size, size, 0, block, 0));
        DRIVER(cuMemSetAccess(start + p * size, size, &access, 1));
        DRIVER(cuMemRelease(block));
        DRIVER(cuMemsetD32(start + p * size, p, size / 4));
        expected[p] = p;
        size_t n = (p + 1) * size / sizeof(unsigned);
        for (unsigned k = 0; k < 2; k++) {
            update<<<blocks_for(n, 256), 256>>>((unsigned *)start, n, k);
            CHECK(cudaGetLastError());
            for (int q = 0; q <= p; q++)
                expected[q] = 3 * expected[q] + k;
        }
    }
    CHECK(cudaDeviceSynchronize());
    for (int p = 0; p < pieces; p++) {
        DRIVER(cuMemcpyDtoH(host, start + p * size, size));
        for (size_t i = 0; i < size / sizeof(unsigned); i++)
            REQUIRE(host[i] == expected[p], "piece %d: element %zu is %u, not %u", p, i, host[i],
                    expected[p]);
        DRIVER(cuMemUnmap(start + p * size, size));
    }
    DRIVER(cuMemAddressFree(start, pieces * size));
    free(host);
    printf("vmm_neighbours: ok %u\n", expected[0]);
    return 0;
}
