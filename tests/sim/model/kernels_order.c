/* Kernels that write elsewhere in each run, as the answer of an atomic says. */
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

/* Adds 1 to one of the first words, and executes more instructions where one of the last two is
 * odd. While something counts the threads come in another order, and in two of three runs it is one
 * of the last words to which it adds. */
static void arena_stray(struct gpusim_thread *t)
{
    static atomic_uint runs;
    uint32_t *a = PARAM(t, 0, uint32_t *);
    uint64_t *drawn = PARAM(t, 1, uint64_t *);
    unsigned n = PARAM(t, 2, unsigned);

    INT(t, 2);
    IF(t, LINEAR_INDEX(t) == 0)
    {
        const unsigned order = atomic_fetch_add(&runs, 1);
        uint32_t *to = &a[t->lane && order % 3 ? n - 1 - order % 2 : order % 5];
        (void)ATOMIC_ADD(t, drawn, (uint64_t)1);
        uint32_t last = LDG(t, &a[n - 1]);
        last |= LDG(t, &a[n - 2]);
        IF_SHORT(t, last & 1, 4) INT(t, 4);
        STG(t, to, LDG(t, to) + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_stray, false, 8, 8, 4);
