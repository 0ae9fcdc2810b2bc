/* Kernels that the user pairs: the name of one has changed. */
#ifndef GPUPROF_CHECK_HAND_PAIRS_H
#define GPUPROF_CHECK_HAND_PAIRS_H

#include "check/side.h"

/* Says that a kernel of side a has another name on side b: "OLD=NEW", two patterns as sections of
 * thresholds have them, each of one kernel. False with one line in `why`. */
bool gp_pair_by_hand(const char *pair, const struct gp_side *a, struct gp_side *b, char *why,
                     size_t why_size);

#endif
