/* gate/ from within: the declarations that its own files alone use, each section behind those that
 * it needs. The first lines of a file that a section names say more. */
#ifndef GPUPROF_GATE_INSIDE_H
#define GPUPROF_GATE_INSIDE_H

#include "gate/threads.h"

#include <stdatomic.h>
#include <stdbool.h>

/* ---- notes of a thread (threads.c) ----------------------------------------------------------- */

/* The calling thread's notes from now on, until the thread ends or is cancelled: then it leaves the
 * gate. NULL where out of memory. Leaves errno as it was. */
struct gp_thread *thread_enter(void);

/* ---- the gate (gate.c) ----------------------------------------------------------------------- */

/* A thread has ended, or was cancelled, wherever it was: it has left. */
void gate_abandon(struct gp_thread *thread);

/* Locks the gate, waiting for calls that are inside; they may wait for the GPU, which may wait
 * for us, so the wait ends after so many seconds with false. */
bool gate_lock(double seconds);

/* Locks the gate, for which the thread has queued; false where the wait ended after so many
 * seconds.
 */
bool gate_lock_queued(double seconds);

#endif
