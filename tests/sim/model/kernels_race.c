/* A kernel whose threads write to words of their own, each of them or not as an atomic answers. It
 * has a file of its own, beside kernels_order.c, as the text of a file is its kernels' code. */
#include "model/define.h"

#include <stdatomic.h>

/* Adds 1 to the word of the thread that comes first: mostly one of the first threads, and now and
 * then one of the last of n. */
static void arena_race(struct gpusim_thread *t)
{
    static atomic_uint runs;
    uint32_t *a = PARAM(t, 0, uint32_t *);
    uint32_t *came = PARAM(t, 1, uint32_t *);
    unsigned n = PARAM(t, 2, unsigned);

    INT(t, 2);
    IF(t, LINEAR_INDEX(t) == 0)
    {
        const unsigned order = atomic_fetch_add(&runs, 1);
        (void)ATOMIC_ADD(t, came, 1u);
        uint32_t *to = &a[order % 97 == 96 ? n - 1 - order % n : order % 5];
        STG(t, to, LDG(t, to) + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_race, false, 8, 8, 4);
