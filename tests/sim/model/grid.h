/*
 * A kernel, a launch of it, and the machine that runs it: every thread of every block, in order,
 * on the memory that the launch finds.
 */
#ifndef GPUSIM_GRID_H
#define GPUSIM_GRID_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/chip.h"

#define GPUSIM_MAX_PARAMS 12
#define GPUSIM_MAX_PARAM_BYTES 1024

struct gpusim_dim {
    uint32_t x, y, z;
};

struct gpusim_thread;
struct gpusim_grid;

enum gpusim_outcome {
    GPUSIM_RAN,
    GPUSIM_ILLEGAL_ADDRESS,
    GPUSIM_MISALIGNED_ADDRESS,
    GPUSIM_TRAPPED,
    GPUSIM_NO_HOST_MEMORY
};

/* A kernel's code. Exactly one of run and whole is set. */
struct gpusim_kernel {
    const char *name;
    const char *body; /* which of several of that name it is; NULL: the only one */
    const char *file; /* that it is written in, NULL for one that is never traced */
    void (*run)(struct gpusim_thread *t);               /* once per thread */
    enum gpusim_outcome (*whole)(struct gpusim_grid *); /* once per launch, never traced */
    bool barriers;                                      /* run uses SYNC */
    unsigned params;
    uint16_t param_size[GPUSIM_MAX_PARAMS];
};

/* The kernel registered under that name, or with that body, or NULL. */
const struct gpusim_kernel *gpusim_kernel_find(const char *name);

/* A stretch of device addresses and where it lies in host memory. */
struct gpusim_stretch {
    uint64_t start, end;
    uintptr_t host; /* of start */
};

/* Finds the stretch that an address lies in; false when there is none. Called by many threads. */
struct gpusim_space {
    bool (*find)(void *self, uint64_t address, struct gpusim_stretch *found);
    void *self;
};

#define GPUSIM_RECENT 4

struct gpusim_recorder;

struct gpusim_grid {
    const struct gpusim_kernel *kernel;
    struct gpusim_dim grid, block;
    uint32_t shared_bytes; /* static and dynamic together */
    uint32_t registers;
    bool cooperative; /* all blocks run at once: cooperative_groups' grid is valid */
    _Alignas(16) unsigned char params[GPUSIM_MAX_PARAM_BYTES]; /* as the device sees them */
    struct gpusim_space space;
    /* The address of a global variable of the kernel's module; 0 when it has none of that name. */
    uint64_t (*symbol)(void *module, const char *name);
    void *module;
    struct gpusim_recorder *recorder; /* NULL: nothing is recorded */
    bool broken_restore;              /* gpuprof's restore kernel does nothing */
    bool in_graph;                    /* the launch is a graph's node */
    bool wrong_index, wrong_count;    /* of the ranges that its search found */

    /* The traffic through the caches of a kernel that runs as a whole. */
    uint64_t swept_address, swept_bytes;
    uint64_t moved_bytes; /* from copies to memory, or back */

    /* Private to the run. */
    uint16_t param_at[GPUSIM_MAX_PARAMS]; /* where each parameter begins in params */
    struct gpusim_stretch recent[GPUSIM_RECENT];
    unsigned recent_next;
    struct gpusim_thread *threads;
    unsigned char *shared;
    jmp_buf fault;
    enum gpusim_outcome outcome;
};

struct gpusim_lane;
struct gpusim_coroutine;

struct gpusim_thread {
    struct gpusim_dim tid, bid, bdim; /* threadIdx, blockIdx, blockDim */
    struct gpusim_grid *grid;
    struct gpusim_lane *lane;           /* this thread's record, NULL when nothing is recorded */
    struct gpusim_coroutine *coroutine; /* NULL in a kernel without barriers */
    uint64_t iteration; /* a hash of the loops and iterations that the thread is in */
};

/* Where parameter number i begins in the parameter block, by C's own alignment. */
size_t gpusim_param_offset(const struct gpusim_kernel *kernel, unsigned i);

/* Runs the grid to its end or its fault. */
enum gpusim_outcome gpusim_grid_run(struct gpusim_grid *grid);

/* Host memory of a device range; NULL when it is not wholly inside one allocation. */
void *gpusim_grid_memory(struct gpusim_grid *grid, uint64_t address, uint64_t bytes);

/* Ends the launch at once; does not return. */
_Noreturn void gpusim_grid_fault(struct gpusim_thread *t, enum gpusim_outcome outcome);

/* Lets the other threads of the block catch up with this one. */
void gpusim_barrier(struct gpusim_thread *t);

#endif
