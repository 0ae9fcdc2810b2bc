/* The launch configuration: one shape for the launch, its record, the counts of launches and the
 * tables that find these. Hashed, compared and ordered here alone. */
#ifndef GPUPROF_BASE_CONFIGURATION_H
#define GPUPROF_BASE_CONFIGURATION_H

#include "base/mix.h"

#include <stddef.h>
#include <string.h>

struct gp_configuration {
    unsigned grid[3], block[3], cluster[3]; /* cluster 0,0,0: none */
    unsigned shared_dynamic;                /* bytes per block */
};
_Static_assert(sizeof(struct gp_configuration) == 10 * sizeof(unsigned),
               "without padding: it is compared bytewise");

static inline double gp_blocks_of(const unsigned grid[3])
{
    return (double)grid[0] * grid[1] * grid[2];
}

/* A member of a struct: the whole as `configuration`, its parts by their own names as well. */
#define GP_CONFIGURATION                            \
    union {                                         \
        struct gp_configuration configuration;      \
        struct {                                    \
            unsigned grid[3], block[3], cluster[3]; \
            unsigned shared_dynamic;                \
        };                                          \
    }

/* -1, 0 or 1, by grid, block, cluster and shared memory. */
static inline int gp_configuration_compare(const struct gp_configuration *a,
                                           const struct gp_configuration *b)
{
    unsigned of_a[sizeof(*a) / sizeof(unsigned)], of_b[sizeof(*b) / sizeof(unsigned)];
    memcpy(of_a, a, sizeof(of_a));
    memcpy(of_b, b, sizeof(of_b));
    for (size_t i = 0; i < sizeof(of_a) / sizeof(of_a[0]); i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i] ? -1 : 1;
    return 0;
}

/* The configuration without the grid, as launches of one row of a report have it. */
static inline struct gp_configuration gp_configuration_of_row(const struct gp_configuration *c)
{
    struct gp_configuration of_row = *c;
    memset(of_row.grid, 0, sizeof(of_row.grid));
    return of_row;
}

/* `seed` is the hash of the data before it, 0 for none. */
static inline uint64_t gp_configuration_hash(const struct gp_configuration *c, uint64_t seed)
{
    uint64_t words[sizeof(*c) / sizeof(uint64_t)];
    memcpy(words, c, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        seed = gp_mix(seed, words[i]);
    return seed;
}

#endif
