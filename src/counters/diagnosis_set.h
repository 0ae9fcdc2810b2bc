/* The counters of the diagnosis: those of the hardware that few launches have beside the default
 * set. They take passes of their own, in a session of CUPTI's Range Profiler in place of the
 * collection's: of one context there is one list of counters at a time. Owns that session.
 *
 * Used with the gate locked and the context current, which is idle; one thread at a time. */
#ifndef GPUPROF_COUNTERS_DIAGNOSIS_SET_H
#define GPUPROF_COUNTERS_DIAGNOSIS_SET_H

#include "counters/run.h"
#include "cuda/driver.h"
#include "profile/record.h"

#include <stdbool.h>
#include <stddef.h>

/* Counters that would take more passes are left out, the last ones first. */
#define GP_DIAGNOSIS_PASSES 8

struct gp_diagnosis_set;

/* For the named counters (strings that outlive it) of `launches` launches, or of fewer where CUPTI
 * would take too much memory. The collection has left the context. NULL with the reason in *why. */
struct gp_diagnosis_set *gp_diagnosis_set_open(CUcontext context, const struct gp_device *device,
                                               const char *const *names, size_t count,
                                               unsigned launches, struct gp_reason *why);
void gp_diagnosis_set_close(struct gp_diagnosis_set *s, bool context_alive);

unsigned gp_diagnosis_set_launches(const struct gp_diagnosis_set *s);
unsigned gp_diagnosis_set_passes(const struct gp_diagnosis_set *s);

/* Around one run of the launch of that number in a pass, from 0 on; passes come in their order. The
 * end waits for the kernel. False with the reason: nothing more can be counted. */
bool gp_diagnosis_set_begin(struct gp_diagnosis_set *s, unsigned pass, unsigned launch,
                            const struct gp_run *run, struct gp_reason *why);
bool gp_diagnosis_set_end(struct gp_diagnosis_set *s, struct gp_reason *why);

/* All passes were made: the counters can be read. The same. */
bool gp_diagnosis_set_settle(struct gp_diagnosis_set *s, struct gp_reason *why);

/* The counters of a launch that ran in every pass, as many as were named; false where CUPTI has
 * none of it. */
bool gp_diagnosis_set_read(const struct gp_diagnosis_set *s, unsigned launch,
                           struct gp_counter *counters);

#endif
