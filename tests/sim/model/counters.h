/* The counts of one SM, one instruction or one launch: plain sums over the trace. */
#ifndef GPUSIM_COUNTERS_H
#define GPUSIM_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

struct gpusim_counters {
#define GPUSIM_COUNTER(name) uint64_t name;
#include "model/counters.def"
#undef GPUSIM_COUNTER
};

/* Adds every count of more to sum. */
void gpusim_counters_add(struct gpusim_counters *sum, const struct gpusim_counters *more);

/* One machine instruction of a kernel, and its counts in all warps together. */
struct gpusim_instruction_counts {
    uint32_t offset; /* its address within the kernel */
    struct gpusim_counters counts;
};

/* The counts of one profiled launch. */
struct gpusim_result {
    const char *kernel;
    unsigned sms, busy_sms; /* of the chip; those with blocks */
    uint64_t cycles;        /* from the first block's start to the last one's end */
    double duration_ns;
    struct gpusim_counters total;
    struct gpusim_counters sm[GPUSIM_MAX_SMS];
    size_t instruction_count;
    struct gpusim_instruction_counts *instructions;
};

void gpusim_result_free(struct gpusim_result *result);

#endif
