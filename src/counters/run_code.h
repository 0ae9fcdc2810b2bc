/* Which code a launch runs. The modules of a program may hold kernels that have one name and
 * different code: static functions of two files, or all that a program compiles while it runs. */
#ifndef GPUPROF_COUNTERS_RUN_CODE_H
#define GPUPROF_COUNTERS_RUN_CODE_H

#include "code/instruction.h"
#include "counters/collector.h"

/* The launch's shape with its kernel's code: equal for two launches of kernels of one name only
 * where the code is the same, for compute capability cc / 10. Where that cannot be found out, only
 * for launches of one loaded kernel. */
uint64_t run_shape_and_code(const struct gp_run *run, int cc);
/* True where that is known, and it calls no other function. */
bool run_code_is_whole(const struct gp_run *run, int cc);

/* The instructions of a launch, those of one function after the other. Begins with the run and cc
 * set, and all else 0. */
struct gp_code_reading {
    const struct gp_run *run;
    int cc;
    const char *function; /* the last one; it stays the caller's */
    const unsigned char *code;
    size_t size;
    struct gp_reason why; /* there is none */
};

/* The instruction at this offset of a function, in *instruction too; NULL where it is not known,
 * with the reason in r->why. A function of NULL is "". */
const struct gp_instruction *read_instruction(struct gp_code_reading *r, const char *function,
                                              uint32_t offset, struct gp_instruction *instruction);

#endif
