/* Floating-point values that compare with nothing, themselves included: NaNs of many payloads, both
 * zeros, infinities and denormals, moved and changed in place. Every bit counts. */
#include "check.h"
#include <math.h>
#include <string.h>

#define N 4096

/* Swaps neighbours, as floats, and changes a bit of the payload. */
__global__ void mix(float *values, float *sums, unsigned k)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 1 >= N)
        return;
    float left = values[i], right = values[i + 1];
    values[i] = right;
    values[i + 1] = __uint_as_float(__float_as_uint(left) ^ (1u << k));
    sums[i] += left;
    sums[i + 1] += right;
}

int main()
{
    static const unsigned kinds[] = {0x7f800001, 0xff812345, 0x7fc00000, 0xffc54321,
                                     0x80000000, 0x7f800000, 0x00000001, 0x3f800000};
    static unsigned bits[N], expected[N];
    static float sums[N];
    float *values, *d_sums;
    for (unsigned i = 0; i < N; i++)
        bits[i] = expected[i] = kinds[i % 8] ^ (i / 8 << 4 & 0xfff0);
    CHECK(cudaMalloc(&values, sizeof(bits)));
    CHECK(cudaMalloc(&d_sums, sizeof(sums)));
    CHECK(cudaMemcpy(values, bits, sizeof(bits), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, sizeof(sums)));
    for (unsigned k = 0; k < 9; k++) {
        mix<<<blocks_for(N / 2, 128), 128>>>(values, d_sums, k);
        CHECK(cudaGetLastError());
        for (int i = 0; i < N; i += 2) {
            unsigned left = expected[i];
            expected[i] = expected[i + 1];
            expected[i + 1] = left ^ (1u << k);
        }
    }
    CHECK(cudaMemcpy(bits, values, sizeof(bits), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(sums, d_sums, sizeof(sums), cudaMemcpyDeviceToHost));
    unsigned hash = 0, nans = 0;
    for (int i = 0; i < N; i++) {
        unsigned sum;
        REQUIRE(bits[i] == expected[i], "value %d is %08x, not %08x", i, bits[i], expected[i]);
        memcpy(&sum, &sums[i], sizeof(sum));
        hash = hash * 31 + bits[i] + sum;
        nans += isnan(sums[i]) ? 1 : 0;
        REQUIRE(isnan(sums[i]) || i % 8 >= 4, "sum %d is %g", i, sums[i]);
    }
    CHECK(cudaFree(values));
    CHECK(cudaFree(d_sums));
    printf("nan_results: ok nans=%u hash=%08x\n", nans, hash);
    return 0;
}
