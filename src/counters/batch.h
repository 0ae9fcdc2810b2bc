/* The launches of a batch that are to be counted: which of them the hardware counts one by one,
 * which together in one range, and of which enough is known without. Pure, as the plan of a single
 * launch (counters/plan.h).
 *
 * A range of the hardware's counters takes a millisecond, which goes into two system calls, however
 * much runs in it. So of launches that are alike a few are counted one by one
 * (counters/measured_rows.h). A later one whose fingerprint was found to be theirs is not counted
 * at all, if that tells all of its work. One that is only assumed to have it, or of which it tells
 * less, shares a range with others: their sum has to be that of launches like them. */
#ifndef GPUPROF_COUNTERS_BATCH_H
#define GPUPROF_COUNTERS_BATCH_H

#include "counters/recall.h"

/* In one range. */
#define GP_MOST_TOGETHER 16u

struct gp_batch_launch {
    /* Handed in. */
    bool counted;    /* the hardware is to count it; else all that follows says nothing */
    bool identified; /* its fingerprint is known, or assumed */
    bool assumed;    /* the latter */
    bool tells_all; /* its fingerprint tells how often each instruction ran, and with which lanes */
    bool alone;     /* it is to be counted by itself in any case */
    struct gp_fingerprint fingerprint; /* with its work */
    unsigned measured; /* launches of that fingerprint, in earlier batches, that stand for others */
    uint64_t layout;   /* of its copy; 0: it cannot share a range */
    double fingerprint_ms; /* to take its fingerprint, as far as is known */

    /* The answer. */
    enum gp_share { GP_ALONE, GP_TOGETHER, GP_NOT_AT_ALL } share;
    unsigned bundle; /* 1 + that of the launches with which it shares a range; 0: none */
};

/* Answers for `count` launches. `may_share`: the hardware's counters take one pass. */
void gp_batch_decide(struct gp_batch_launch *launches, unsigned count, bool may_share);

/* True where it is quicker to take the fingerprints of all that were assumed than to start the
 * hardware's counters for them: no other launch wants these. */
bool gp_batch_is_to_be_identified(const struct gp_batch_launch *launches, unsigned count);

#endif
