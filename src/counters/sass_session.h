/* The counts of each machine instruction of a launch, through CUPTI's SASS metrics: one launch at a
 * time, without starting and stopping the counters of the hardware, and beside a session of theirs.
 *
 * To count threads at every instruction makes a kernel a hundred times slower. So there are two
 * kinds of session. One only compares launches: by warps at each branch, sectors and wavefronts at
 * each access to memory. The other has counters computed, from threads at each instruction and from
 * its opcode.
 *
 * CUPTI needs its Range Profiler enabled on the context meanwhile, but nothing started in it, and
 * no free counters of the hardware. */
#ifndef GPUPROF_COUNTERS_SASS_SESSION_H
#define GPUPROF_COUNTERS_SASS_SESSION_H

#include "counters/collector.h"
#include "counters/own.h"
#include "counters/recall.h"

struct gp_sass_session;

/* From now on sessions that compare launches count every instruction beside, for the lines of
 * the source. */
void gp_sass_sessions_count_instructions(void);
bool sass_session_counts_instructions(const struct gp_sass_session *s);

/* A session that compares launches. NULL with the reason in *why where it cannot be had; the two
 * kinds cannot both be had in one process. With `own`, which stays the caller's, both kinds also
 * count the instructions that its counters need. */
struct gp_sass_session *sass_session_tell(const struct gp_device *device, struct gp_own *own,
                                          struct gp_reason *why);

/* A session for the named counters. Those that cannot be computed have their reason in
 * unavailable[i], none else. Those that depend on which addresses threads share are among them:
 * only the hardware counts them, which it does not for the reason no_hardware. */
struct gp_sass_session *sass_session_count(const struct gp_device *device, const char *const *names,
                                           size_t count, struct gp_own *own,
                                           struct gp_reason no_hardware,
                                           struct gp_reason *unavailable, struct gp_reason *why);
void sass_session_close(struct gp_sass_session *s, bool context_alive);
/* True where a session was closed while CUPTI's code was in kernels, and could not be taken away.
 */
bool sass_sessions_left_code(void);

/* One run of a launch on a GPU of compute capability cc / 10. */
struct gp_sass_run {
    const struct gp_run *launch;
    int cc;
    bool refused; /* its launch failed: it counts for nothing */
    bool in_row;  /* others follow */
};

/* Around one launch in the context, which is current.
 * Between begin and end only that launch may run. It has ended when the end is called, which gives
 * the counters: values[i], or the reason in absent[i] (where they are counted), and the
 * fingerprint. */
bool sass_session_begin(struct gp_sass_session *s, CUcontext context, struct gp_reason *why);
bool sass_session_end(struct gp_sass_session *s, CUcontext context, const struct gp_sass_run *run,
                      double *values, struct gp_reason *absent, struct gp_fingerprint *fingerprint,
                      struct gp_reason *why);

/* Where the run says that others follow in a row, CUPTI's code stays in place: to put it
 * there and to take it away takes milliseconds where a process has many kernels. Until this takes
 * it away nothing runs in the context but those launches, and copies of the driver. */
void sass_session_rest(struct gp_sass_session *s, CUcontext context);

/* True where fingerprints have the lanes at branches and at accesses to global and shared memory.
 */
bool sass_session_tells_lanes(const struct gp_sass_session *s);

/* True where the kernel of that launch asks until it gets an answer (code/retries.h), so that the
 * number of its instructions depends on time. */
bool sass_session_met_retries(const struct gp_sass_session *s);

#endif
