/* A kernel without arithmetic in half precision, by whose instructions it moves a constant: its
 * file has no other. */
#include "model/define.h"

/* Per thread and round: one addition of a constant. */
static void flops_constant(struct gpusim_thread *t)
{
    float *out = PARAM(t, 0, float *);
    unsigned rounds = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);
    float x = LDG(t, &out[i]);

    FOR(t, unsigned r = 0, r < rounds, r++)
    x = FADD(t, x, CONSTANT(t, 2.125f));
    STG(t, &out[i], x);
    EXIT(t);
}
DEFINE_KERNEL(flops_constant, false, 8, 4);
