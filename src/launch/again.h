/* Work of the program that runs first, as it is, and whose kernels are measured behind it, each as
 * a launch by itself: a graph. The memory that it reaches is copied before; afterwards it is made
 * as it was for these launches, and then as the program's own run left it. With the gate locked. */
#ifndef GPUPROF_LAUNCH_AGAIN_H
#define GPUPROF_LAUNCH_AGAIN_H

#include "base/cause.h"
#include "cuda/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_context;
struct gp_launch;

#define GP_MOST_MODULES_AGAIN 16

struct gp_verify_schedule {
    uint64_t launches; /* that were copied for, and have ended */
    uint64_t next;     /* the one to verify next, once the first are over; 0: not set */
    unsigned grid[3];  /* of the last */
    unsigned changes;  /* of the grid that were verified */
    bool broken;       /* it wrote outside its reach: all memory is copied from then on */
};

/* The work, as far as it is known before it runs. */
struct gp_again {
    struct gp_context *context;
    struct gp_snapshot *snapshot;
    unsigned char *roots; /* parameters of its kernels, other addresses that it uses */
    size_t size, room;    /* bytes of these */
    const void *modules[GP_MOST_MODULES_AGAIN]; /* of its kernels, each once */
    unsigned module_count;
    bool any_module; /* they are more, or not all are known */
    bool only_known; /* only kernels that have been measured */
    bool not_yet;    /* a kernel was not measured often enough for that */
    bool may_wait;   /* a kernel of it may wait for others, by its code */
    double seconds;  /* that its kernels took, one after the other, as far as is known */
    bool rewound;    /* memory is as before the work */
    bool failed;     /* the work has, and its context with it */
};

/* Begins with work in that stream. Whether its kernels may run again may only show afterwards, and
 * then they are not measured: where there is another way for them, only those are taken of which it
 * is known (only_known). False, with the reason in *why, where nothing there can be run again. To
 * be ended by gp_again_end in any case. */
bool gp_again_begin(struct gp_again *again, CUstream stream, bool only_known,
                    struct gp_reason *why);
/* Adds a kernel of it. False, with the reason in *why, for one that must not run again. */
bool gp_again_add_kernel(struct gp_again *again, const struct gp_launch *call,
                         struct gp_reason *why);
/* Adds bytes that may hold addresses of memory that it uses. False when that is too much. */
bool gp_again_add_roots(struct gp_again *again, const void *bytes, size_t size);

/* So many bytes of device memory, of our own, that stand in for memory which only the work itself
 * has; 0, with the reason in *why, where they cannot be had. */
CUdeviceptr gp_again_stand_in(struct gp_again *again, uint64_t bytes, struct gp_reason *why);

/* Copies the memory that the work reaches; nothing else runs. The schedule says whether it is to be
 * verified that it writes no other. False, with the reason in *why, where that cannot be done. */
bool gp_again_save(struct gp_again *again, const struct gp_verify_schedule *schedule,
                   struct gp_reason *why);
/* True where the address lies in memory that was copied. */
bool gp_again_reaches(const struct gp_again *again, CUdeviceptr address);
/* When the work was submitted: waits for its end, and makes memory as it was before. False, with
 * the reason in *why, where that cannot be done: memory is as the work left it, or it still runs.
 * Counts the run in the schedule. */
bool gp_again_rewind(struct gp_again *again, struct gp_verify_schedule *schedule,
                     struct gp_reason *why);
/* True where work was abandoned in that context, and has not ended. */
bool gp_again_runs_on(const struct gp_again *again);
/* Makes memory as the work left it, where it was made as before. */
void gp_again_end(struct gp_again *again);

#endif
