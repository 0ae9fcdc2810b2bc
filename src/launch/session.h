/* One profiled process: what the user asked for (GPUPROF_* in the environment), where the results
 * go, and what state we are in. Owns the configuration, the profile's writer, the summary printed
 * at exit. May call memory/, counters/, cuda/ and the rooms below CUDA. */
#ifndef GPUPROF_LAUNCH_SESSION_H
#define GPUPROF_LAUNCH_SESSION_H

#include "metrics/metrics.h"
#include "profile/record.h"

#include <stdbool.h>

/* True when a call that just came in is the program's own and concerns us. Starts the
 * session where cuInit did not come by us. */
bool gp_session_observes(void);

/* True in the process that started the session, false in its children. Exit handlers ask: a child
 * that calls exit has inherited them. */
bool gp_session_is_here(void);

/* Starts the session, once; called after the program's first successful cuInit. */
void gp_session_start(void);

/* Between these, driver calls of this thread are our own and pass the hooks untouched; afterwards
 * errno is what it was before. */
void gp_own_work_begins(void);
void gp_own_work_ends(void);
/* True between them. */
bool gp_at_own_work(void);

/* Calls work(argument) between these, as a guest does who leaves no trace: little of the program's
 * stack is used, what its floating-point unit has noted and errno are as before. */
void gp_at_work(void (*work)(void *argument), void *argument);

/* True while launches are to be measured: started, not given up, not in exit. */
bool gp_session_measures(void);

/* Stops measuring for the rest of the process, without a word. */
void gp_session_stop(void);

/* Stops measuring for the rest of the process, after one line that says why. */
void gp_session_give_up(const char *why);

/* True when the user wants this kernel (its mangled or its demangled name matches GPUPROF_KERNELS).
 */
bool gp_session_selects(const char *kernel);

/* True when caches are to be emptied before the hardware pass (GPUPROF_CACHE=flush, the default).
 */
bool gp_session_flushes_caches(void);

/* False when no kernel may run more often than the program runs it (GPUPROF_REPLAY=off): each
 * launch is then counted in part, launches of a kernel in turns. */
bool gp_session_replays(void);
/* False with GPUPROF_REPLAY=now: all passes of a launch are made at the launch. */
bool gp_session_holds_launches(void);

/* True when every launch is to be verified, not only those that gp_verify_is_due names
 * (GPUPROF_VERIFY=always; learn is the default). */
bool gp_session_verifies_always(void);

/* Seconds that the first wait may last which holds the program up in vain, see launch/waits.h:
 * GPUPROF_TIMEOUT, 1 by default. */
double gp_session_timeout(void);

const struct gp_metrics *gp_session_metrics(void);

/* Takes what is known of a device, of a launch. The gate is closed or the caller is alone. */
void gp_session_record_device(const struct gp_device *device);
void gp_session_record_launch(const struct gp_record *launch);

/* Writes what is known of a launch that will be recorded later, in case the process ends before. */
void gp_session_note_launch(const struct gp_record *launch);

/* Counts a launch that is not measured; while it passes the gate or has it closed. */
void gp_session_count_launch(void);
/* Counts one that is measured, and is its number among all. The gate is closed. */
uint64_t gp_session_next_launch(void);

#endif
