/* One profiled process: whether it is measured, from the program's first call to its end. */
#ifndef GPUPROF_LAUNCH_SESSION_H
#define GPUPROF_LAUNCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/* True when a call that just came in is the program's own and concerns us. Starts the
 * session where cuInit did not come by us. */
bool gp_session_observes(void);

/* Starts the session, once; called after the program's first successful cuInit. */
void gp_session_start(void);

/* True while launches are to be measured: started, not given up, not in exit. */
bool gp_session_measures(void);

/* Counts a launch that is not measured; while it enters the gate or has it closed. */
void gp_session_count_launch(void);
/* Counts several launches as gp_session_count_launch does: the kernels of a graph. */
void gp_session_count_launches(unsigned long launches);

/* Has all that is held measured at the program's exit, once. Called after each of the first two
 * measurements, as handlers that are registered later run earlier: after CUPTI has been loaded, and
 * after it has counted, for which it loads more. The first that runs ends it. */
void gp_end_at_exit(void);

#endif
