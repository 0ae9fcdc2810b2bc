/* tensor [size]: C = A B for square matrices (512), half in, float out, on the tensor cores: one
 * warp for each tile of 16 x 16.
 *
 * Shows work that the FLOP counters do not see: a tensor core multiplies whole tiles with one
 * instruction, which is none of the additions, multiplications and FMAs counted.
 *
 *   flop_count_sp, _dp, _hp     near 0, not 2 size^3
 *   warp_execution_efficiency   100 %
 *
 * The matrices hold small integers, so that sums are exact and can be compared to the host's. */
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>

#define TILE 16
#define WARPS 4 /* of a block; each has a tile of its own */

__global__ void tensorMultiply(const __half *a, const __half *b, float *c, int size)
{
    using namespace nvcuda;
    int row = blockIdx.y * TILE;
    int column = (blockIdx.x * WARPS + threadIdx.x / 32) * TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major> tile_a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major> tile_b;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < size; k += TILE) {
        wmma::load_matrix_sync(tile_a, a + row * size + k, size);
        wmma::load_matrix_sync(tile_b, b + k * size + column, size);
        wmma::mma_sync(sum, tile_a, tile_b, sum);
    }
    wmma::store_matrix_sync(c + row * size + column, sum, size, wmma::mem_row_major);
}

static int a_of(size_t i)
{
    return (int)(i % 5) - 2;
}

static int b_of(size_t i)
{
    return (int)(i % 9) - 3;
}

int main(int argc, char **argv)
{
    int size = (int)argument(argc, argv, 1, 512, TILE * WARPS, 1 << 13);
    REQUIRE(size % (TILE * WARPS) == 0, "size must be a multiple of %d", TILE * WARPS);
    size_t n = (size_t)size * size;

    __half *a = (__half *)malloc(n * sizeof(__half)), *b = (__half *)malloc(n * sizeof(__half));
    float *c = (float *)malloc(n * sizeof(float));
    REQUIRE(a && b && c, "out of memory: three matrices of %zu numbers", n);
    for (size_t i = 0; i < n; i++) {
        a[i] = __float2half((float)a_of(i));
        b[i] = __float2half((float)b_of(i));
    }

    __half *da, *db;
    float *dc;
    CHECK(cudaMalloc(&da, n * sizeof(__half)));
    CHECK(cudaMalloc(&db, n * sizeof(__half)));
    CHECK(cudaMalloc(&dc, n * sizeof(float)));
    CHECK(cudaMemcpy(da, a, n * sizeof(__half), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, n * sizeof(__half), cudaMemcpyHostToDevice));

    dim3 grid(size / (TILE * WARPS), size / TILE);
    for (int i = 0; i < repeats(); i++) {
        CHECK(cudaMemset(dc, 0xff, n * sizeof(float)));
        tensorMultiply<<<grid, 32 * WARPS>>>(da, db, dc, size);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(c, dc, n * sizeof(float), cudaMemcpyDeviceToHost));

    double sum = 0;
    for (int i = 0; i < 8; i++) {
        int row = (size - 1) * i / 7;
        for (int column = 0; column < size; column++) {
            int expected = 0;
            for (int k = 0; k < size; k++)
                expected += a_of((size_t)row * size + k) * b_of((size_t)k * size + column);
            float got = c[(size_t)row * size + column];
            REQUIRE(got == (float)expected, "c[%d][%d] is %g, not %d", row, column, got, expected);
        }
    }
    for (size_t i = 0; i < n; i++)
        sum += c[i];
    printf("tensor size %d: ok sum=%.0f\n", size, sum);

    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return 0;
}
