/* The facts of a launch for counters/: its kernel, shape and parameters, and a way to its code. */
#ifndef GPUPROF_COUNTERS_RUN_H
#define GPUPROF_COUNTERS_RUN_H

#include "base/cause.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kernel in instrumented code, as its launches showed it: the cost in times of its own duration,
 * 0 where not known. */
struct gp_pass_cost {
    double sass, range;
    double last_ms; /* its last pass of instrumented code */
    bool measured;  /* a launch of it was */
    /* Branches of questions that are asked until the answer is yes, by warps, and the shape of the
     * launch that was counted: time decides how many there are (code/retries.h). 0: none. */
    uint64_t questions, questions_shape;
    bool copies;      /* it makes asynchronous copies */
    bool swaps;       /* it swaps values of memory until no other thread comes between */
    bool no_matrices; /* the tensor cores rested in one */
    enum { GP_LANES_UNKNOWN, GP_LANES_FOLLOW, GP_LANES_HIDDEN } lanes; /* code/lanes.h */
};

/* The machine code of a function of the launched kernel's module: `size` bytes, NULL with the
 * reason where it is not to be had. */
typedef const void *gp_find_code(void *data, const char *function, size_t *size,
                                 struct gp_reason *why);

/* The parts of the launched kernel's cubin that show source lines (code/slim.h), at most `most`
 * bytes, to be freed; NULL where it is not to be had. */
typedef void *gp_find_cubin(void *data, size_t most, size_t *size);

/* The facts of a launch that is counted. */
struct gp_run {
    const char *kernel;     /* mangled */
    uint64_t shape;         /* tells its grid, blocks and clusters from others */
    uint64_t warps;         /* that it starts, 0 where not known */
    const void *parameters; /* their bytes, NULL where they are not known */
    size_t parameters_size;
    uint64_t work;       /* a hash of the parameters on which its work depends */
    uint64_t layout;     /* of its copy: to put copies of one layout in place is the same work
                          * each time. 0: it has none */
    bool in_parts;       /* parts of allocations are copied: to put them in place is other work
                          * each time, and the same where it follows the same launches. Without
                          * a layout and parts it cannot be counted together with others */
    double native_ms;    /* the kernel alone, 0 where not known */
    double most_long_ms; /* that instrumented passes may take which take long, all together;
                          * then only launches of a new kind make such a pass. 0: any time */
    enum gp_run_when {
        GP_RUN_NOW,   /* its passes are made at once, a replay for each */
        GP_RUN_LATER, /* it is replayed with others of its batch */
        GP_RUN_ONCE   /* it makes one pass, in its own run: there is no replay */
    } when;
    bool always; /* counters are never those of another launch that was alike: the user's wish */
    struct gp_reason no_code; /* why it makes no instrumented pass; none: it may */
    bool unsure; /* whether it ends by itself is to be seen before it runs in instrumented code */
    struct gp_pass_cost *cost; /* of this kernel */
    uint64_t *code;            /* of this kernel: the collector's number for its code, at first 0 */
    gp_find_code *find_code;
    gp_find_cubin *find_cubin; /* NULL: it is not to be had */
    void *find_code_data;
    /* Called just before the kernel runs in a pass of the hardware: dirty data in the L2 would be
     * written back in that pass. */
    void (*empty_caches)(void *data);
    void *empty_caches_data;
};

#endif
