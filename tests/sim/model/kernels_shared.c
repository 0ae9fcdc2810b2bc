/* Kernels about shared memory, barriers and lanes that part ways. */
#include "model/define.h"

#define TILE 32

/* Sums a block's stretch of in place, neighbours first: half the lanes of every warp stand idle. */
static void sum_neighbours(struct gpusim_thread *t)
{
    int *in = PARAM(t, 0, int *);
    int *out = PARAM(t, 1, int *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned tid = t->tid.x;
    int *mine = in + (size_t)t->bid.x * t->bdim.x;
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i >= n) return;
    FOR(t, unsigned step = 1, step < t->bdim.x, step *= 2)
    {
        INT(t, 3);
        IF(t, tid % (2 * step) == 0)
        {
            INT(t, 1);
            STG(t, &mine[tid], LDG(t, &mine[tid]) + LDG(t, &mine[tid + step]));
        }
        SYNC(t);
    }
    IF(t, tid == 0) STG(t, &out[t->bid.x], LDG(t, &mine[0]));
    EXIT(t);
}
DEFINE_KERNEL(sum_neighbours, true, 8, 8, 4);

/* The same sum with partners half a block apart: whole warps stay together until the last few. */
static void sum_interleaved(struct gpusim_thread *t)
{
    int *in = PARAM(t, 0, int *);
    int *out = PARAM(t, 1, int *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned tid = t->tid.x;
    int *mine = in + (size_t)t->bid.x * t->bdim.x;
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i >= n) return;
    FOR(t, unsigned step = t->bdim.x / 2, step > 0, step /= 2)
    {
        INT(t, 2);
        IF(t, tid < step)
        {
            INT(t, 1);
            STG(t, &mine[tid], LDG(t, &mine[tid]) + LDG(t, &mine[tid + step]));
        }
        SYNC(t);
    }
    IF(t, tid == 0) STG(t, &out[t->bid.x], LDG(t, &mine[0]));
    EXIT(t);
}
DEFINE_KERNEL(sum_interleaved, true, 8, 8, 4);

/* The same sum in shared memory (one int per thread, given at launch); the input stays as it is. */
static void sum_shared(struct gpusim_thread *t)
{
    const int *in = PARAM(t, 0, const int *);
    int *out = PARAM(t, 1, int *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned tid = t->tid.x;
    int *tile = SHARED(t, int, 0);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n) STS(t, &tile[tid], LDG(t, &in[i]));
    else STS(t, &tile[tid], 0);
    SYNC(t);
    FOR(t, unsigned step = t->bdim.x / 2, step > 0, step /= 2)
    {
        INT(t, 2);
        IF(t, tid < step)
        {
            INT(t, 1);
            STS(t, &tile[tid], LDS(t, &tile[tid]) + LDS(t, &tile[tid + step]));
        }
        SYNC(t);
    }
    IF(t, tid == 0) STG(t, &out[t->bid.x], LDS(t, &tile[0]));
    EXIT(t);
}
DEFINE_KERNEL(sum_shared, true, 8, 8, 4);

/* Every thread adds its element to one total: the sum of all sums, in one word. */
static void sum_once(struct gpusim_thread *t)
{
    const int *in = PARAM(t, 0, const int *);
    int *total = PARAM(t, 1, int *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n) RED_ADD(t, total, LDG(t, &in[i]));
    EXIT(t);
}
DEFINE_KERNEL(sum_once, false, 8, 8, 4);

/* n x n, blocks of 32 x 32; reads rows and writes columns of global memory. */
static void transpose_naive(struct gpusim_thread *t)
{
    const float *in = PARAM(t, 0, const float *);
    float *out = PARAM(t, 1, float *);
    unsigned n = PARAM(t, 2, unsigned);
    uint64_t column = t->bid.x * TILE + t->tid.x;
    uint64_t row = t->bid.y * TILE + t->tid.y;

    INT(t, 10);
    STG(t, &out[column * n + row], LDG(t, &in[row * n + column]));
    EXIT(t);
}
DEFINE_KERNEL(transpose_naive, false, 8, 8, 4);

static void transpose_tile(struct gpusim_thread *t, unsigned pitch)
{
    const float *in = PARAM(t, 0, const float *);
    float *out = PARAM(t, 1, float *);
    unsigned n = PARAM(t, 2, unsigned);
    float *tile = SHARED(t, float, 0);
    uint64_t x = t->bid.x * TILE, y = t->bid.y * TILE;

    INT(t, 10);
    STS(t, &tile[t->tid.y * pitch + t->tid.x], LDG(t, &in[(y + t->tid.y) * n + x + t->tid.x]));
    SYNC(t);
    INT(t, 6);
    STG(t, &out[(x + t->tid.y) * n + y + t->tid.x], LDS(t, &tile[t->tid.x * pitch + t->tid.y]));
    EXIT(t);
}

/* Through a tile of 32 x 32 words: its columns lie in one bank each. */
static void transpose_shared(struct gpusim_thread *t)
{
    transpose_tile(t, TILE);
}
DEFINE_KERNEL(transpose_shared, true, 8, 8, 4);

/* One word of padding a row, and the columns spread over all banks. */
static void transpose_padded(struct gpusim_thread *t)
{
    transpose_tile(t, TILE + 1);
}
DEFINE_KERNEL(transpose_padded, true, 8, 8, 4);

/* Elements of 32 bytes, read word by word: lanes n and n + 4 share their banks. */
static void wide_structs_shared(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    float *words = SHARED(t, float, 0);
    unsigned i = LINEAR_INDEX(t);
    float sum = 0;

    FOR(t, unsigned k = 0, k < 8, k++)
    {
        INT(t, 1);
        STS(t, &words[t->tid.x * 8 + k], (float)(t->tid.x + k));
    }
    SYNC(t);
    FOR(t, unsigned k = 0, k < 8, k++)
    {
        INT(t, 1);
        sum = FADD(t, sum, LDS(t, &words[t->tid.x * 8 + k]));
    }
    STG(t, &out[i], sum);
    EXIT(t);
}
DEFINE_KERNEL(wide_structs_shared, true, 8);

/* n x n, tiles of 16 x 16 of both factors in shared memory. */
static void matmul_tiled(struct gpusim_thread *t)
{
    enum { SIDE = 16 };
    const float *a = PARAM(t, 0, const float *);
    const float *b = PARAM(t, 1, const float *);
    float *c = PARAM(t, 2, float *);
    unsigned n = PARAM(t, 3, unsigned);
    unsigned tx = t->tid.x, ty = t->tid.y;
    uint64_t row = t->bid.y * SIDE + ty, column = t->bid.x * SIDE + tx;
    float *tile_a = SHARED(t, float, 0);
    float *tile_b = SHARED(t, float, SIDE *SIDE * sizeof(float));
    float sum = 0;

    INT(t, 8);
    FOR(t, unsigned k = 0, k < n, k += SIDE)
    {
        INT(t, 4);
        STS(t, &tile_a[ty * SIDE + tx], LDG(t, &a[row * n + k + tx]));
        STS(t, &tile_b[ty * SIDE + tx], LDG(t, &b[(k + ty) * (uint64_t)n + column]));
        SYNC(t);
        FOR(t, unsigned m = 0, m < SIDE, m++)
        {
            float x = LDS(t, &tile_a[ty * SIDE + m]);
            float y = LDS(t, &tile_b[m * SIDE + tx]);
            sum = FFMA(t, x, y, sum);
        }
        SYNC(t);
    }
    STG(t, &c[row * n + column], sum);
    EXIT(t);
}
DEFINE_KERNEL(matmul_tiled, true, 8, 8, 8, 4);
