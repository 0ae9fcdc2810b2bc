/* A kernel that computes in front of a loop, behind a branch as the simulated code has it: its
 * counts of instructions do not tell how often. Kernels of its file would be like it. */
#include "model/define.h"

/* C[i] = A[i + off] + B[i + off], four elements a thread, a block's width apart. */
static void read_offset_unrolled(struct gpusim_thread *t)
{
    const float *a = PARAM(t, 0, const float *);
    const float *b = PARAM(t, 1, const float *);
    float *c = PARAM(t, 2, float *);
    unsigned n = PARAM(t, 3, unsigned);
    unsigned offset = PARAM(t, 4, unsigned);
    unsigned i = t->bid.x * t->bdim.x * 4 + t->tid.x;

    INT(t, 5);
    FOR(t, unsigned u = 0, u < 4, u++)
    {
        unsigned at = i + u * t->bdim.x;
        unsigned k = at + offset;
        INT(t, 3);
        IF(t, k < n)
        {
            float x = LDG(t, &a[k]);
            float y = LDG(t, &b[k]);
            STG(t, &c[at], FADD(t, x, y));
        }
    }
    EXIT(t);
}
DEFINE_KERNEL(read_offset_unrolled, false, 8, 8, 8, 4, 4);
