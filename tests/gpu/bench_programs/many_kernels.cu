/* many_kernels [times] [warm-up]: 40 kernels, each launched some times (5), none of them
 * beforehand: a program of which each part is new. Another kernel is launched beforehand (twice).
 *
 * Each kernel is affine modulo 2^32, so that the host follows them with two numbers. */
#include "bench.h"
#include <stdint.h>
#include <utility>
#include <vector>

#define BLOCK 256
#define N (256u * BLOCK)
#define KERNELS 40

template <int K> __global__ void step(uint32_t *data)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t value = data[i];
#pragma unroll 1
    for (int r = 0; r <= K; r++)
        value = (2 * K + 3) * value + r;
    data[i] = value;
}

__global__ void another(uint32_t *data)
{
    atomicAdd(data, 0);
}

typedef void (*kernel)(uint32_t *);

template <int... K> static std::vector<kernel> all(std::integer_sequence<int, K...>)
{
    return {step<K>...};
}

int main(int argc, char **argv)
{
    int times = (int)argument(argc, argv, 1, 5, 1, 1000);
    int warm = (int)argument(argc, argv, 2, 2, 0, 1000);
    std::vector<kernel> kernels = all(std::make_integer_sequence<int, KERNELS>());
    std::vector<uint32_t> host(N);
    for (uint32_t i = 0; i < N; i++)
        host[i] = i * 2654435761u;
    uint32_t *data, factor = 1, constant = 0, sum = 0;
    CHECK(cudaMalloc(&data, N * sizeof(*data)));
    CHECK(cudaMemcpy(data, host.data(), N * sizeof(*data), cudaMemcpyHostToDevice));

    for (int i = 0; i < warm; i++)
        another<<<1, 1>>>(data);
    CHECK(cudaDeviceSynchronize());

    double start = start_loop();
    for (int t = 0; t < times; t++)
        for (kernel k : kernels)
            k<<<N / BLOCK, BLOCK>>>(data);
    print_loop(start, (long)times * KERNELS);
    CHECK(cudaGetLastError());
    for (int t = 0; t < times; t++)
        for (int k = 0; k < KERNELS; k++)
            for (int r = 0; r <= k; r++) {
                factor *= 2 * (uint32_t)k + 3;
                constant = (2 * (uint32_t)k + 3) * constant + (uint32_t)r;
            }

    CHECK(cudaMemcpy(host.data(), data, N * sizeof(*data), cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < N; i++) {
        uint32_t wanted = factor * (i * 2654435761u) + constant;
        REQUIRE(host[i] == wanted, "element %u is %u, not %u", i, host[i], wanted);
        sum += host[i];
    }
    CHECK(cudaFree(data));
    printf("many_kernels %d times: ok sum=%u\n", times, sum);
    return 0;
}
