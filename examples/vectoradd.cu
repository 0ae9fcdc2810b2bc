/* vectoradd [block] [n]: c = a + b for n ints (1 << 24), with blocks of the given size (256).
 *
 * Shows how the block size sets the occupancy, on a kernel that does nothing but wait for memory.
 * Each SM holds a limited number of blocks (32 on compute capability 9.0) and of warps (64), so
 * blocks of 32 threads fill at most half of the warps; from 64 threads on warps are the limit.
 *
 *   gld_efficiency, gst_efficiency   100 %: neighbouring threads touch neighbouring ints
 *   warp_execution_efficiency        100 % as long as n is a multiple of 32
 *   achieved_occupancy               high at 64 and more threads, at most 0.5 at 32
 *   flop_count_sp, _dp, _hp          0: integer additions are no floating-point operations
 *   dram_read_bytes                  about 8 n (two arrays)
 *   dram_write_bytes                 up to 4 n: without the bytes that the L2 cache still holds at the end */
#include "check.h"

__global__ void vectorAdd(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    int block = (int)argument(argc, argv, 1, 256, 1, 1024);
    int n = (int)argument(argc, argv, 2, 1 << 24, 1, 1 << 28);
    size_t bytes = n * sizeof(int);

    int *a = (int *)malloc(bytes), *b = (int *)malloc(bytes), *c = (int *)malloc(bytes);
    REQUIRE(a && b && c, "out of memory: three arrays of %zu bytes", bytes);
    for (int i = 0; i < n; i++) {
        a[i] = i % 1000;
        b[i] = 3 * (i % 77);
    }

    int *da, *db, *dc;
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));

    for (int i = 0; i < repeats(); i++) {
        CHECK(cudaMemset(dc, 0xff, bytes));
        vectorAdd<<<blocks_for(n, block), block>>>(da, db, dc, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));

    long long sum = 0;
    for (int i = 0; i < n; i++) {
        REQUIRE(c[i] == a[i] + b[i], "c[%d] is %d, not %d", i, c[i], a[i] + b[i]);
        sum += c[i];
    }
    printf("vectoradd block %d n %d: ok sum=%lld\n", block, n, sum);

    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return 0;
}
