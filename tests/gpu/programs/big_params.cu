/* Kernel parameters of 4000 bytes, which every CUDA allows, and of 16000, which recent ones do. The
 * host overwrites them right after each launch. */
#include "check.h"
#include <string.h>

template <int N> struct numbers {
    int *out;
    int values[N];
};

__global__ void large(const __grid_constant__ numbers<990> numbers)
{
    for (int i = threadIdx.x; i < 990; i += blockDim.x)
        numbers.out[i] += numbers.values[i];
}

__global__ void larger(const __grid_constant__ numbers<3990> numbers)
{
    for (int i = threadIdx.x; i < 3990; i += blockDim.x)
        numbers.out[i] += numbers.values[i];
}

template <int N> static void run(const char *name, void (*kernel)(const numbers<N>))
{
    const int launches = 6;
    static numbers<N> parameters;
    static int host[N];
    int *out;
    CHECK(cudaMalloc(&out, sizeof(host)));
    CHECK(cudaMemset(out, 0, sizeof(host)));
    for (int k = 0; k < launches; k++) {
        parameters.out = out;
        for (int i = 0; i < N; i++)
            parameters.values[i] = i + k;
        kernel<<<1, 128>>>(parameters);
        CHECK(cudaGetLastError());
        memset(&parameters, 0xff, sizeof(parameters));
    }
    CHECK(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    long long sum = 0;
    for (int i = 0; i < N; i++) {
        int expected = launches * i + launches * (launches - 1) / 2;
        REQUIRE(host[i] == expected, "%s: element %d is %d, not %d", name, i, host[i], expected);
        sum += host[i];
    }
    CHECK(cudaFree(out));
    printf("big_params %s: ok sum=%lld\n", name, sum);
}

int main()
{
    run<990>("large", large);
    run<3990>("larger", larger);
    return 0;
}
