/* The gate that keeps the program's other threads from touching GPU memory while a launch is saved,
 * replayed and restored: work enters it shared, a replay locks it. Owns the lock.
 *
 * The lock is held across driver calls only, never across a call into the program. The gate is not
 * locked across one that may wait for the GPU without a limit: the call may wait for one that
 * enters the gate. */
#ifndef GPUPROF_GATE_GATE_H
#define GPUPROF_GATE_GATE_H

#include <stdbool.h>

/* Enter and leave stand around a call that submits work or frees memory. The thread must not have
 * locked the gate already. A thread that is to be cancelled is so afterwards: the notes on the call
 * are made. */
void gp_gate_enter(void);
void gp_gate_leave(void);

/* Enter and leave around a driver call of which nothing is noted, as cheap as can be: the thread
 * may be cancelled or end in it, as without us. */
void gp_gate_enter_cancellable(void);
void gp_gate_leave_cancellable(void);

/* Whether this thread is in such a call. */
bool gp_gate_is_entered_here(void);

/* Unlocks the gate. gp_gate_lock_in_time (gate/waits.h) locks it. */
void gp_gate_unlock(void);

/* Lock and unlock in steps, for work that has to be done in any case. From queueing to unlocking
 * nothing is measured, though calls enter the gate until it is locked; where nothing is collected
 * that is enough, and only threads before us in the queue are waited for. The thread that has
 * queued locks (gp_gate_lock_queued_in_time). */
void gp_gate_queue(void);
void gp_gate_unlock_queued(bool locked);
/* Unlocks, and enters the gate before the next one in the queue can lock it: nothing is measured in
 * between. To be ended by gp_gate_leave. */
void gp_gate_unlock_and_enter(bool locked);

/* How often the gate has begun or ended to be locked. Between two equal, even answers nothing was
 * measured. */
unsigned long gp_gate_turns(void);

#endif
