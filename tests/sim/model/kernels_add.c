/* One of two kernels that have one name, in modules of their own, and code that differs in one
 * opcode alone: kernels_multiply.c has the other. */
#include "model/define.h"

/* x = x + 1. */
static void one_name_add(struct gpusim_thread *t)
{
    float *x = PARAM(t, 0, float *);
    unsigned i = LINEAR_INDEX(t);

    STG(t, &x[i], FADD(t, LDG(t, &x[i]), 1.0f));
    EXIT(t);
}
DEFINE_BODY(one_name_add, one_name, false, 8);
