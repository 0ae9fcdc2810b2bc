/* Kernels about arithmetic: how much of it, of which kind, in how many lanes. */
#include "model/define.h"

/* Per thread and round: one addition, one multiplication, one fused multiply-add. */
static void flops_float(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    unsigned rounds = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);
    float x = LDG(t, &out[i]);

    FOR(t, unsigned r = 0, r < rounds, r++)
    {
        x = FADD(t, x, 1.0f);
        x = FMUL(t, x, 0.5f);
        x = FFMA(t, x, 0.25f, 1.0f);
    }
    STG(t, &out[i], x);
    EXIT(t);
}
DEFINE_KERNEL(flops_float, false, 8, 4);

static void flops_double(struct gpusim_thread *t)
{
    double *out = PARAM(t, 0, double *);
    unsigned rounds = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);
    double x = LDG(t, &out[i]);

    FOR(t, unsigned r = 0, r < rounds, r++)
    {
        x = DADD(t, x, 1.0);
        x = DMUL(t, x, 0.5);
        x = DFMA(t, x, 0.25, 1.0);
    }
    STG(t, &out[i], x);
    EXIT(t);
}
DEFINE_KERNEL(flops_double, false, 8, 4);

/* Values are kept as float and rounded to half after each operation. */
static void flops_half(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    unsigned rounds = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);
    float x = LDG(t, &out[i]);

    FOR(t, unsigned r = 0, r < rounds, r++)
    {
        x = HADD(t, x, 1.0f);
        x = HMUL(t, x, 0.5f);
        x = HFMA(t, x, 0.25f, 1.0f);
    }
    STG(t, &out[i], x);
    EXIT(t);
}
DEFINE_KERNEL(flops_half, false, 8, 4);

/* All lanes execute everything, but the odd ones with their predicate off. */
static void predicated(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    unsigned i = LINEAR_INDEX(t);
    bool on = t->tid.x % 2 == 0;
    float x = LDG(t, &out[i]);

    INT(t, 1);
    x = FADD_IF(t, on, x, 1.0f);
    x = FADD_IF(t, on, x, 1.0f);
    STG_IF(t, on, &out[i], x);
    EXIT(t);
}
DEFINE_KERNEL(predicated, false, 8);

/* One lane of each warp does the work, the others have ended. */
static void one_lane(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    unsigned rounds = PARAM(t, 1, unsigned);

    INT(t, 1);
    IF(t, t->tid.x % GPUSIM_WARP == 0)
    {
        unsigned i = LINEAR_INDEX(t);
        float x = LDG(t, &out[i]);
        FOR(t, unsigned r = 0, r < rounds, r++) x = FFMA(t, x, 0.5f, 1.0f);
        STG(t, &out[i], x);
    }
    EXIT(t);
}
DEFINE_KERNEL(one_lane, false, 8, 4);

static void tensor_work(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    unsigned rounds = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);

    unsigned r = 0;
    DO(t)
    {
        ITERATION;
        TENSOR(t);
    }
    while (AGAIN(t, ++r < rounds))
        ;
    STG(t, &out[i], (float)rounds);
    EXIT(t);
}
DEFINE_KERNEL(tensor_work, false, 8, 4);

static void noop(struct gpusim_thread *t)
{
    EXIT(t);
}
DEFINE_KERNEL(noop, false, );
