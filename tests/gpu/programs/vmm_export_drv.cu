/* Physical memory from cuMemCreate that is exported (cuMemExportToShareableHandle) after some
 * launches have used it, and imported again, as another process would: from then on others may
 * write it. */
#include "driver.h"
#include <stdint.h>
#include <unistd.h>

__global__ void own(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 3 * data[i] + k;
}

__global__ void shared(unsigned *data, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = 5 * data[i] + k;
}

static const int n = 100000;

static CUdeviceptr map(CUmemGenericAllocationHandle block, size_t size)
{
    CUdeviceptr address;
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemAddressReserve(&address, size, 0, 0, 0));
    DRIVER(cuMemMap(address, size, 0, block, 0));
    DRIVER(cuMemSetAccess(address, size, &access, 1));
    return address;
}

int main()
{
    static unsigned host[n];
    unsigned *data, expected[2] = {0, 0};
    size_t granule, size;
    CUmemGenericAllocationHandle block, imported;
    CUmemAllocationProp kind = {};
    int number;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    kind.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DRIVER(cuMemGetAllocationGranularity(&granule, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    size = (sizeof(host) + granule - 1) / granule * granule;
    DRIVER(cuMemCreate(&block, size, &kind, 0));
    CUdeviceptr first = map(block, size), second = 0;
    DRIVER(cuMemsetD32(first, 0, n));
    for (unsigned k = 0; k < 12; k++) {
        if (k == 4)
            DRIVER(cuMemExportToShareableHandle(&number, block,
                                                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        if (k == 8) {
            DRIVER(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)number,
                                                  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
            second = map(imported, size);
        }
        shared<<<blocks_for(n, 128), 128>>>((unsigned *)(second ? second : first), n, k);
        CHECK(cudaGetLastError());
        own<<<blocks_for(n, 128), 128>>>(data, n, k);
        CHECK(cudaGetLastError());
        expected[0] = 5 * expected[0] + k;
        expected[1] = 3 * expected[1] + k;
    }
    for (int which = 0; which < 2; which++) {
        CUdeviceptr from = which ? (CUdeviceptr)(uintptr_t)data : first;
        DRIVER(cuMemcpyDtoH(host, from, sizeof(host)));
        for (int i = 0; i < n; i++)
            REQUIRE(host[i] == expected[which], "%d: element %d is %u, not %u", which, i, host[i],
                    expected[which]);
    }
    close(number);
    printf("vmm_export: ok %u %u\n", expected[0], expected[1]);
    return 0;
}
