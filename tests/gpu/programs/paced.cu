/* A kernel whose work is set in percent: paced [PERCENT [LAUNCHES]]. For tests/gpu/check: 105 makes it
 * 5 % slower and nothing else. */
#include "check.h"

#define N (132 * 2048)

/* Dependent multiply-adds: as many rounds, as much time. */
__global__ void paced(float *values, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = values[i];
    for (int k = 0; k < rounds; k++)
        x = x * 0.999f + 0.001f;
    values[i] = x;
}

int main(int argc, char **argv)
{
    const int percent = (int)argument(argc, argv, 1, 100, 1, 1000);
    const int launches = (int)argument(argc, argv, 2, 20, 1, 100000);
    float *values, first;
    CHECK(cudaMalloc(&values, N * sizeof(float)));
    CHECK(cudaMemset(values, 0, N * sizeof(float)));
    for (int i = 0; i < launches; i++)
        paced<<<N / 256, 256>>>(values, 60 * percent);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&first, values, sizeof(first), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(values));
    REQUIRE(first > 0 && first < 1.001f, "values[0] is %g", first);
    printf("paced: %d launches\n", launches);
    return 0;
}
