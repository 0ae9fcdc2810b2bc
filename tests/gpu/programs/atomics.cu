/* Counts with atomics: a launch that runs twice without its memory put back counts twice. */
#include "check.h"

#define BINS 64

__global__ void count(const int *values, int n, unsigned *bins, unsigned long long *sum, int *most)
{
    __shared__ unsigned mine[BINS];
    if (threadIdx.x < BINS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&mine[values[i] % BINS], 1u);
        atomicAdd(sum, (unsigned long long)values[i]);
        atomicMax(most, values[i]);
    }
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main()
{
    const int n = 200000, launches = 20;
    int *values = (int *)malloc(n * sizeof(int)), *d_values, *d_most, most;
    unsigned *d_bins, bins[BINS], expected[BINS] = {0};
    unsigned long long *d_sum, sum, expected_sum = 0;
    REQUIRE(values, "out of memory");
    for (int i = 0; i < n; i++) {
        values[i] = (i * 37) % 1009;
        expected[values[i] % BINS] += launches;
        expected_sum += (unsigned long long)values[i] * launches;
    }
    CHECK(cudaMalloc(&d_values, n * sizeof(int)));
    CHECK(cudaMalloc(&d_bins, sizeof(bins)));
    CHECK(cudaMalloc(&d_sum, sizeof(sum)));
    CHECK(cudaMalloc(&d_most, sizeof(most)));
    CHECK(cudaMemcpy(d_values, values, n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_bins, 0, sizeof(bins)));
    CHECK(cudaMemset(d_sum, 0, sizeof(sum)));
    CHECK(cudaMemset(d_most, 0, sizeof(most)));
    for (int k = 0; k < launches; k++) {
        count<<<blocks_for(n, 256), 256>>>(d_values, n, d_bins, d_sum, d_most);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&sum, d_sum, sizeof(sum), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&most, d_most, sizeof(most), cudaMemcpyDeviceToHost));
    for (int b = 0; b < BINS; b++)
        REQUIRE(bins[b] == expected[b], "bin %d is %u, not %u", b, bins[b], expected[b]);
    REQUIRE(sum == expected_sum, "sum is %llu, not %llu", sum, expected_sum);
    printf("atomics: ok sum=%llu most=%d\n", sum, most);
    return 0;
}
