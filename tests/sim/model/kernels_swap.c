/* A kernel with a loop around a swap in shared memory. */
#include "model/define.h"

/* x = x; where x is more than 1 a value of shared memory is swapped in the x-th round. */
static void swap_some(struct gpusim_thread *t)
{
    float *a = PARAM(t, 0, float *);
    unsigned i = LINEAR_INDEX(t);
    float x = LDG(t, &a[i]);

    IF(t, x > 1) TRY_SWAP(t, (unsigned)x);
    STG(t, &a[i], x);
    EXIT(t);
}
DEFINE_KERNEL(swap_some, false, 8, 4, 4);
