/* A kernel whose work does not show in its branches and its accesses to memory. */
#include "model/define.h"

/* x = x + 1 below a limit that differs from lane to lane, under a predicate. */
static void add_until(struct gpusim_thread *t)
{
    float *a = PARAM(t, 0, float *);
    unsigned n = PARAM(t, 1, unsigned);
    float limit = PARAM(t, 2, float);
    unsigned i = LINEAR_INDEX(t);

    IF(t, i < n)
    {
        float x = LDG(t, &a[i]);
        INT(t, 2);
        STG(t, &a[i], FADD_IF(t, x < limit + (float)(i % 64), x, 1.0f));
    }
    EXIT(t);
}
DEFINE_KERNEL(add_until, false, 8, 4, 4);
