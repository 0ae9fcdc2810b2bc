/* The changes that people read of: advice that says the same of several kernels is one. */
#ifndef GPUPROF_REPORT_REMEDIES_H
#define GPUPROF_REPORT_REMEDIES_H

#include "report/advice.h"

struct gp_remedy {
    const struct gp_advice *first; /* the one with the largest gain */
    size_t kernels;    /* that it is about, rows of the report; 1 where it is about none */
    double gain, rank; /* sums of those of the advice: the kernels have times of their own */
};

struct gp_remedies {
    struct gp_remedy *list; /* the order is that of advice, by their sums */
    size_t count;
};

/* Returns true, or false when out of memory; free in both cases. */
bool gp_remedies_make(struct gp_remedies *r, const struct gp_advice_list *advice);
void gp_remedies_free(struct gp_remedies *r);

/* The advice of the change behind `advice`, NULL behind the last. */
const struct gp_advice *gp_remedy_next(const struct gp_remedy *change,
                                       const struct gp_advice_list *list,
                                       const struct gp_advice *advice);

#endif
