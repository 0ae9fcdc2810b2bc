/* Up to 100 GB allocated, of which a kernel touches 64 MB. */
#include "check.h"

__global__ void touch(uint4 *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint4 v = data[i];
        data[i] = make_uint4(3 * v.x + 1, 3 * v.y + 1, 3 * v.z + 1, 3 * v.w + 1);
    }
}

int main()
{
    const size_t piece = (size_t)1 << 30, spare = (size_t)8 << 30, bytes = (size_t)64 << 20;
    const int n = bytes / sizeof(uint4), launches = 20;
    static char *pieces[100];
    size_t room, total, count = 0;
    unsigned *data, *host = (unsigned *)malloc(bytes), expected = 0;
    REQUIRE(host, "out of memory");
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMemset(data, 0, bytes));
    CHECK(cudaMemGetInfo(&room, &total));
    for (; count < 100 && room > (count + 1) * piece + spare; count++) {
        CHECK(cudaMalloc(&pieces[count], piece));
        CHECK(cudaMemset(pieces[count], (int)count, piece));
    }
    for (int k = 0; k < launches; k++) {
        touch<<<blocks_for(n, 256), 256>>>((uint4 *)data, n);
        CHECK(cudaGetLastError());
        expected = 3 * expected + 1;
    }
    CHECK(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes / sizeof(unsigned); i++)
        REQUIRE(host[i] == expected, "element %zu is %u, not %u", i, host[i], expected);
    for (size_t i = 0; i < count; i++) {
        CHECK(cudaMemcpy(host, pieces[i] + piece - 4, 4, cudaMemcpyDeviceToHost));
        REQUIRE(host[0] == i * 0x01010101u, "the end of piece %zu is %x", i, host[0]);
        CHECK(cudaFree(pieces[i]));
    }
    CHECK(cudaFree(data));
    free(host);
    printf("much_allocated: ok %u\n", expected);
    return 0;
}
