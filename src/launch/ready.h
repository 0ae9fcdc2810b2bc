/* Whether a launch can be measured now: nothing else runs in its context, and the kernel may be
 * waited for. While the gate is locked. */
#ifndef GPUPROF_LAUNCH_READY_H
#define GPUPROF_LAUNCH_READY_H

#include "launch/contexts.h"
#include "launch/kernels.h"
#include "launch/launch.h"

/* A stream other than the default ones knows its context; a launch goes there, current or not. */
bool stream_is_in_context(CUstream stream, CUcontext context);

/* The current context, if launches into the stream go there and are measured; NULL where not, and
 * why. */
struct gp_context *stream_context(CUstream stream, enum gp_passed_over *why);

/* The context that the launch can be measured in; NULL where it cannot be, and why. True in
 * *held_up where a wait for other work ran out. */
struct gp_context *ready_for(const struct gp_launch *call, struct gp_kernel *kernel, bool *held_up,
                             enum gp_passed_over *why);

/* True where any launch into the stream can be measured now; else *why says why not. */
bool ready_in(CUstream stream, enum gp_passed_over *why);
/* True when all that was launched in the stream's context ends within the bounded wait. */
bool rests_in(CUstream stream);

#endif
