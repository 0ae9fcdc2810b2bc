/* Counters of instrumented code, which cost much to measure: they are measured where a launch is
 * new, and recalled where a launch is, instruction for instruction, as one that was measured: as
 * many warps at each, as many sectors and wavefronts at each access to memory. That is looked
 * after: they are measured again at the 30th, 300th, 3000th such launch and so on. Of a kernel for
 * which that was found not to hold they are measured always.
 *
 * Owns what it remembers, which is bounded. Calls libc. One thread at a time. */
#ifndef GPUPROF_COUNTERS_RECALL_H
#define GPUPROF_COUNTERS_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a launch is known by: its kernel, and a hash of what each of its instructions counted. */
struct gp_fingerprint {
    uint64_t kernel;
    uint64_t words[2];
};

/* Of a launch of that kernel (its mangled name); `shape` tells its grid and blocks from others. */
struct gp_fingerprint gp_fingerprint_of(const char *kernel, uint64_t shape);

/* Adds what one instruction counted; the order does not matter. */
void gp_fingerprint_add(struct gp_fingerprint *f, const char *function, uint32_t offset,
                        uint64_t metric, uint64_t value);

struct gp_recall;

/* For `count` counters. NULL when memory ran out. */
struct gp_recall *gp_recall_new(size_t count);
void gp_recall_free(struct gp_recall *r);

/* The counters of a launch of that fingerprint; NULL where they are to be measured. Counts the
 * launch. */
const double *gp_recall_values(struct gp_recall *r, const struct gp_fingerprint *f);

/* The same without counting, also where they are to be measured again; NULL where they never were.
 */
const double *gp_recall_look(const struct gp_recall *r, const struct gp_fingerprint *f);

/* Launches of that kernel with one fingerprint are not all alike. */
void gp_recall_distrust(struct gp_recall *r, const struct gp_fingerprint *f);
bool gp_recall_distrusts(const struct gp_recall *r, const struct gp_fingerprint *f);

/* They have been measured. */
void gp_recall_learn(struct gp_recall *r, const struct gp_fingerprint *f, const double *values);

#endif
