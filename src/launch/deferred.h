/* Launches that are not waited for. Of a kernel that is known to end, and to reach only the memory
 * to which its parameters and its module's variables lead, the host knows the memory to copy
 * beforehand: the copy is made in the launch's own stream, in front of it, and the call returns
 * when the driver does. All passes of the launch are made when the batch is drained
 * (launch/drain.h). */
#ifndef GPUPROF_LAUNCH_DEFERRED_H
#define GPUPROF_LAUNCH_DEFERRED_H

#include "launch/drain.h"

/* To drain a batch is to wait for all of its launches: they may take so many seconds together, as
 * far as is known. */
#define GP_MOST_DEFERRED 0.1

/* Holds a launch that is about to be made; NULL where it is to be measured at the launch. The GPU
 * may be at work. The gate is locked. To be followed by launch_with_copies. */
struct gp_measurement *launch_defer(const struct gp_launch *call, struct gp_kernel *kernel);

/* Makes that launch, the program's own, with the copies in front of it in its stream. The gate is
 * passed, and not closed: a full stream holds the call up. */
CUresult launch_with_copies(struct gp_measurement *m, const struct gp_launch *call);

/* Waits for deferred launches as long as one after the other runs, and returns how many seconds:
 * they end by themselves, however long they take. All together get the limit of one such kernel.
 * Those that do not begin, as their stream is blocked, are not waited for. The context is current,
 * and nothing is being captured in it. */
double deferred_wait(struct gp_context *c);

/* The most seconds that our own work in front of launches may have taken of a wait for the context,
 * which is idle now; the rest was the program's. Each launch is asked once. */
double deferred_charge(struct gp_context *c);

/* The first passes of the launch, in a drain: others make them at the launch. */
void measure_in_drain(struct gp_measurement *m);
/* Only finds out whether its copy leads to other memory. False where it does; then there is nothing
 * to measure. */
bool search_deferred(struct gp_measurement *m);

#endif
