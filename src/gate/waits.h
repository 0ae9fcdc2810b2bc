/* Waits that hold the program up: for the GPU, which may itself wait for the program, and for
 * driver calls of other threads. Each has a limit, and so have all waits in vain together: the
 * first lasts GPUPROF_TIMEOUT seconds at most, and each leaves half of the rest to the next. A wait
 * that ends well costs nothing of that. Owns the account, and the events of launches that are known
 * not to end by themselves: nobody waits behind these. From any thread. */
#ifndef GPUPROF_GATE_WAITS_H
#define GPUPROF_GATE_WAITS_H

#include "cuda/driver.h"

#include <stdbool.h>

/* Seconds that the first wait may last; 1 until this is said. Before the first launch. */
void gp_waits_start(double seconds);
double gp_wait_first_limit(void);

/* How long, in seconds, a kernel may take that cannot wait for anybody: so many times the first
 * limit, however much was in vain so far. */
#define GP_COMPUTING_FACTOR 30
double gp_wait_computing_limit(void);

/* How long, in seconds, the next wait may last. */
double gp_wait_limit(void);

/* A wait of so many seconds was in vain. */
void gp_wait_was_in_vain(double seconds);

/* As gp_wait_for_event and gp_wait_for_context, for `seconds` at most. Where *waited is asked for
 * it is the time that passed. */
CUresult gp_wait_within_limit(CUevent event, double seconds, double *waited);
CUresult gp_wait_for_rest(CUcontext context, CUevent event, double seconds, double *waited);

/* Whether work in the stream has not ended; also where the program captures, and nobody may ask. */
bool gp_stream_is_at_work(CUstream stream, bool per_thread);
/* Waits for its end, for `seconds` at most. *waited becomes the time that passed. False where it
 * has not come. */
bool gp_wait_for_stream(CUstream stream, bool per_thread, double seconds, double *waited);

/* gate_lock_queued and gate_lock within the limit. Where the last wait was in vain the next
 * one is shorter: GP_STUCK_SECONDS, and for a launch less. */
#define GP_STUCK_SECONDS 0.01
bool gp_gate_lock_queued_in_time(void);
bool gp_gate_lock_in_time(void);

/* A kernel, or a graph, that does not end by itself, or not in time, was launched into a stream of
 * the current context. The gate is entered or locked, and nothing is being captured. `is_timing`:
 * it may be there to have launches behind it in line before the first runs, so that the program can
 * time them. */
void gp_unending_launched(CUstream stream, bool per_thread_stream, bool is_timing);
/* True while one of these is under way in the context. */
bool gp_unending_runs(CUcontext context);
/* True while a kernel or graph that gp_unending_launched noted is under way in the context: in
 * another stream than this one (NULL: in any), or for timing in any. */
bool gp_unending_runs_beside(CUcontext context, CUstream stream);
/* Waits `seconds` at most for the end of all kernels and graphs that gp_unending_launched noted in
 * the context. True where one is still under way. */
bool gp_unending_runs_on(CUcontext context, double seconds);
/* The context, which is current while it is alive, is about to go. */
void gp_unending_forget(CUcontext context, bool alive);

#endif
