/* The sum of a quantity over all launches, of which only some were measured: those of a launch
 * configuration stand for its other launches. */
#ifndef GPUPROF_BASE_ESTIMATE_H
#define GPUPROF_BASE_ESTIMATE_H

#include <stdint.h>

/* All zero to begin with. */
struct gp_estimate {
    double sum;        /* over all launches of the configurations that have values */
    uint64_t known;    /* these launches */
    uint64_t launches; /* of all configurations */
};

/* A configuration: the sum of the values that some of its launches have, or of none. */
static inline void gp_estimate_add(struct gp_estimate *e, double sum, uint64_t values,
                                   uint64_t launches)
{
    e->launches += launches;
    if (values == 0)
        return;
    e->sum += sum / (double)values * (double)launches;
    e->known += launches;
}

/* Configurations with values stand for those without. 0 where none has any. */
static inline double gp_estimate_total(const struct gp_estimate *e)
{
    return e->known > 0 ? e->sum / (double)e->known * (double)e->launches : 0;
}

#endif
