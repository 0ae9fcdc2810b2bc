/* A first file of thresholds, from measured values. */
#ifndef GPUPROF_CHECK_SUGGEST_H
#define GPUPROF_CHECK_SUGGEST_H

#include "check/side.h"

/* One section for each kernel with a share of the time that matters, with bounds that are `margin`
 * (0.1 of 10 %) worse than the side's values. `from` names the profiles. */
void gp_suggest_thresholds(const struct gp_side *side, const struct gp_metrics *m, double margin,
                           const char *from, struct gp_text *out);

#endif
