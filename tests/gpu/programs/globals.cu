/* State in a module's own variables: visible, static, inside a function, constant and managed. */
#include "check.h"

__device__ int visible;
static __device__ int hidden[4];
static __device__ double wide[1000];
__constant__ int factor;
__managed__ int managed;

__global__ void update(int *out)
{
    static __device__ int calls;
    int i = threadIdx.x;
    if (i == 0) {
        visible += factor;
        calls++;
        managed += calls;
        *out = calls;
    }
    if (i < 4)
        hidden[i] = hidden[i] * 3 + i;
    for (int k = i; k < 1000; k += blockDim.x)
        wide[k] += k;
}

int main()
{
    int *d_out, out, expected_visible = 0, expected_managed = 0, expected_hidden[4] = {0};
    const int launches = 25;
    CHECK(cudaMalloc(&d_out, sizeof(int)));
    for (int k = 1; k <= launches; k++) {
        CHECK(cudaMemcpyToSymbol(factor, &k, sizeof(k)));
        update<<<1, 64>>>(d_out);
        CHECK(cudaGetLastError());
        expected_visible += k;
        expected_managed += k;
        if (k == 10) {
            CHECK(cudaDeviceSynchronize());
            managed += 1000;
            expected_managed += 1000;
        }
        for (int i = 0; i < 4; i++)
            expected_hidden[i] = (int)((unsigned)expected_hidden[i] * 3u + i);
    }
    int got, got_hidden[4];
    double got_wide[1000];
    CHECK(cudaMemcpy(&out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&got, visible, sizeof(got)));
    CHECK(cudaMemcpyFromSymbol(got_hidden, hidden, sizeof(got_hidden)));
    CHECK(cudaMemcpyFromSymbol(got_wide, wide, sizeof(got_wide)));
    CHECK(cudaDeviceSynchronize());
    REQUIRE(out == launches, "the function's own counter is %d", out);
    REQUIRE(got == expected_visible, "the visible variable is %d", got);
    REQUIRE(managed == expected_managed, "the managed variable is %d, not %d", managed,
            expected_managed);
    for (int i = 0; i < 4; i++)
        REQUIRE(got_hidden[i] == expected_hidden[i], "hidden[%d] is %d, not %d", i, got_hidden[i],
                expected_hidden[i]);
    for (int k = 0; k < 1000; k++)
        REQUIRE(got_wide[k] == (double)k * launches, "wide[%d] is %g", k, got_wide[k]);
    printf("globals: ok visible=%d managed=%d hidden=%d\n", got, managed, got_hidden[3]);
    return 0;
}
