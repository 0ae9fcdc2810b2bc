/* The gate that keeps the program's other threads from touching GPU memory while a launch is saved,
 * replayed and restored: work passes it shared, a replay closes it. Owns the lock.
 *
 * The lock is held across driver calls only, never across a call into the program. The gate is not
 * closed across one that may wait for the GPU without a limit: the call may wait for one that
 * passes the gate. */
#ifndef GPUPROF_GATE_GATE_H
#define GPUPROF_GATE_GATE_H

#include <stdbool.h>

/* Around a call that submits work or frees memory. The thread must not hold the gate already. One
 * that is to be cancelled is so afterwards: the notes on the call are made. */
void gp_gate_share(void);
void gp_gate_unshare(void);

/* The same around a driver call of which nothing is noted, as cheap as can be: the thread may be
 * cancelled or end in it, as without us. */
void gp_gate_pass(void);
void gp_gate_passed(void);

/* Whether this thread is in such a call. */
bool gp_gate_is_passed_here(void);

/* A thread has ended, or was cancelled, wherever it was: it has left. */
struct gp_thread;
void gp_gate_abandon(struct gp_thread *thread);

/* Closes the gate, waiting for calls that are passing it; they may wait for the GPU, which may wait
 * for us, so the wait ends after so many seconds with false. */
bool gp_gate_close(double seconds);
void gp_gate_open(void);

/* The same in steps, for work that has to be done in any case. From lining up to leaving nothing is
 * measured, though calls pass the gate until it is shut; where nothing is collected that is enough,
 * and only threads before us in line are waited for. Shut by the thread that has lined up; false
 * where the wait ended. */
void gp_gate_line_up(void);
bool gp_gate_shut(double seconds);
void gp_gate_leave(bool closed);
/* Leaves, and passes the gate before the next one in line can close it: nothing is measured in
 * between. To be ended by gp_gate_unshare. */
void gp_gate_leave_and_share(bool closed);

#endif
