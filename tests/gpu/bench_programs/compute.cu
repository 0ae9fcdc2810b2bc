/* compute [launches] [warm-up] [rounds]: a kernel that does nothing but fused multiply-adds, on
 * every SM, for about 2 ms on a large GPU (10 launches; two beforehand; 55000 rounds).
 *
 * Every value is a small whole number, exact in a float, and goes up by one with each round. */
#include "bench.h"
#include <vector>

#define BLOCK 1024
#define CHAINS 4 /* of a thread, independent of each other */

__global__ void multiply_add(float *values, float one, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    float v[CHAINS];
    for (int c = 0; c < CHAINS; c++)
        v[c] = values[c * n + i];
#pragma unroll 16
    for (int r = 0; r < rounds; r++)
        for (int c = 0; c < CHAINS; c++)
            v[c] = __fmaf_rn(v[c], one, one);
    for (int c = 0; c < CHAINS; c++)
        values[c * n + i] = v[c];
}

int main(int argc, char **argv)
{
    int launches = (int)argument(argc, argv, 1, 10, 1, 1000);
    int warm = (int)argument(argc, argv, 2, 2, 0, 1000);
    int rounds = (int)argument(argc, argv, 3, 55000, 1, 1 << 20);
    long grown = (long)(launches + warm) * rounds;
    REQUIRE(grown < (1 << 24) - 8, "%ld rounds in all are more than a float can count", grown);

    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    int blocks = 2 * sms, n = blocks * BLOCK * CHAINS;
    std::vector<float> values(n);
    for (int i = 0; i < n; i++)
        values[i] = (float)(i % 8);
    float *device;
    CHECK(cudaMalloc(&device, n * sizeof(float)));
    CHECK(cudaMemcpy(device, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));

    for (int i = 0; i < warm; i++)
        multiply_add<<<blocks, BLOCK>>>(device, 1.0f, rounds);
    double start = start_loop();
    for (int i = 0; i < launches; i++)
        multiply_add<<<blocks, BLOCK>>>(device, 1.0f, rounds);
    print_loop(start, launches);

    CHECK(cudaMemcpy(values.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(values[i] == (float)(i % 8 + grown), "number %d is %g, not %ld", i, values[i],
                i % 8 + grown);
    CHECK(cudaFree(device));
    printf("compute %d launches of %d rounds: ok last=%.0f\n", launches, rounds, values[n - 1]);
    return 0;
}
