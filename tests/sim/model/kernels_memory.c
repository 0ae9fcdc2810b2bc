/* Kernels that only move and add: it matters how their accesses fall on lines and sectors. */
#include "model/define.h"

#include <stdatomic.h>

static void add_at(struct gpusim_thread *t, uint64_t i)
{
    const int *a = PARAM(t, 0, const int *);
    const int *b = PARAM(t, 1, const int *);
    int *c = PARAM(t, 2, int *);

    INT(t, 6); /* three addresses of 64 bits */
    int x = LDG(t, &a[i]);
    int y = LDG(t, &b[i]);
    INT(t, 1);
    STG(t, &c[i], (int)((unsigned)x + (unsigned)y));
}

/* Eighteen instructions a warp, as the compiler makes of c[i] = a[i] + b[i] on a K80. */
static void vector_add(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 3); /* stack pointer, bound, comparison */
    IF(t, i < n) add_at(t, i);
    EXIT(t);
}
DEFINE_KERNEL(vector_add, false, 8, 8, 8, 4);

static void vector_add_float(struct gpusim_thread *t)
{
    const float *a = PARAM(t, 0, const float *);
    const float *b = PARAM(t, 1, const float *);
    float *c = PARAM(t, 2, float *);
    unsigned n = PARAM(t, 3, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 6);
        float x = LDG(t, &a[i]);
        float y = LDG(t, &b[i]);
        STG(t, &c[i], FADD(t, x, y));
    }
    EXIT(t);
}
DEFINE_KERNEL(vector_add_float, false, 8, 8, 8, 4);

/* Each run changes its input: a second run on unrestored memory gives another answer. */
static void scale_in_place(struct gpusim_thread *t)
{
    float *a = PARAM(t, 0, float *);
    unsigned n = PARAM(t, 1, unsigned);
    float factor = PARAM(t, 2, float);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 2);
        STG(t, &a[i], FFMA(t, LDG(t, &a[i]), factor, 1.0f));
    }
    EXIT(t);
}
DEFINE_KERNEL(scale_in_place, false, 8, 4, 4);

/* The same under a name by which a profiler knows that other processes take part. */
static void ncclDevKernel_Scale(struct gpusim_thread *t)
{
    scale_in_place(t);
}
DEFINE_KERNEL(ncclDevKernel_Scale, false, 8, 4, 4);

/* n x n matrices; threads that are neighbours in x take neighbours in a row ... */
static void matrix_add_row(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned);
    unsigned column = t->bid.x * t->bdim.x + t->tid.x;
    unsigned row = t->bid.y * t->bdim.y + t->tid.y;

    INT(t, 8);
    IF(t, row < n && column < n) add_at(t, (uint64_t)row * n + column);
    EXIT(t);
}
DEFINE_KERNEL(matrix_add_row, false, 8, 8, 8, 4);

/* ... or in a column. */
static void matrix_add_column(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned);
    unsigned row = t->bid.x * t->bdim.x + t->tid.x;
    unsigned column = t->bid.y * t->bdim.y + t->tid.y;

    INT(t, 8);
    IF(t, row < n && column < n) add_at(t, (uint64_t)row * n + column);
    EXIT(t);
}
DEFINE_KERNEL(matrix_add_column, false, 8, 8, 8, 4);

static void matrix_add_linear(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned);
    uint64_t i = LINEAR_INDEX(t);

    INT(t, 3);
    IF(t, i < (uint64_t)n * n) add_at(t, i);
    EXIT(t);
}
DEFINE_KERNEL(matrix_add_linear, false, 8, 8, 8, 4);

static void add_floats(struct gpusim_thread *t, unsigned from, unsigned to)
{
    const float *a = PARAM(t, 0, const float *);
    const float *b = PARAM(t, 1, const float *);
    float *c = PARAM(t, 2, float *);

    INT(t, 6);
    float x = LDG(t, &a[from]);
    float y = LDG(t, &b[from]);
    STG(t, &c[to], FADD(t, x, y));
}

/* C[i] = A[i + off] + B[i + off] */
static void read_offset(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned);
    unsigned offset = PARAM(t, 4, unsigned);
    unsigned i = LINEAR_INDEX(t);
    unsigned k = i + offset;

    INT(t, 3);
    IF(t, k < n) add_floats(t, k, i);
    EXIT(t);
}
DEFINE_KERNEL(read_offset, false, 8, 8, 8, 4, 4);

/* C[i + off] = A[i] + B[i] */
static void write_offset(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned);
    unsigned offset = PARAM(t, 4, unsigned);
    unsigned i = LINEAR_INDEX(t);
    unsigned k = i + offset;

    INT(t, 3);
    IF(t, k < n) add_floats(t, i, k);
    EXIT(t);
}
DEFINE_KERNEL(write_offset, false, 8, 8, 8, 4, 4);

struct pair {
    float x, y;
};

/* An array of structs, member by member: half of the bytes that each access moves belong to the
 * other. */
static void structs_aos(struct gpusim_thread *t)
{
    const struct pair *in = PARAM(t, 0, const struct pair *);
    struct pair *out = PARAM(t, 1, struct pair *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 4);
        float x = LDG(t, &in[i].x);
        float y = LDG(t, &in[i].y);
        STG(t, &out[i].x, FADD(t, x, 10.0f));
        STG(t, &out[i].y, FADD(t, y, 20.0f));
    }
    EXIT(t);
}
DEFINE_KERNEL(structs_aos, false, 8, 8, 4);

/* The same numbers as two arrays one after the other: nothing is moved in vain. */
static void structs_soa(struct gpusim_thread *t)
{
    const float *in = PARAM(t, 0, const float *);
    float *out = PARAM(t, 1, float *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 4);
        float x = LDG(t, &in[i]);
        float y = LDG(t, &in[n + i]);
        STG(t, &out[i], FADD(t, x, 10.0f));
        STG(t, &out[n + i], FADD(t, y, 20.0f));
    }
    EXIT(t);
}
DEFINE_KERNEL(structs_soa, false, 8, 8, 4);

/* As scale_in_place, by way of shared memory (a float per thread, given at launch), copied
 * asynchronously. */
static void scale_staged(struct gpusim_thread *t)
{
    float *data = PARAM(t, 0, float *);
    unsigned n = PARAM(t, 1, unsigned);
    float factor = PARAM(t, 2, float);
    float *tile = SHARED(t, float, 0);
    unsigned i = LINEAR_INDEX(t);

    IF(t, i < n) LDGSTS(t, &tile[t->tid.x], &data[i]);
    SYNC(t);
    IF(t, i < n) STG(t, &data[i], FMUL(t, LDS(t, &tile[t->tid.x]), factor));
    EXIT(t);
}
DEFINE_KERNEL(scale_staged, true, 8, 4, 4);

/* Numbers in a row give numbers that are not in a row. */
static uint32_t by_chance(uint32_t number)
{
    uint32_t mixed = number * 2654435761u;
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    return mixed ^ mixed >> 13;
}

/* Once or twice, and seldom more often than a launch is thought to differ by. */
static unsigned times_asked(uint32_t chance)
{
    return chance >> 21 == 0 ? 600 : chance >> 28 == 0 ? 16 : 1 + (chance & 1);
}

/* Scales with warps that wait for their elements, as long as it takes: equal launches differ by
 * percents in their numbers of instructions. */
static void scale_awaited(struct gpusim_thread *t)
{
    static atomic_uint asked;
    float *data = PARAM(t, 0, float *);
    unsigned n = PARAM(t, 1, unsigned);
    float factor = PARAM(t, 2, float);
    unsigned i = LINEAR_INDEX(t);

    IF(t, t->tid.x % 32 == 0) TRY_WAIT(t, times_asked(by_chance(atomic_fetch_add(&asked, 1))));
    INT(t, 60);
    IF(t, i < n) STG(t, &data[i], FMUL(t, LDG(t, &data[i]), factor));
    EXIT(t);
}
DEFINE_KERNEL(scale_awaited, false, 8, 4, 4);

/* One thread asks memory besides, until others have come: that many sectors more, which are few, as
 * all threads read. The work of the first launch is larger: a number in memory says so, which the
 * last of 64 blocks of 256 threads changes; or it gives some of the threads a little more to do. */
static void scale_asking(struct gpusim_thread *t)
{
    static atomic_uint asked;
    float *data = PARAM(t, 0, float *);
    unsigned n = PARAM(t, 1, unsigned);
    float factor = PARAM(t, 2, float), sum = 0;
    unsigned i = LINEAR_INDEX(t), times = 1 + by_chance(atomic_fetch_add(&asked, 1)) % 16;

    IF(t, t->tid.x % 32 == 0) TRY_WAIT(t, 1 + times % 2);
    IF(t, i == 0)
    DO(t)
    {
        ITERATION;
        sum += LDG(t, &data[0]);
    }
    while (AGAIN(t, --times > 0))
        ;
    const float first = LDG(t, &data[0]);
    const unsigned rounds = first == factor || first > 1 ? 16 : 20, more = first > 1;
    FOR(t, unsigned k = 0, k < rounds, k++)
    {
        sum += LDG(t, &data[1 + (i + 32 * k) % (n - 1)]);
    }
    INT(t, 60);
    FOR(t, unsigned k = 0, i < 32 * 256 && k < more, k++) INT(t, 1);
    IF(t, i > 0 && i < n) STG(t, &data[i], sum > -1e30f ? factor : 0);
    IF(t, i == 64 * 256 - 1) STG(t, &data[0], factor);
    EXIT(t);
}
DEFINE_KERNEL(scale_asking, false, 8, 4, 4);
