/* Kernels that take long and wait for nobody. Their text has nothing that sees the stores of
 * others: no volatile load, no atomic operation. */
#include "model/define.h"
#include "model/nap.h"

/* Takes so many milliseconds. x = 2 * x + 1. */
static void compute_long(struct gpusim_thread *t)
{
    uint32_t *x = PARAM(t, 0, uint32_t *);

    IF(t, t->tid.x == 0)
    {
        gpusim_take_ms(PARAM(t, 1, unsigned));
        STG(t, x, 2 * LDG(t, x) + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(compute_long, false, 8, 4);
