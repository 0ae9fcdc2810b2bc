/* Kernels that go wrong, each in its own way. */

#include "model/define.h"
#include "model/nap.h"

/*
 * Runs until the host, or another stream, writes something else than zero to the flag: the kernel
 * that a profiler must not wait for while it keeps the host from writing.
 */
static void wait_for_flag(struct gpusim_thread *t)
{
    const uint32_t *flag = PARAM(t, 0, const uint32_t *);
    uint32_t *seen = PARAM(t, 1, uint32_t *);
    const volatile uint32_t *memory;

    IF(t, t->tid.x == 0)
    {
        memory = gpusim_global(t, GPUSIM_VOLATILE_LOAD(flag), flag, sizeof(*flag));
        while (PEEK(memory) == 0)
            gpusim_nap();
        STG(t, seen, PEEK(memory));
    }
    EXIT(t);
}
DEFINE_KERNEL(wait_for_flag, false, 8, 8);

/* Takes so many milliseconds, as compute_long does, but sees the stores of others: nobody
 * can know that it only takes long. x = 2 * x + 1. */
static void poll_long(struct gpusim_thread *t)
{
    uint32_t *x = PARAM(t, 0, uint32_t *);

    IF(t, t->tid.x == 0)
    {
        const uint32_t *seen = gpusim_global(t, GPUSIM_VOLATILE_LOAD(x), x, sizeof(*x));
        gpusim_take_ms(PARAM(t, 1, unsigned));
        STG(t, x, 2 * PEEK(seen) + 1);
    }
    EXIT(t);
}
DEFINE_KERNEL(poll_long, false, 8, 4);

/* Writes one element more than it should. */
static void out_of_bounds(struct gpusim_thread *t)
{
    int *out = PARAM(t, 0, int *);
    unsigned n = PARAM(t, 1, unsigned);
    unsigned i = LINEAR_INDEX(t);

    IF(t, i <= n) STG(t, &out[i], (int)i);
    EXIT(t);
}
DEFINE_KERNEL(out_of_bounds, false, 8, 4);

/*
 * Stands for a kernel that launches a graph, which it can as part of one only: by itself it fails.
 * x = 2 * x + 1; the launch is left out where the last parameter is 0. Images that hold it have the
 * undefined symbol of cudaGraphLaunch.
 */
static void launch_from_graph(struct gpusim_thread *t)
{
    float *x = PARAM(t, 0, float *);
    unsigned n = PARAM(t, 1, unsigned);
    unsigned launches = PARAM(t, 2, unsigned);
    unsigned i = LINEAR_INDEX(t);

    if (launches && !t->grid->in_graph)
        gpusim_grid_fault(t, GPUSIM_TRAPPED);
    IF(t, i < n) STG(t, &x[i], 2 * LDG(t, &x[i]) + 1);
    EXIT(t);
}
DEFINE_KERNEL(launch_from_graph, false, 8, 4, 4);

static void misaligned(struct gpusim_thread *t)
{
    char *out = PARAM(t, 0, char *);
    int *crooked;

    INT(t, 1);
    out += 2;
    __builtin_memcpy(&crooked, &out, sizeof(crooked));
    STG(t, crooked, 1);
}
DEFINE_KERNEL(misaligned, false, 8);

static void trap(struct gpusim_thread *t)
{
    gpusim_grid_fault(t, GPUSIM_TRAPPED);
}
DEFINE_KERNEL(trap, false, );
