/* The wait of a launch for its batch: it keeps its parameters and a copy of the memory it reached,
 * so that it can be replayed later (launch/drain.c). Used with the gate locked. */
#ifndef GPUPROF_LAUNCH_HELD_H
#define GPUPROF_LAUNCH_HELD_H

#include "launch/measurement.h"

/* Keeps the call and its parameters, for later; false where that cannot be. */
bool held_keep(struct gp_measurement *m);

/* The launch waits for the next drain of its context, with that copy. */
void held_enter(struct gp_measurement *m, struct gp_held_copy *copy);

/* The first launch that waits in the context; the next one after it. NULL where there is none. */
struct gp_measurement *held_first(const struct gp_context *c);
struct gp_measurement *held_next(const struct gp_measurement *m);

/* Nothing more is to be had of it. Where its copy is still to be written, as its stream has not
 * come there, it is given up, and the room of the copy stays taken until then. */
void held_release(struct gp_measurement *m);
/* The launch has left the batch: it is freed, or waits for its copy to be written. */
void held_leave(struct gp_measurement *m);
/* Releases launches that were given up and whose copy is written by now; all that their threads
 * have launched, where the context is idle. */
void held_release_written(struct gp_context *c, bool idle);
/* True where the copy of a launch that was given up is still to be written. */
bool held_any_unwritten(const struct gp_context *c);

/* True where a copy of some of these bytes is still to be made. */
bool held_to_be_written(const struct gp_context *c, CUdeviceptr address, uint64_t bytes);

#endif
