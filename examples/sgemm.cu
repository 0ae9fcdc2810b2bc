/* sgemm [size]: C = A B for square float matrices (1024), in three ways.
 *
 * Shows three steps from a slow to a less slow kernel; all do the same arithmetic.
 *   sgemmNaive       neighbouring threads compute neighbouring rows: each load of A and each
 *                    store touches 32 sectors
 *   sgemmCoalesced   neighbouring threads compute neighbouring columns: loads of B and stores are
 *                    dense, and A is one address for the whole warp
 *   sgemmShared      tiles of 32 x 32 are loaded once into shared memory and used 32 times
 *
 * With a size that is a multiple of 32:
 *                                Naive       Coalesced      Shared
 *   flop_count_sp                2 size^3    2 size^3       2 size^3
 *   gld_efficiency               12.5 %      82.5 %         100 %
 *   gst_efficiency               12.5 %      100 %          100 %
 *   warp_execution_efficiency    100 %       100 %          100 %
 *
 * Of the sector that 32 lanes read one address of, 4 bytes count as asked for, so gld_efficiency of
 * sgemmCoalesced is (128 + 4) / (128 + 32). flop_count_hp need not be 0 though nothing here is half
 * precision: on recent chips the compiler may load a constant with the packed FP16 instruction.
 *
 * The matrices hold small integers, so that float sums are exact in any order and can be compared
 * with the host's. */
#include "check.h"

#define TILE 32

__global__ void sgemmNaive(const float *a, const float *b, float *c, int size)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size || column >= size)
        return;
    float sum = 0;
    for (int k = 0; k < size; k++)
        sum += a[row * size + k] * b[k * size + column];
    c[row * size + column] = sum;
}

__global__ void sgemmCoalesced(const float *a, const float *b, float *c, int size)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= size || column >= size)
        return;
    float sum = 0;
    for (int k = 0; k < size; k++)
        sum += a[row * size + k] * b[k * size + column];
    c[row * size + column] = sum;
}

__global__ void sgemmShared(const float *a, const float *b, float *c, int size)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k = 0; k < size; k += TILE) {
        tile_a[y][x] = row < size && k + x < size ? a[row * size + k + x] : 0;
        tile_b[y][x] = k + y < size && column < size ? b[(k + y) * size + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < size && column < size)
        c[row * size + column] = sum;
}

static const struct {
    const char *name;
    void (*kernel)(const float *a, const float *b, float *c, int size);
} ways[] = {
    {"naive", sgemmNaive},
    {"coalesced", sgemmCoalesced},
    {"shared", sgemmShared},
};

/* Row `row` of the product against the host's. */
static void require_row(const char *way, const float *a, const float *b, const float *c, int size,
                        int row)
{
    float *expected = (float *)calloc(size, sizeof(float));
    REQUIRE(expected, "out of memory: a row");
    for (int k = 0; k < size; k++)
        for (int column = 0; column < size; column++)
            expected[column] += a[(size_t)row * size + k] * b[(size_t)k * size + column];
    for (int column = 0; column < size; column++)
        REQUIRE(c[(size_t)row * size + column] == expected[column], "%s: c[%d][%d] is %g, not %g",
                way, row, column, c[(size_t)row * size + column], expected[column]);
    free(expected);
}

int main(int argc, char **argv)
{
    int size = (int)argument(argc, argv, 1, 1024, 1, 1 << 14);
    size_t n = (size_t)size * size, bytes = n * sizeof(float);
    dim3 block(TILE, TILE);
    dim3 grid((unsigned)blocks_for(size, TILE), (unsigned)blocks_for(size, TILE));

    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes);
    REQUIRE(a && b && c, "out of memory: three matrices of %zu bytes", bytes);
    for (size_t i = 0; i < n; i++) {
        a[i] = (float)((int)(i % 7) - 3);
        b[i] = (float)((int)(i % 11) - 4);
    }

    float *da, *db, *dc;
    CHECK(cudaMalloc(&da, bytes));
    CHECK(cudaMalloc(&db, bytes));
    CHECK(cudaMalloc(&dc, bytes));
    CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));

    for (const auto &way : ways) {
        for (int i = 0; i < repeats(); i++) {
            CHECK(cudaMemset(dc, 0xff, bytes));
            way.kernel<<<grid, block>>>(da, db, dc, size);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));

        /* A row of every kind of position, then the sum of all of them. */
        for (int i = 0; i < 8; i++)
            require_row(way.name, a, b, c, size, (int)((long)(size - 1) * i / 7));
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += c[i];
        printf("sgemm %s size %d: ok sum=%.0f\n", way.name, size, sum);
    }

    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return 0;
}
