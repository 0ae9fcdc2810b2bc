// A kernel that waits for the host, but not longer than a tenth of a second, as libraries put in
// front of kernels that they time. A profiler that waits for it lets its time run out, and the
// program sees that.
#include "check.h"

static const int rounds = 10;

__global__ void delay(volatile int *flag, int *late)
{
    const long long start = clock64();
    bool reached;
    while (!(reached = *flag == 1) && clock64() - start < 200000000) {
        const long long before = clock64();
        while (clock64() - before < 1024)
            ;
    }
    if (!reached)
        *late += 1;
}

__global__ void update(unsigned *data)
{
    data[threadIdx.x] = 3 * data[threadIdx.x] + threadIdx.x;
}

int main()
{
    int *flag, *deviceFlag, *late, wereLate = -1;
    unsigned *data, result[32], expected[32] = {0};
    CHECK(cudaHostAlloc(&flag, sizeof(*flag), cudaHostAllocMapped));
    CHECK(cudaHostGetDevicePointer((void **)&deviceFlag, flag, 0));
    CHECK(cudaMalloc(&late, sizeof(*late)));
    CHECK(cudaMalloc(&data, sizeof(result)));
    CHECK(cudaMemset(late, 0, sizeof(*late)));
    CHECK(cudaMemset(data, 0, sizeof(result)));
    cudaFuncAttributes
        attributes; // loads them: the first launch of a kernel may wait for the device
    CHECK(cudaFuncGetAttributes(&attributes, delay));
    CHECK(cudaFuncGetAttributes(&attributes, update));
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < rounds; k++) {
        *(volatile int *)flag = 0;
        delay<<<1, 1>>>(deviceFlag, late);
        update<<<1, 32>>>(data);
        CHECK(cudaGetLastError());
        *(volatile int *)flag = 1;
        CHECK(cudaDeviceSynchronize());
        update<<<1, 32>>>(data);
        CHECK(cudaGetLastError());
        for (int twice = 0; twice < 2; twice++)
            for (unsigned i = 0; i < 32; i++)
                expected[i] = 3 * expected[i] + i;
    }
    CHECK(cudaMemcpy(&wereLate, late, sizeof(wereLate), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(result, data, sizeof(result), cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 32; i++)
        REQUIRE(result[i] == expected[i], "element %u is %u, not %u", i, result[i], expected[i]);
    printf("delay: ok, %d late\n", wereLate);
    return 0;
}
