/* The counts of one warp instruction, and how long its warp waits for it. */
#ifndef GPUSIM_ACCOUNT_H
#define GPUSIM_ACCOUNT_H

#include "model/cache.h"
#include "model/coalesce.h"
#include "model/counters.h"
#include "model/kernel.h"

/* One instruction as a warp executes it. */
struct gpusim_warp_op {
    const struct gpusim_site *site;
    uint32_t active;             /* lanes that execute it */
    uint32_t taken;              /* of a branch: lanes that jump */
    uint32_t count;              /* how often in a row */
    struct gpusim_access access; /* access.lanes: those whose predicate is on */
};

struct gpusim_memory {
    const struct gpusim_chip *chip;
    struct gpusim_cache *l1; /* of the SM */
    struct gpusim_cache *l2;
};

/* Sets counts to those of op (and nothing else); answers its latency in cycles. */
uint64_t gpusim_account(const struct gpusim_warp_op *op, const struct gpusim_memory *memory,
                        struct gpusim_counters *counts);

#endif
