/* A kernel that updates the host's own memory: pinned and mapped, and registered afterwards. */
#include "check.h"

__global__ void update(int *mapped, int *registered, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        mapped[i] += i;
        registered[i] = 2 * registered[i] + 1;
    }
}

int main()
{
    const int n = 5000, launches = 10;
    size_t bytes = n * sizeof(int);
    int *mapped, *registered = NULL, *d_mapped, *d_registered;
    CHECK(cudaHostAlloc(&mapped, bytes, cudaHostAllocMapped));
    REQUIRE(posix_memalign((void **)&registered, 4096, bytes) == 0, "out of memory");
    CHECK(cudaHostRegister(registered, bytes, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&d_mapped, mapped, 0));
    CHECK(cudaHostGetDevicePointer(&d_registered, registered, 0));
    for (int i = 0; i < n; i++) {
        mapped[i] = 7;
        registered[i] = i;
    }
    for (int k = 0; k < launches; k++) {
        update<<<blocks_for(n, 128), 128>>>(d_mapped, d_registered, n);
        CHECK(cudaGetLastError());
        if (k == 4) {
            CHECK(cudaDeviceSynchronize());
            mapped[0] = 100;
        }
    }
    CHECK(cudaDeviceSynchronize());
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        int expected = i ? 7 + launches * i : 100, expected_registered = i;
        for (int k = 0; k < launches; k++)
            expected_registered = 2 * expected_registered + 1;
        REQUIRE(mapped[i] == expected, "mapped[%d] is %d, not %d", i, mapped[i], expected);
        REQUIRE(registered[i] == expected_registered, "registered[%d] is %d, not %d", i,
                registered[i], expected_registered);
        sum += mapped[i] + registered[i];
    }
    CHECK(cudaHostUnregister(registered));
    CHECK(cudaFreeHost(mapped));
    printf("hostmapped: ok sum=%lld\n", sum);
    return 0;
}
