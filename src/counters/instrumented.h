/* Counters of instrumented code, computed from CUPTI's SASS metrics of each instruction.
 *
 * CUPTI gives records: a base metric ("smsp__sass_thread_inst_executed_pred_on"), an offset in a
 * function, a value. Together with the instruction at that offset they make the counters that the
 * Range Profiler has under names of its own
 * ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"), equal to the digit. A counter of a base
 * metric itself ("smsp__sass_inst_executed.sum") is its sum.
 *
 * It only adds up. Used with the gate locked, one thread at a time. */
#ifndef GPUPROF_COUNTERS_INSTRUMENTED_H
#define GPUPROF_COUNTERS_INSTRUMENTED_H

#include "code/instruction.h"

#include "base/cause.h"

#include <stddef.h>

struct gp_instrumented;

/* Whether CUPTI has this base metric for the chip. */
typedef bool gp_has_base_metric(const char *name, void *data);

/* For the named counters (strings that outlive it), of which any number may be none of these. NULL
 * when out of memory. */
struct gp_instrumented *instrumented_open(const char *const *names, size_t count,
                                          gp_has_base_metric *has, void *data);
void instrumented_close(struct gp_instrumented *c);

/* Why there will never be a value of that counter (by its index among the names); none where there
 * may be one. */
struct gp_reason instrumented_unavailable(const struct gp_instrumented *c, size_t counter);

/* True when the counter depends on which addresses threads share: the bytes that threads ask for
 * are computed, while the Range Profiler counts a byte once for all threads of a warp. */
bool instrumented_shares_addresses(const struct gp_instrumented *c, size_t counter);

/* The base metrics to enable, as few as do; `*count` of them. */
const char *const *instrumented_bases(const struct gp_instrumented *c, size_t *count);

/* True when the instruction matters for records of that base metric (by its index among the bases);
 * else it need not be looked up. */
bool instrumented_needs_instruction(const struct gp_instrumented *c, size_t base);

/* Forgets the last launch. */
void instrumented_begin(struct gp_instrumented *c);

/* Adds a record. Where the instruction is not known, `instruction` is NULL and `why` says why. */
void instrumented_add(struct gp_instrumented *c, size_t base,
                      const struct gp_instruction *instruction, struct gp_reason why,
                      uint64_t value);

/* The counter's value for the records since begin; false with the reason in *why. */
bool instrumented_value(const struct gp_instrumented *c, size_t counter, double *value,
                        struct gp_reason *why);

#endif
