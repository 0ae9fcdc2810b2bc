/* A thread that writes down, while launches wait to be measured, which of them have ended and how
 * long they took, and how many launches there are in all: the process may be killed at any moment,
 * and then that is all that is known of them. Only where a profile is written. Owns the thread, and
 * the list of launches that are under way. */
#ifndef GPUPROF_LAUNCH_ENDED_H
#define GPUPROF_LAUNCH_ENDED_H

#include "launch/clocks.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts the thread, once. */
void ended_start(void);
/* Nothing is asked of the driver any more: the process ends. Waits for the thread no longer than a
 * second. */
void ended_stop(void);

/* A deferred launch whose end is marked by the clock. `empty_ms`: the time between two events with
 * nothing between them. */
void ended_watch(CUcontext context, const struct gp_clock *clock, uint64_t index, float empty_ms);
/* Before the clock is used again: it is asked no more. False where it is asked in this moment, and
 * the driver does not answer: then it must stay as it is. */
bool ended_forget(const struct gp_clock *clock);
/* The clocks of a context that is about to go are asked no more. */
void ended_forget_context(CUcontext context);

#endif
