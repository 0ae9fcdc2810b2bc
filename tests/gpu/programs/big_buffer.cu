/* One buffer of 60 GB, or of half of the free memory; a little of it is updated in place from one
 * end to the other. */
#include "check.h"

__global__ void touch(unsigned *data, unsigned long long stride, int n, unsigned k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i * stride] = 3 * data[i * stride] + k;
}

int main()
{
    const int n = 1 << 16, launches = 4;
    size_t room, total, bytes = (size_t)60 << 30;
    unsigned *data, *host = (unsigned *)malloc(n * sizeof(unsigned)), expected = 0;
    REQUIRE(host, "out of memory");
    CHECK(cudaMemGetInfo(&room, &total));
    if (bytes > room - room / 8)
        bytes = room / 2;
    unsigned long long stride = bytes / sizeof(unsigned) / n;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    for (unsigned k = 0; k < launches; k++) {
        touch<<<blocks_for(n, 256), 256>>>(data, stride, n, k);
        CHECK(cudaGetLastError());
        expected = 3 * expected + k;
    }
    CHECK(cudaMemcpy2D(host, sizeof(unsigned), data, stride * sizeof(unsigned), sizeof(unsigned), n,
                       cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        REQUIRE(host[i] == expected, "element %d is %u, not %u", i, host[i], expected);
    CHECK(cudaFree(data));
    free(host);
    printf("big_buffer: ok %u\n", expected);
    return 0;
}
