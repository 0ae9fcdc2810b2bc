/* Counters that live in functions: of the same name in three kernels, one in a device function two
 * kernels share, and one in each instance of a template. */
#include "check.h"

__device__ int shared_calls()
{
    static __device__ int calls;
    return ++calls;
}

__global__ void first(int *out)
{
    static __device__ int calls;
    out[0] = 10 * out[0] + ++calls;
    out[1] = shared_calls();
}

__global__ void second(int *out)
{
    static __device__ int calls = 100;
    out[2] += ++calls;
    out[3] = shared_calls();
}

template <int STEP> __global__ void third(int *out)
{
    static __device__ int calls;
    calls += STEP;
    out[4 + STEP] = calls;
}

int main()
{
    int host[8], expected[8] = {0}, *out;
    CHECK(cudaMalloc(&out, sizeof(host)));
    CHECK(cudaMemset(out, 0, sizeof(host)));
    for (int k = 1; k <= 8; k++) {
        first<<<1, 1>>>(out);
        CHECK(cudaGetLastError());
        second<<<1, 1>>>(out);
        CHECK(cudaGetLastError());
        third<1><<<1, 1>>>(out);
        CHECK(cudaGetLastError());
        third<3><<<1, 1>>>(out);
        CHECK(cudaGetLastError());
        expected[0] = 10 * expected[0] + k;
        expected[1] = 2 * k - 1;
        expected[2] += 100 + k;
        expected[3] = 2 * k;
        expected[5] = k;
        expected[7] = 3 * k;
    }
    CHECK(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        REQUIRE(host[i] == expected[i], "value %d is %d, not %d", i, host[i], expected[i]);
    CHECK(cudaFree(out));
    printf("static_counters: ok %d %d %d %d\n", host[0], host[2], host[3], host[7]);
    return 0;
}
