#include "check/closeness.h"

#include <math.h>

static double threads_of(const unsigned grid[3], const unsigned block[3])
{
    double threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (double)grid[i] * block[i];
    return threads;
}

bool gp_same_threads(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    return threads_of(a->grid, a->block) == threads_of(b->grid, b->block);
}

static double ratio(double a, double b)
{
    return fabs(log10((a + 1) / (b + 1)));
}

double gp_subject_distance(const struct gp_side_kernel *a, const struct gp_side_kernel *b)
{
    static const unsigned one[3] = {1, 1, 1};
    double d = 8 * ratio(threads_of(a->grid, a->block), threads_of(b->grid, b->block)) +
               4 * ratio(threads_of(one, a->block), threads_of(one, b->block)) +
               2 * ratio(threads_of(a->grid, one), threads_of(b->grid, one)) +
               ratio(a->shared_dynamic + (double)a->shared_static,
                     b->shared_dynamic + (double)b->shared_static) +
               ratio(a->registers, b->registers);
    for (int i = 0; i < 3; i++)
        d += 0.1 * (a->grid[i] != b->grid[i]) + 0.1 * (a->block[i] != b->block[i]);
    return d;
}
