/* One profiled process: whether it is measured, from the program's first call to its end. */
#ifndef GPUPROF_LAUNCH_SESSION_H
#define GPUPROF_LAUNCH_SESSION_H

#include <stdbool.h>
#include <stdint.h>

/* True when a call that just came in is the program's own and concerns us. Starts the
 * session where cuInit did not come by us. */
bool gp_session_observes(void);

/* True once the program has used CUDA, in this process or before it was forked. */
bool session_began(void);

/* True in the process that started the session, false in its children. Exit handlers ask: a child
 * that calls exit has inherited them. */
bool session_is_here(void);

/* Starts the session, once; called after the program's first successful cuInit. */
void gp_session_start(void);

/* True while launches are to be measured: started, not given up, not in exit. */
bool gp_session_measures(void);

/* Stops measuring for the rest of the process, without a word. */
void session_stop(void);

/* Stops measuring for the rest of the process, after one line that says why. */
void session_give_up(const char *why);

/* Counts a launch that is not measured; while it enters the gate or has it closed. */
void gp_session_count_launch(void);
/* Counts one that is measured, and is its number among all. The same. */
uint64_t session_next_launch(void);
/* How many there are so far, at least. From any thread. */
uint64_t session_launches(void);

#endif
