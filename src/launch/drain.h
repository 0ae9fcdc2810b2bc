/* Launches that are held: each was made, and its passes are made later, for many of them at once,
 * as it takes tens of milliseconds to make the session go from one pass to another. One that was
 * deferred was not even waited for (launch/deferred.h). A held launch keeps its parameters and a
 * copy of the memory it reached. When a batch is full, or something is about to happen that would
 * keep one of them from being repeated, it is drained: each is replayed from its copy, and memory
 * becomes again as it was before. Used with the gate locked. */
#ifndef GPUPROF_LAUNCH_DRAIN_H
#define GPUPROF_LAUNCH_DRAIN_H

#include "launch/measurement.h"

/* True where the launch, whose memory was just copied, can be held. */
bool launch_may_be_held(struct gp_measurement *m);

/* Holds a launch that has passes to come; its record is amended then. False where that cannot be:
 * then these are to be made now. */
bool hold_launch(struct gp_measurement *m);

/* Drains the context's launches, and reads and records all that waits for it. Where it is not
 * alive, or something runs in it that does not end, held launches are given up. The context is
 * current while it is alive, and idle. */
void drain_context(struct gp_context *c, bool alive);

/* Makes the further passes of the launches that a change concerns. The same. */
void drain_before_change(struct gp_context *c, const struct gp_program_change *change, bool alive);
/* True where it is quicker to drain all that are held: one of these is, as far as is known, like
 * none before it, or to compare them one by one takes longer. */
bool is_batch_quicker(const struct gp_context *c, const struct gp_program_change *change);
/* True where there are any such. */
bool context_is_concerned(const struct gp_context *c, const struct gp_program_change *change);

/* Finds out whether copies of deferred launches lead to other memory: then the kernel's next ones
 * are waited for. False where one is under way. */
bool search_held(struct gp_context *c);
/* Notes memory that is freed: copies that were not searched yet may lead to it. */
void held_note_freed(const struct gp_context *c, const struct gp_program_change *change);

/* True where some launch is held in some context. From any thread. */
bool gp_any_held(void);

#endif
