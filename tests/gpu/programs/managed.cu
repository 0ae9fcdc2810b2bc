/* Managed memory, updated in place by kernels and by the host in between. */
#include "check.h"

__global__ void update(int *data, int n, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 3 + k;
}

int main()
{
    const int n = 50000, launches = 12;
    int *data;
    CHECK(cudaMallocManaged(&data, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        data[i] = i % 100;
    for (int k = 0; k < launches; k++) {
        update<<<blocks_for(n, 128), 128>>>(data, n, k);
        CHECK(cudaGetLastError());
        if (k % 4 == 3) {
            CHECK(cudaDeviceSynchronize());
            for (int i = 0; i < n; i++)
                data[i] %= 1000;
        }
    }
    CHECK(cudaDeviceSynchronize());
    long long sum = 0;
    for (int i = 0; i < n; i++) {
        int expected = i % 100;
        for (int k = 0; k < launches; k++) {
            expected = expected * 3 + k;
            if (k % 4 == 3)
                expected %= 1000;
        }
        REQUIRE(data[i] == expected, "element %d is %d, not %d", i, data[i], expected);
        sum += data[i];
    }
    CHECK(cudaFree(data));
    printf("managed: ok sum=%lld\n", sum);
    return 0;
}
