/* Behind kernels_sequence.c, with code of its own. */
#include "model/define.h"

/* z = x + y */
static void sequence_add(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 3, unsigned), i = LINEAR_INDEX(t);

    IF(t, i < n)
    {
        const uint32_t *x = ADDRESS(t, 1, const uint32_t *);
        uint32_t value = LDG(t, &x[i]);
        const uint32_t *y = ADDRESS(t, 2, const uint32_t *);
        value += LDG(t, &y[i]);
        IF(t, value & 1) INT(t, 4);
        uint32_t *z = ADDRESS(t, 0, uint32_t *);
        STG(t, &z[i], value);
    }
    EXIT(t);
}
DEFINE_KERNEL(sequence_add, false, 8, 8, 8, 4);
