/* One measurement of a launch: its state while it is made, and its parts: the program's own run
 * (launch/own_run.c), a replay for each pass (launch/replay.c). The gate is locked, the context
 * current. */
#ifndef GPUPROF_LAUNCH_MEASUREMENT_H
#define GPUPROF_LAUNCH_MEASUREMENT_H

#include "launch/contexts.h"
#include "launch/kernels.h"
#include "launch/launch.h"

/* Seconds that a kernel is waited for at least when it runs again, however impatient the user is:
 * its memory would be lost. */
#define GP_LEAST_REPLAY_LIMIT 30

struct gp_measurement {
    const struct gp_launch *call;
    struct gp_kernel *kernel;
    struct gp_context *context;
    uint64_t index;            /* among the launches of the process */
    double started;            /* by the host's clock */
    struct gp_pending *record; /* NULL: it has none yet, or out of memory */
    unsigned slot;
    struct gp_run run;
    struct gp_snapshot *snapshot;  /* taken; NULL: the kernel runs once */
    struct gp_held_copy *copy;     /* that it runs again from; NULL: the snapshot's */
    struct gp_reason not_replayed; /* why */
    struct gp_reason broken_off;   /* why a pass could not be made */
    unsigned runs;                 /* of the kernel */
    double most_ms;                /* the kernel took no longer in a pass; 0: not known */
    bool in_turn;                  /* counted in part, the rest in other launches */
    double launching;              /* seconds that the call of the program's own launch took */
    double seconds;    /* the program's own run took, as the host saw it; 0: not known */
    bool ended_alone;  /* a replay has ended, with nothing else under way */
    bool time_is_late; /* its end was marked when the host saw it */
    uint64_t restored_bytes;
};

/* Begins the measurement of a launch; nothing is done yet. It stays where it is until it ends. */
void gp_measurement_begin(struct gp_measurement *m, const struct gp_launch *call,
                          struct gp_kernel *kernel, struct gp_context *c);
/* The facts that tell its reach. Its parameters are noted; they stay until the next launch. */
struct gp_reach gp_measurement_reach(struct gp_measurement *m);
/* Its reach is known: notes a hash of the parameters on which its work depends. */
void gp_measurement_note_work(struct gp_measurement *m);
/* Enters it among those that wait to be read, or makes its record anew. NULL when out of memory.
 * `goes_on`: passes are still to be made. */
struct gp_pending *gp_measurement_record(struct gp_measurement *m, bool goes_on);

/* The program's own launch, as it is: in a pass, even to come back from a kernel that waits for the
 * host could take for ever. Its result is the program's. True in *ended when the kernel has run to
 * its end. */
CUresult gp_own_run(struct gp_measurement *m, bool *ended);
/* The same in a pass. A launch that is refused there, where the code may need more than there is,
 * is made plainly. */
CUresult gp_own_run_in_pass(struct gp_measurement *m, unsigned pass);

/* Marks the start of the kernel's time on the GPU; false where it cannot be taken. And takes it,
 * when the kernel has ended. */
bool gp_start_clock(struct gp_measurement *m);
void gp_read_clock(struct gp_measurement *m);

/* The kernel took so long: the program would have waited for it, and have launched others
 * meanwhile. */
void gp_leave_to_program(const struct gp_measurement *m, double seconds);

/* Records an event behind the launch, in its stream. */
CUresult gp_record_event(const struct gp_launch *call, CUevent event);
/* Waits for the kernel that was launched last, `seconds` at most, and longer where its code cannot
 * wait for anybody (gp_wait_computing_limit). CUDA_ERROR_NOT_READY when it has not ended by then.
 */
CUresult gp_wait_for_kernel(struct gp_measurement *m, double seconds, double *waited);
/* The kernel has not ended: nobody waits for it any more, and it is never measured again. */
void gp_abandon(struct gp_measurement *m, double seconds);
/* The kernel has failed: nothing works in the context any more. */
void gp_context_died(struct gp_measurement *m, CUresult error);

/* Makes the passes that the collector wants now, a replay each. `made`: the last one of its passes
 * so far, if there was any, ended well. */
void gp_replay_passes(struct gp_measurement *m, bool made);
/* Runs the kernel once more, plainly, for its time. False where it does not end, or has failed. */
bool gp_time_replay(struct gp_measurement *m);
/* The same where its time is in doubt. */
void gp_check_time(struct gp_measurement *m);
/* The same in a drain, where it took longer than in a pass. True where its time is another one now.
 */
bool gp_check_time_again(struct gp_measurement *m);
/* Puts the copy of a held launch in place. `by_driver`: where CUPTI's code is. False where that
 * must not be. */
bool gp_put_in_place(struct gp_measurement *m, bool by_driver);
/* True where it shows only in a replay whether the kernel ends by itself, and instrumented code may
 * take so long that it is to be known before. */
bool gp_is_to_be_rehearsed(const struct gp_measurement *m);
/* Makes memory as the program's own run left it, unless a kernel is still writing it. */
void gp_put_back_final_state(struct gp_measurement *m);
/* That has failed, behind a replay or a graph, say: nothing is measured any more. */
void gp_not_put_back(const char *behind, struct gp_reason why);
/* Waits for the kernel that was launched in a pass. CUDA_ERROR_NOT_READY when it was abandoned. */
CUresult gp_wait_in_pass(struct gp_measurement *m, unsigned pass);
/* Runs the kernel in a pass that has begun. The launch's result in *result; true when the pass
 * ended well. */
bool gp_begin_pass(struct gp_measurement *m, unsigned pass);
bool gp_run_pass(struct gp_measurement *m, unsigned pass, CUresult *result);
/* Why the pass is not to be made, where the GPU might end the kernel in it, and the program's
 * context with it, or it might hold the program up for minutes; else NULL. */
struct gp_reason gp_too_slow(const struct gp_measurement *m, unsigned pass);
/* Whether the kernel's duration is among the counters, which we take ourselves. */
bool gp_wants_time(const struct gp_measurement *m);

#endif
