/* A first file of thresholds, from measured values. */
#ifndef GPUPROF_CHECK_SUGGEST_H
#define GPUPROF_CHECK_SUGGEST_H

#include "check/side.h"
#include "check/suggest_values.h"

struct gp_suggest_asked {
    double margin;    /* the least margin for values that vary: 0.1 of 10 % */
    const char *from; /* names the profiles */
    size_t runs;      /* their number */
    const struct gp_side_origin *origin;
};

/* One section for each kernel with a share of the time that matters. Runs of an unchanged program
 * keep to the bounds; comments give the margins and their reasons. The values are finished. */
void gp_suggest_thresholds(const struct gp_suggest_values *values,
                           const struct gp_suggest_asked *asked, struct gp_text *out);

#endif
