/* The window: the part of the program that is measured (GPUPROF_WINDOW, base/window_rule.h).
 * Outside it launches are counted, and no more. Owns its state. From any thread; a launch reads the
 * clock only where the window has to do with time, and takes a lock only where it opens or closes.
 */
#ifndef GPUPROF_LAUNCH_WINDOW_H
#define GPUPROF_LAUNCH_WINDOW_H

#include "cuda/driver.h"

#include <stdbool.h>
#include <stdint.h>

/* Counts a launch of a graph that is about to be made as one of each of its kernels: `kernels` of
 * them. True where the first one lies in the window, or where the launch is captured and does not
 * run. With the gate neither entered nor locked: where the window has closed, held launches are
 * measured now. */
bool gp_window_takes_graph(CUstream stream, bool per_thread_stream, uint64_t kernels);

/* False where the window is all of the program: then none of the others needs to be asked. */
bool gp_window_is_limited(void);

/* The program has called cuProfilerStart, or cuProfilerStop; these count for all its threads. The
 * second one with the gate neither entered nor locked, before the real call: held launches are
 * measured. */
void gp_window_opens(void);
void gp_window_closes(void);

#endif
