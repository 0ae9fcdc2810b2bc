/* matrixadd [row|column|both] [block x] [block y] [size]: C = A + B for size x size ints (4096),
 * with blocks of x times y threads (32 x 16).
 *
 * Shows the cost of the choice of index. In matrixAddRow neighbouring threads of a warp touch
 * neighbouring ints; in matrixAddColumn they touch ints that lie a whole row apart, so that each
 * drags a 32-byte sector along to use 4 bytes of it.
 *
 *                                     matrixAddRow   matrixAddColumn
 *   gld_efficiency, gst_efficiency    100 %          12.5 %, with blocks of 16 x 16 25 %
 *   warp_execution_efficiency         100 %          100 % (size a multiple of the block)
 *
 * In a block 16 wide a warp is two rows of threads: in matrixAddColumn these two share sectors. */
#include "check.h"
#include <string.h>

__global__ void matrixAddRow(const int *a, const int *b, int *c, int size)
{
    size_t x = blockIdx.x * blockDim.x + threadIdx.x;
    size_t y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size)
        c[y * size + x] = a[y * size + x] + b[y * size + x];
}

__global__ void matrixAddColumn(const int *a, const int *b, int *c, int size)
{
    size_t x = blockIdx.x * blockDim.x + threadIdx.x;
    size_t y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < size && y < size)
        c[x * size + y] = a[x * size + y] + b[x * size + y];
}

int main(int argc, char **argv)
{
    const char *order = argc > 1 ? argv[1] : "both";
    bool row = !strcmp(order, "row"), column = !strcmp(order, "column");
    REQUIRE(row || column || !strcmp(order, "both"), "'%s' is none of row, column, both", order);
    dim3 block((unsigned)argument(argc, argv, 2, 32, 1, 1024),
               (unsigned)argument(argc, argv, 3, 16, 1, 1024));
    int size = (int)argument(argc, argv, 4, 4096, 1, 1 << 15);
    dim3 grid((unsigned)blocks_for(size, block.x), (unsigned)blocks_for(size, block.y));
    size_t n = (size_t)size * size, bytes = n * sizeof(int);

    int *a = (int *)malloc(bytes), *b = (int *)malloc(bytes), *c = (int *)malloc(bytes);
    REQUIRE(a && b && c, "out of memory: three matrices of %zu bytes", bytes);
    for (size_t i = 0; i < n; i++) {
        a[i] = (int)(i % 1009);
        b[i] = (int)(i % 31) * 5;
    }

    int *da, *db, *dc;
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));

    for (int by_column = row ? 0 : column ? 1 : 0; by_column <= (row ? 0 : 1); by_column++) {
        for (int i = 0; i < repeats(); i++) {
            CHECK(cudaMemset(dc, 0xff, bytes));
            if (by_column)
                matrixAddColumn<<<grid, block>>>(da, db, dc, size);
            else
                matrixAddRow<<<grid, block>>>(da, db, dc, size);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));

        long long sum = 0;
        for (size_t i = 0; i < n; i++) {
            REQUIRE(c[i] == a[i] + b[i], "c[%zu] is %d, not %d", i, c[i], a[i] + b[i]);
            sum += c[i];
        }
        printf("matrixadd %s %ux%u size %d: ok sum=%lld\n", by_column ? "column" : "row", block.x,
               block.y, size, sum);
    }

    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return 0;
}
