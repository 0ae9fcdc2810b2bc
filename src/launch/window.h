/* The window: the part of the program that is measured (GPUPROF_WINDOW, base/window_rule.h).
 * Outside it launches are counted, and no more. Owns its state. From any thread; a launch takes no
 * lock, and reads the clock only where the window has to do with time. */
#ifndef GPUPROF_LAUNCH_WINDOW_H
#define GPUPROF_LAUNCH_WINDOW_H

#include "launch/launch.h"

#include <stdbool.h>
#include <stdint.h>

/* Counts a launch that is about to be made. True where it lies in the window, or does not run as it
 * is captured. The gate is neither entered nor locked: where the window has closed, held launches
 * are measured now. */
bool gp_window_takes(const struct gp_launch *call);

/* The same of a graph's launch, which is one for each of its kernels: `kernels` of them. It lies in
 * the window where the first one does. */
bool gp_window_takes_graph(CUstream stream, bool per_thread_stream, uint64_t kernels);

/* False where the window is all of the program: then none of the others needs to be asked. */
bool gp_window_is_limited(void);

/* True where a launch now would lie in the window. Counts nothing. */
bool gp_window_is_open(void);

/* The program has called cuProfilerStart, or cuProfilerStop; these count for all its threads. The
 * second one with the gate neither entered nor locked, before the real call: held launches are
 * measured. */
void gp_window_opens(void);
void gp_window_closes(void);

#endif
