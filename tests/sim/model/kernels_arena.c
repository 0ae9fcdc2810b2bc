/* Kernels on pieces of an allocation. Each changes its numbers in place, and executes more
 * instructions where they are odd: a replay from other memory has other counts. */
#include "model/define.h"

static void arena_update(struct gpusim_thread *t)
{
    uint32_t *a = PARAM(t, 0, uint32_t *);
    unsigned n = PARAM(t, 1, unsigned);
    unsigned factor = PARAM(t, 2, unsigned), shift = PARAM(t, 3, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 3);
        uint32_t x = LDG(t, &a[i]);
        IF_SHORT(t, x & 1, 4) INT(t, 4);
        STG(t, &a[i], factor * x + shift);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_update, false, 8, 4, 4, 4);

/* x = x + 1, read twice where it is odd. */
static void arena_flip(struct gpusim_thread *t)
{
    uint32_t *a = PARAM(t, 0, uint32_t *);
    unsigned n = PARAM(t, 1, unsigned), i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 3);
        uint32_t x = LDG(t, &a[i]);
        IF(t, x & 1)
        {
            x = LDG(t, &a[i]);
        }
        STG(t, &a[i], x + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_flip, false, 8, 4);

/* c = a + b + c */
static void arena_add(struct gpusim_thread *t)
{
    const uint32_t *a = PARAM(t, 0, const uint32_t *), *b = PARAM(t, 1, const uint32_t *);
    uint32_t *c = PARAM(t, 2, uint32_t *);
    unsigned n = PARAM(t, 3, unsigned), i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        INT(t, 5);
        uint32_t sum = LDG(t, &a[i]);
        sum += LDG(t, &b[i]);
        IF_SHORT(t, sum & 1, 4) INT(t, 4);
        STG(t, &c[i], sum + LDG(t, &c[i]));
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_add, false, 8, 8, 8, 4);

/* x = 2 * x + 1, but for word 50; one thread adds 3 to the word that memory names. */
static void arena_scatter(struct gpusim_thread *t)
{
    uint32_t *a = PARAM(t, 0, uint32_t *);
    const int32_t *index = PARAM(t, 1, const int32_t *);
    unsigned n = PARAM(t, 2, unsigned), i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n && i != 50)
    {
        INT(t, 3);
        STG(t, &a[i], 2 * LDG(t, &a[i]) + 1);
    }
    IF(t, i == 50)
    {
        INT(t, 3);
        int32_t to = LDG(t, index);
        STG(t, &a[to], LDG(t, &a[to]) + 3);
    }
    EXIT(t);
}
DEFINE_KERNEL(arena_scatter, false, 8, 8, 4);
