/* The device is reset in the middle of the program, which then goes on working. */
#include "check.h"

__device__ int total;

__global__ void update(int *data, int k)
{
    data[threadIdx.x] += k * threadIdx.x;
    if (threadIdx.x == 0)
        total += k;
}

static void work(int launches)
{
    int host[96], *data, got;
    CHECK(cudaMalloc(&data, sizeof(host)));
    CHECK(cudaMemset(data, 0, sizeof(host)));
    int expected = 0;
    for (int k = 1; k <= launches; k++) {
        update<<<1, 96>>>(data, k);
        CHECK(cudaGetLastError());
        expected += k;
    }
    CHECK(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&got, total, sizeof(got)));
    for (int i = 0; i < 96; i++)
        REQUIRE(host[i] == expected * i, "element %d is %d, not %d", i, host[i], expected * i);
    REQUIRE(got == expected, "the total is %d, not %d", got, expected);
    printf("reset: ok %d\n", got);
}

int main()
{
    work(4);
    CHECK(cudaDeviceReset());
    work(6);
    CHECK(cudaDeviceReset());
    CHECK(cudaDeviceReset());
    work(2);
    return 0;
}
