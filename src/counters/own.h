/* Counters that CUPTI does not have, made of its SASS metrics of single instructions, which are
 * there for fingerprints, so they take no pass of their own:
 *
 * gpuprof__sass_ops_tensor_src_fp16.sum, ... operations of the tensor cores, by the type of
 * their factors gpuprof__sass_thread_bytes_mem_global_op_ld.sum, ..._st.sum bytes that threads
 * ask for, each its own
 *
 * How often an instruction with matrices ran is counted for those of four warps, and follows for
 * the others from branches: all instructions of a stretch that no branch enters or leaves run as
 * often, and the branch at its end was counted; those at the begin of a kernel run once for each
 * warp. An unknown instruction in the machine code makes the counter absent.
 *
 * Owns the matrices that it found in the code of kernels, in bounded memory. One thread at a
 * time. */
#ifndef GPUPROF_COUNTERS_OWN_H
#define GPUPROF_COUNTERS_OWN_H

#include "code/instruction.h"
#include "counters/collector.h"

enum gp_own_counter {
    GP_OWN_FP16,
    GP_OWN_BF16,
    GP_OWN_TF32,
    GP_OWN_FP64,
    GP_OWN_FP8,
    GP_OWN_FP4,
    GP_OWN_INTEGERS,
    GP_OWN_LOADED,
    GP_OWN_STORED,
    GP_OWN_COUNT
};

/* Which one the name is, GP_OWN_COUNT for none. */
enum gp_own_counter own_find(const char *name);

/* The kinds of records that are of use, by CUPTI's names. */
enum gp_own_record {
    GP_OWN_BRANCHES,       /* warps at each branch */
    GP_OWN_GROUPS,         /* warps at each instruction that four warps share */
    GP_OWN_GLOBAL_THREADS, /* threads at each access to global memory */
    GP_OWN_THREADS, /* threads at every instruction; then nothing has to follow from branches */
    GP_OWN_RECORDS
};
extern const char *const own_records[GP_OWN_RECORDS];

struct gp_own;

/* NULL when out of memory. */
struct gp_own *own_open(void);
void own_close(struct gp_own *own);

/* True where the kernel's code has no instruction with matrices and calls nothing outside of it, so
 * that its tensor counters are always 0. */
bool own_has_no_matrices(struct gp_own *own, const struct gp_run *run, int cc);

/* Around the records of a launch; `record` says of which kind. `has` says which kinds there are at
 * all. */
void own_begin(struct gp_own *own, const struct gp_run *run, int cc,
               const bool has[GP_OWN_RECORDS]);
void own_add(struct gp_own *own, enum gp_own_record record, const char *function, uint32_t offset,
             uint64_t value);

/* values[i], or the reason in absent[i]. */
void own_end(struct gp_own *own, double values[GP_OWN_COUNT],
             struct gp_reason absent[GP_OWN_COUNT]);

#endif
