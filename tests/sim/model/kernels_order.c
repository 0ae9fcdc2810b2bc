/* A kernel that writes elsewhere in each run, as the answer of an atomic says. */
#include "model/define.h"

#include <stdatomic.h>

/* Adds 1 to a word of n: to one of the first that the threads' order gives, and now and then to
 * any. */
static void arena_draw(struct gpusim_thread *t)
{
    static atomic_uint runs;
    uint32_t *a = PARAM(t, 0, uint32_t *);
    uint64_t *drawn = PARAM(t, 1, uint64_t *);
    unsigned n = PARAM(t, 2, unsigned);

    INT(t, 2);
    IF(t, LINEAR_INDEX(t) == 0)
    {
        const unsigned order = atomic_fetch_add(&runs, 1);
        (void)ATOMIC_ADD(t, drawn, (uint64_t)1);
        uint32_t *to = &a[order % 97 == 96 ? order * 7919 % n : order % 5];
        STG(t, to, LDG(t, to) + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_draw, false, 8, 8, 4);
