/* Results that depend on the order in which atomics happen, other on every run: the memory
 * afterwards has to be the work of one whole run, not a mixture of two. Each thread takes a number
 * and the sum of the additions before it, in one atomic; the sums then have to follow from the
 * numbers. */
#include "check.h"
#include <math.h>
#include <vector>

#define N 20000
#define LAUNCHES 10
#define NUMBER_AT 40

__global__ void take(unsigned long long *counter, unsigned *order, unsigned long long *before,
                     float *total)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N)
        return;
    unsigned long long got = atomicAdd(counter, (1ull << NUMBER_AT) + i);
    order[got >> NUMBER_AT] = i;
    before[got >> NUMBER_AT] = got & ((1ull << NUMBER_AT) - 1);
    atomicAdd(total, 1.0f / (1 + i));
}

int main()
{
    const int all = N * LAUNCHES;
    std::vector<unsigned> order(all);
    std::vector<unsigned long long> before(all);
    unsigned long long *counter, *d_before, sum = 0;
    unsigned *d_order;
    float *d_total, total;
    double expected = 0;
    CHECK(cudaMalloc(&counter, sizeof(*counter)));
    CHECK(cudaMalloc(&d_order, all * sizeof(*d_order)));
    CHECK(cudaMalloc(&d_before, all * sizeof(*d_before)));
    CHECK(cudaMalloc(&d_total, sizeof(total)));
    CHECK(cudaMemset(counter, 0, sizeof(*counter)));
    CHECK(cudaMemset(d_order, 0xff, all * sizeof(*d_order)));
    CHECK(cudaMemset(d_total, 0, sizeof(total)));
    for (int k = 0; k < LAUNCHES; k++) {
        take<<<blocks_for(N, 128), 128>>>(counter, d_order, d_before, d_total);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(order.data(), d_order, all * sizeof(*d_order), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(before.data(), d_before, all * sizeof(*d_before), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&total, d_total, sizeof(total), cudaMemcpyDeviceToHost));
    std::vector<int> seen(N);
    for (int t = 0; t < all; t++) {
        int launch = t / N;
        REQUIRE(order[t] < N && seen[order[t]] == launch, "number %d: thread %u", t, order[t]);
        seen[order[t]]++;
        REQUIRE(before[t] == sum, "number %d: the sum is %llu, not %llu", t, before[t], sum);
        sum += order[t];
    }
    for (int i = 0; i < N; i++)
        expected += LAUNCHES / (1.0 + i);
    REQUIRE(fabs(total - expected) < 1e-3 * expected, "the total is %g, not %g", total, expected);
    CHECK(cudaFree(counter));
    CHECK(cudaFree(d_order));
    CHECK(cudaFree(d_before));
    CHECK(cudaFree(d_total));
    printf("atomics_order: ok sum=%llu\n", sum);
    return 0;
}
