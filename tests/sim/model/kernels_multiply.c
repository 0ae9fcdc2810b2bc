/* One of two kernels that have one name, in modules of their own, and code that differs in one
 * opcode alone: kernels_add.c has the other. */
#include "model/define.h"

/* x = 2 * x. */
static void one_name_multiply(struct gpusim_thread *t)
{
    float *x = PARAM(t, 0, float *);
    unsigned i = LINEAR_INDEX(t);

    STG(t, &x[i], FMUL(t, LDG(t, &x[i]), 2.0f));
    EXIT(t);
}
DEFINE_BODY(one_name_multiply, one_name, false, 8);
