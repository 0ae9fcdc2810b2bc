/* many_launches [N]: twenty thousand launches in a row, every tenth of another kernel; each depends on
 * the one before. */
#include "check.h"

__global__ void common(unsigned *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 3 * x[i] + 1;
}

__global__ void rare(unsigned *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 5 * x[i] + 3;
}

int main(int argc, char **argv)
{
    const int n = 10000, launches = argc > 1 ? atoi(argv[1]) : 20000;
    static unsigned host[n];
    unsigned *x, expected = 0;
    CHECK(cudaMalloc(&x, sizeof(host)));
    CHECK(cudaMemset(x, 0, sizeof(host)));
    for (int k = 0; k < launches; k++) {
        bool other = k % 10 == 9;
        if (other)
            rare<<<blocks_for(n, 128), 128>>>(x, n);
        else
            common<<<blocks_for(n, 128), 128>>>(x, n);
        CHECK(cudaGetLastError());
        expected = other ? 5 * expected + 3 : 3 * expected + 1;
    }
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaFree(x));
    printf("many_launches: ok %u\n", expected);
    return 0;
}
