/* The causes of waits: the samples of a kernel's instructions, and for each the instruction that is
 * waited for. Owns the list; belongs to report/sources. */
#ifndef GPUPROF_REPORT_WAITS_H
#define GPUPROF_REPORT_WAITS_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_lines;

enum gp_wait {
#define REASON(NAME, name, help) GP_WAIT_##NAME,
#define CAUSE(NAME, name, help) GP_WAIT_##NAME,
#include "report/waits.def"
#undef CAUSE
#undef REASON
    GP_WAIT_COUNT
};

/* Samples that have a cause. */
struct gp_caused {
    enum gp_wait wait;
    uint32_t function;       /* index of its name in the counts */
    uint32_t cause, waiting; /* offsets of the instructions that are named */
    uint32_t at;             /* of the one at which the samples stand: a warp that waits at a
                              * barrier stands behind it */
    uint64_t parts;          /* of samples: GP_SAMPLE_PARTS for each */
};
#define GP_SAMPLE_PARTS 840u /* can be divided by all numbers to 8 */

/* Fewer samples say nothing: a share of a half is sure to 14 points at best. */
#define GP_LEAST_SAMPLES 50

struct gp_waits {
    uint64_t samples;               /* all */
    double shares[GP_WAIT_COUNT];   /* of all samples, 0 to 1 */
    double at_lines[GP_WAIT_COUNT]; /* the share of all samples, waits or not, that stand in lines
                                     * with a cause, or wait for one; where the cause computes, less
                                     * those that wait for memory or other warps there */
    double memory;                /* the share of all samples in which warps wait for global, local
                                   * or texture memory, or for other warps, which may do so */
    double issued[GP_WAIT_COUNT]; /* the share of instructions of a cause's kind of all that were
                                   * issued; of accurate functions one for each but quotients;
                                   * NAN: none were seen */
    struct gp_caused *list;
    size_t count, capacity;
};

/* Finds the causes of the kernel's samples. NULL where they are too few, or when out of memory.
 * Without the kernel's code the reasons alone have shares. */
struct gp_waits *gp_waits_make(const struct gp_lines *lines);
void gp_waits_free(struct gp_waits *w);

#endif
