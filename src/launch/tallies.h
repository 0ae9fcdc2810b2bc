/* How often each kernel was launched in each configuration. Owns the counts, which are by the
 * kernel's name and last as long as the process: functions come and go. From any thread. */
#ifndef GPUPROF_LAUNCH_TALLIES_H
#define GPUPROF_LAUNCH_TALLIES_H

#include "launch/launch.h"
#include "profile/record.h"

#include <stdatomic.h>

/* Memory is bounded: kernels and configurations beyond so many share one count. */
#define GP_MAX_TALLIES 65536

struct gp_tally {
    struct gp_count what; /* but for the launches, which are here */
    atomic_ulong launches, taken, passed_over[GP_PASSED_OVER_KINDS];
    struct gp_tally *_Atomic next;
};

/* The counts of launches like this one, never NULL. */
struct gp_tally *tally_of_kernel(const char *kernel, int device, const struct gp_launch *call);

/* Visits every count but the shared one, in the order of first launches, and behind each how many
 * of its launches were passed over. Waits for nobody: it is for the end of the process. */
void tallies_visit(void (*visit)(void *user, const struct gp_count *count), void *user);

/* The sum of all counts so far. From any thread. */
uint64_t tallies_launches(void);

#endif
