/* Kernels whose answer depends on the results of earlier launches, and how they came by it. */
#include "model/define.h"

/*
 * Every launch makes one step of a sequence kept in variables of the module: state = 3 * state + 1,
 * calls = calls + 1, and adds table[calls % 8] of constant memory. Run twice, it is two steps
 * ahead.
 */
static void global_state(struct gpusim_thread *t)
{
    uint32_t *out = PARAM(t, 0, uint32_t *);
    uint32_t *state = GLOBAL(t, uint32_t, "state");
    uint32_t *calls = GLOBAL(t, uint32_t, "calls");
    const uint32_t *table = GLOBAL(t, const uint32_t, "table");

    INT(t, 4);
    IF(t, t->tid.x == 0 && t->bid.x == 0)
    {
        uint32_t now = LDG(t, calls) + 1;
        uint32_t next = LDG(t, state) * 3 + 1 + LDG(t, &table[now % 8]);
        INT(t, 4);
        STG(t, calls, now);
        STG(t, state, next);
        STG(t, out, next);
    }
    EXIT(t);
}
DEFINE_KERNEL(global_state, false, 8);

/* x = 3 * x + 2 where the grid was launched cooperatively, x = x - 1 where not. */
static void grid_is_valid(struct gpusim_thread *t)
{
    uint32_t *x = PARAM(t, 0, uint32_t *);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    STG(t, &x[i], t->grid->cooperative ? 3 * LDG(t, &x[i]) + 2 : LDG(t, &x[i]) - 1);
    EXIT(t);
}
DEFINE_KERNEL(grid_is_valid, false, 8);

/* A race: the data written, and where, depend on how fast the blocks run. While something counts
 * they run slower, and the other half of the data is written. */
static void race(struct gpusim_thread *t)
{
    uint32_t *data = PARAM(t, 0, uint32_t *);
    unsigned n = PARAM(t, 1, unsigned), i = LINEAR_INDEX(t);
    bool slower = t->lane != NULL;

    INT(t, 3);
    IF(t, i < n / 2)
    {
        uint32_t *mine = &data[slower ? n - 1 - i : i];
        STG(t, mine, LDG(t, mine) * 3 + (slower ? 2 : 1));
    }
    EXIT(t);
}
DEFINE_KERNEL(race, false, 8, 4);

/* Counts its threads in a managed variable of the module. */
static void global_counter(struct gpusim_thread *t)
{
    uint32_t *counter = GLOBAL(t, uint32_t, "counter");

    INT(t, 2);
    RED_ADD(t, counter, 1u);
    EXIT(t);
}
DEFINE_KERNEL(global_counter, false, );

/* One counter for all threads, and each thread remembers that it was there. */
static void atomic_counter(struct gpusim_thread *t)
{
    uint32_t *counter = PARAM(t, 0, uint32_t *);
    uint32_t *visits = PARAM(t, 1, uint32_t *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        (void)ATOMIC_ADD(t, counter, 1u);
        INT(t, 3);
        STG(t, &visits[i], LDG(t, &visits[i]) + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(atomic_counter, false, 8, 8, 4);

static void atomic_histogram(struct gpusim_thread *t)
{
    const uint32_t *values = PARAM(t, 0, const uint32_t *);
    uint32_t *bins = PARAM(t, 1, uint32_t *);
    unsigned n = PARAM(t, 2, unsigned);
    unsigned bin_count = PARAM(t, 3, unsigned);
    unsigned i = LINEAR_INDEX(t);

    INT(t, 2);
    IF(t, i < n)
    {
        uint32_t value = LDG(t, &values[i]);
        INT(t, 6);
        RED_ADD(t, &bins[value % bin_count], 1u);
    }
    EXIT(t);
}
DEFINE_KERNEL(atomic_histogram, false, 8, 8, 4, 4);
