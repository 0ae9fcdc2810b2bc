/* The measurement of a launch, from the locked gate to its record. Its parts: the program's own run
 * (launch/own_run.c), a replay for each step of its batch (launch/replay.c), the wait for its batch
 * (launch/held.c), its record (launch/records.c). Its state is its member's (counters/states.def).
 * The gate is locked, the context current. */
#ifndef GPUPROF_LAUNCH_MEASUREMENT_H
#define GPUPROF_LAUNCH_MEASUREMENT_H

#include "launch/clocks.h"
#include "launch/contexts.h"
#include "launch/kernels.h"
#include "launch/launch.h"

#include <stdatomic.h>

/* Seconds that a kernel is waited for at least when it runs again, however impatient the user is:
 * its memory would be lost. */
#define GP_LEAST_REPLAY_LIMIT 30

struct gp_measurement {
    struct gp_member member;      /* its state, and its counters */
    const struct gp_launch *call; /* the program's, and from its end on the kept one, if any */
    struct gp_kernel *kernel;
    struct gp_context *context;
    uint64_t index; /* among the launches of the process */
    double started; /* by the host's clock */

    /* Its runs. */
    struct gp_snapshot *snapshot;  /* taken; NULL: the kernel runs once */
    struct gp_reason not_replayed; /* why it cannot run again */
    struct gp_reason broken_off;   /* why a pass could not be made */
    unsigned runs;                 /* of the kernel */
    double most_ms;                /* the kernel took no longer in a pass; 0: not known */
    double launching;              /* seconds that the call of the program's own launch took */
    double seconds;    /* the program's own run took, as the host saw it; 0: not known */
    bool time_is_late; /* its end was marked when the host saw it, in any state */
    uint64_t restored_bytes;

    /* Its wait for the batch. */
    struct gp_launch *kept; /* the call, with its parameters */
    void *parameters;
    struct gp_held_copy *copy; /* that it runs again from; NULL: the snapshot's */
    struct gp_clock *clock;    /* of its own run, where that was not waited for */
    atomic_bool under_way;     /* its thread is about to launch it: set beside the gate */
    bool searched; /* its copy leads to no other memory: found at any time before it ends */

    /* Its record. */
    struct gp_record record; /* without its counters */
    char *kernel_name; /* the kernel may be unloaded by the time it is read; NULL: no record */
    struct gp_reason not_run, not_run_at_first; /* why a pass was not made */
    double duration_ns;                         /* of the kernel alone; 0: it was not timed */
    double since;                               /* seconds: the record waits to be read */
    enum { GP_EARLY_NONE, GP_EARLY_WRITTEN, GP_EARLY_AGAIN } early; /* its early line */

    struct gp_measurement *prev, *next;
};

/* The duration of a launch of which other launches of its kernel are timed. */
#define GP_DURATION_ELSEWHERE (-1.0)

static inline struct gp_measurement *measurement_of(struct gp_member *member)
{
    return (struct gp_measurement *)((char *)member - offsetof(struct gp_measurement, member));
}

/* A launch that is measured together with others of its batch, later. */
static inline bool measurement_waits(const struct gp_measurement *m)
{
    return m->copy && m->member.state != GP_LAUNCH_GIVEN_UP;
}

/* A new measurement of a launch, in no batch yet; NULL when out of memory. And the end of one that
 * is in no list. */
struct gp_measurement *measurement_new(const struct gp_launch *call, struct gp_kernel *kernel,
                                       struct gp_context *c);
void measurement_free(struct gp_measurement *m);

/* Enters the launch into its context's batch, which has room. */
void measurement_enter(struct gp_measurement *m);

/* The facts that tell its reach. Its parameters are noted; they stay until the next launch. */
struct gp_reach measurement_reach(struct gp_measurement *m);
/* Its reach is known: notes a hash of the parameters on which its work depends. */
void measurement_note_work(struct gp_measurement *m);

/* The program's own launch, as it is: in a pass, even to come back from a kernel that waits for the
 * host could take for ever. Its result is the program's. True in *ended when the kernel has run to
 * its end. */
CUresult own_run(struct gp_measurement *m, bool *ended);
/* The program's own launch, in a pass. A launch that is refused there, where the code may need more
 * than there is, is made plainly. */
CUresult own_run_in_pass(struct gp_measurement *m, const struct gp_step *step);

/* Marks the start of the kernel's time on the GPU; false where it cannot be taken. And takes it,
 * when the kernel has ended. */
bool start_launch_clock(struct gp_measurement *m);
void read_launch_clock(struct gp_measurement *m);

/* The kernel took so long: the program would have waited for it, and have launched others
 * meanwhile. */
void leave_to_program(const struct gp_measurement *m, double seconds);

/* Records an event behind the launch, in its stream. */
CUresult record_launch_event(const struct gp_launch *call, CUevent event);
/* Waits for the kernel that was launched last, `seconds` at most, and longer where its code cannot
 * wait for anybody (gp_wait_computing_limit). CUDA_ERROR_NOT_READY when it has not ended by then.
 */
CUresult wait_for_kernel(struct gp_measurement *m, double seconds, double *waited);
/* The kernel has not ended: nobody waits for it any more, and it is never measured again. */
void abandon_kernel(struct gp_measurement *m, double seconds);
/* The kernel has failed: nothing works in the context any more. */
void context_died(struct gp_measurement *m, CUresult error);

/* Makes a step of the launch: a replay. False where it did not end well; m->broken_off says why. */
bool replay_step(struct gp_measurement *m, const struct gp_step *step);
/* Makes all steps of a launch that cannot wait, a replay each. */
void replay_at_once(struct gp_measurement *m);
/* How long it took is known: whether it is to be seen first that it ends. */
void measurement_note_unsure(struct gp_measurement *m);
/* Runs the kernel once more, plainly, for its time. False where it does not end, or has failed. */
bool time_replay(struct gp_measurement *m);
/* Takes the kernel's time once more, in a plain replay, where it is in doubt. */
void check_time(struct gp_measurement *m);
/* Takes the kernel's time once more in a drain, where it was longer than in a pass. True where the
 * time is another one now. */
bool check_time_again(struct gp_measurement *m);
/* Puts the copy of a held launch in place. `by_driver`: where CUPTI's code is. False where that
 * must not be. */
bool put_in_place(struct gp_measurement *m, bool by_driver);
/* Makes memory as the program's own run left it, unless a kernel is still writing it. */
void put_back_final_state(struct gp_measurement *m);
/* Memory could not be put back, behind a replay or a graph, say: nothing is measured any more. */
void not_put_back(const char *behind, struct gp_reason why);
/* Waits for the kernel that was launched in a pass. CUDA_ERROR_NOT_READY when it was abandoned. */
CUresult wait_in_pass(struct gp_measurement *m, const struct gp_step *step);
/* Runs the kernel in a pass that has begun. The launch's result in *result; true when the pass
 * ended well. */
bool begin_pass(struct gp_measurement *m, const struct gp_step *step);
bool run_launch_pass(struct gp_measurement *m, const struct gp_step *step, CUresult *result);
/* Why the pass is not to be made, where the GPU might end the kernel in it, and the program's
 * context with it, or it might hold the program up for minutes; else no reason. */
struct gp_reason pass_is_too_slow(const struct gp_measurement *m, enum gp_step_kind kind);
/* Whether the kernel's duration is among the counters, which we take ourselves. */
bool wants_time(const struct gp_measurement *m);

#endif
