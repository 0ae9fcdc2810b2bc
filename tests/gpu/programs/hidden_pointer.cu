/* A kernel whose pointer nobody can recognise: every bit of it is the other way round. */
#include "check.h"

__global__ void hidden(unsigned long long inverted, int n, unsigned k)
{
    unsigned *x = (unsigned *)~inverted;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 3 * x[i] + k;
}

int main()
{
    const int n = 1000003, launches = 8;
    unsigned *x, *host = (unsigned *)malloc(n * sizeof(unsigned)), expected = 1;
    REQUIRE(host, "out of memory");
    for (int i = 0; i < n; i++)
        host[i] = 1;
    CHECK(cudaMalloc(&x, n * sizeof(unsigned)));
    CHECK(cudaMemcpy(x, host, n * sizeof(unsigned), cudaMemcpyHostToDevice));
    for (unsigned k = 0; k < launches; k++) {
        hidden<<<blocks_for(n, 256), 256>>>(~(unsigned long long)x, n, k);
        CHECK(cudaGetLastError());
        expected = 3 * expected + k;
    }
    CHECK(cudaMemcpy(host, x, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaFree(x));
    free(host);
    printf("hidden_pointer: ok %u\n", expected);
    return 0;
}
