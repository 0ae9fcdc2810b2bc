/* Kernels that come by the memory they update in roundabout ways, and make x = 3 * x + 1 of it; and
 * one whose work depends on that memory. */
#include "model/define.h"

static void step(struct gpusim_thread *t, uint32_t *x)
{
    INT(t, 2);
    STG(t, x, LDG(t, x) * 3 + 1);
}

static uint64_t address_of(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* The pointer is a parameter that begins at a multiple of 4 only. */
static void reach_unaligned(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 0, unsigned);
    uint32_t *x = (uint32_t *)address_of(PARAM(t, 1, uint32_t), PARAM(t, 2, uint32_t));
    unsigned i = LINEAR_INDEX(t);

    IF(t, i < n) step(t, &x[i]);
    EXIT(t);
}
DEFINE_KERNEL(reach_unaligned, false, 4, 4, 4);

/* The pointer is to the middle: n elements on either side of it. */
static void reach_around(struct gpusim_thread *t)
{
    uint32_t *middle = PARAM(t, 0, uint32_t *);
    unsigned n = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);

    IF(t, i < 2 * n) step(t, middle - n + i);
    EXIT(t);
}
DEFINE_KERNEL(reach_around, false, 8, 4);

/* The last two numbers, side by side, may be equal to an address, and are none. */
static void reach_numbers(struct gpusim_thread *t)
{
    unsigned n = PARAM(t, 1, unsigned), i = LINEAR_INDEX(t);

    IF(t, i < n && PARAM(t, 2, unsigned) > 0 && PARAM(t, 3, unsigned) > 0)
    {
        uint32_t *a = ADDRESS(t, 0, uint32_t *);
        step(t, &a[i]);
    }
    EXIT(t);
}
DEFINE_KERNEL(reach_numbers, false, 8, 4, 4, 4);

/* A table of n pointers. */
static void reach_table(struct gpusim_thread *t)
{
    uint32_t *const *table = PARAM(t, 0, uint32_t *const *);
    unsigned n = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);

    IF(t, i < n) step(t, LDG(t, &table[i]));
    EXIT(t);
}
DEFINE_KERNEL(reach_table, false, 8, 4);

/* A list whose elements lie where they like; the link begins at a multiple of 4 only. */
struct element {
    uint32_t value, low, high;
};

static void walk(struct gpusim_thread *t, struct element *e)
{
    while (e) {
        uint32_t low = LDG(t, &e->low), high = LDG(t, &e->high);
        step(t, &e->value);
        e = (struct element *)address_of(low, high);
    }
}

static void reach_list(struct gpusim_thread *t)
{
    IF(t, LINEAR_INDEX(t) == 0) walk(t, PARAM(t, 0, struct element *));
    EXIT(t);
}
DEFINE_KERNEL(reach_list, false, 8);

/* The list begins in a variable of the module. */
static void reach_variable(struct gpusim_thread *t)
{
    struct element **anchor = GLOBAL(t, struct element *, "anchor");

    IF(t, LINEAR_INDEX(t) == 0) walk(t, LDG(t, anchor));
    EXIT(t);
}
DEFINE_KERNEL(reach_variable, false, 4);

/* The pointer cannot be recognised: every bit of it is the other way round. */
static void reach_hidden(struct gpusim_thread *t)
{
    uint32_t *x = (uint32_t *)~PARAM(t, 0, uint64_t);
    unsigned n = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);

    IF(t, i < n) step(t, &x[i]);
    EXIT(t);
}
DEFINE_KERNEL(reach_hidden, false, 8, 4);

/* Goes round as often as the number in memory says, and makes that one less: from other memory than
 * its own it counts other instructions. */
static void count_down(struct gpusim_thread *t)
{
    uint32_t *number = PARAM(t, 0, uint32_t *);
    uint32_t rounds = LDG(t, number);

    FOR(t, uint32_t r = 0, r < rounds, r++) INT(t, 1);
    STG(t, number, rounds - 1);
    EXIT(t);
}
DEFINE_KERNEL(count_down, false, 8);
