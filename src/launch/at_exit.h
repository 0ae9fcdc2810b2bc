/* The end of measuring, when the program exits. */
#ifndef GPUPROF_LAUNCH_AT_EXIT_H
#define GPUPROF_LAUNCH_AT_EXIT_H

/* Has all that is held measured at the program's exit, once. Called after each of the first two
 * measurements, as handlers that are registered later run earlier: after CUPTI has been loaded, and
 * after it has counted, for which it loads more. The first that runs ends it. */
void gp_end_at_exit(void);

#endif
