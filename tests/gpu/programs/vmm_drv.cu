/* Physical memory from cuMemCreate: one block mapped at two addresses and updated through both,
 * then another block at the address of the first. */
#include "driver.h"

__global__ void update(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

static const int n = 100000;
static CUdeviceptr address[2];
static size_t size;

static void map(int where, CUmemGenericAllocationHandle block)
{
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemMap(address[where], size, 0, block, 0));
    DRIVER(cuMemSetAccess(address[where], size, &access, 1));
}

static void launch(int where, unsigned k)
{
    update<<<blocks_for(n, 128), 128>>>((unsigned *)address[where], n, k);
    CHECK(cudaGetLastError());
}

static void require_all(int where, unsigned expected)
{
    static unsigned host[n];
    DRIVER(cuMemcpyDtoH(host, address[where], n * sizeof(unsigned)));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "%d: element %d is %u, not %u", where, i, host[i], expected);
}

int main()
{
    CHECK(cudaFree(NULL));
    CUmemAllocationProp kind = {};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t granule;
    DRIVER(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    size = (n * sizeof(unsigned) + granule - 1) / granule * granule;
    CUmemGenericAllocationHandle blocks[2];
    for (int b = 0; b < 2; b++) {
        DRIVER(cuMemCreate(&blocks[b], size, &kind, 0));
        DRIVER(cuMemAddressReserve(&address[b], size, 0, 0, 0));
    }
    map(0, blocks[0]);
    map(1, blocks[0]);
    unsigned first = 1, second = 2;
    DRIVER(cuMemsetD32(address[0], first, n));
    for (unsigned k = 0; k < 6; k++) {
        launch(k % 2, k);
        first = 3 * first + k;
    }
    require_all(0, first);
    require_all(1, first);
    DRIVER(cuMemUnmap(address[0], size));
    map(0, blocks[1]);
    DRIVER(cuMemsetD32(address[0], second, n));
    for (unsigned k = 0; k < 6; k++) {
        launch(k % 2, k);
        (k % 2 ? first : second) = 3 * (k % 2 ? first : second) + k;
    }
    require_all(0, second);
    require_all(1, first);
    for (int b = 0; b < 2; b++) {
        DRIVER(cuMemUnmap(address[b], size));
        DRIVER(cuMemRelease(blocks[b]));
        DRIVER(cuMemAddressFree(address[b], size));
    }
    printf("vmm: ok %u %u\n", first, second);
    return 0;
}
