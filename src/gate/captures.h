/* The stream captures that the program has begun and not ended. While there is one nothing is
 * measured: measuring waits for the device and allocates, which would invalidate it. Owns the list.
 * From any thread. */
#ifndef GPUPROF_GATE_CAPTURES_H
#define GPUPROF_GATE_CAPTURES_H

#include "cuda/driver.h"

/* Before the real begin of a capture, in the current context; of the default streams 0 means the
 * thread's own when per_thread. Ended again where that fails. */
void gp_capture_begins(CUstream stream, bool per_thread);
/* After the real end. One that was not seen to begin is nothing. */
void gp_capture_ends(CUstream stream, bool per_thread);

/* A capture can also end with the stream that began it: asked for before the real destruction (NULL
 * where there is none), dropped after it. Takes NULL. */
struct gp_capture;
const struct gp_capture *gp_capture_of(CUstream stream);
void gp_capture_drop(const struct gp_capture *capture);
/* Or with that stream's context: after the real destruction, with the gate locked. */
void gp_captures_forget_context(CUcontext context);
/* While a context is about to go its captures keep no other one from being measured. Whether it
 * goes shows later: they count again where `going` is false. With the gate locked. */
void gp_captures_are_going(CUcontext context, bool going);

/* How many there are, but those of a context that is going. Without the gate locked another thread
 * may begin one right after the answer. */
unsigned gp_captures(void);
/* For calls that would end a capture, where the gate is not locked. True where there is none, and
 * none begins until captures are let begin again, for a second at most. May be nested. */
bool gp_captures_hold_off(void);
void gp_captures_let_begin(void);
/* Whether there are any in the context; whether the calling thread has begun one. */
bool gp_captures_are_in(CUcontext context);
bool gp_capture_is_own(void);

#endif
