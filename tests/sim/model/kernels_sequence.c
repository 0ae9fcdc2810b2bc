/* A kernel that others follow on the same arrays (kernels_sequence_add.c). Their code has the loads
 * of their addresses, so that it says through which parameters they read and write. Each executes
 * more instructions where its numbers are odd: a replay from other memory has other counts. */
#include "model/define.h"

/* y = 2 * y + 1 */
static void sequence_scale(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 1, unsigned), i = LINEAR_INDEX(t);

    IF(t, i < n)
    {
        const uint32_t *from = ADDRESS(t, 0, const uint32_t *);
        uint32_t value = LDG(t, &from[i]);
        IF(t, value & 1) INT(t, 4);
        uint32_t *to = ADDRESS(t, 0, uint32_t *); /* the code behind a branch knows no registers */
        STG(t, &to[i], 2 * value + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(sequence_scale, false, 8, 4);
