/* The counts of a kernel's instructions, and the code they stand in. */
#ifndef GPUPROF_PROFILE_CODE_COUNTS_H
#define GPUPROF_PROFILE_CODE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* GP_COUNT(NAME, metric): a count of an instruction, by the SASS metric that counts it. */
#define GP_COUNTS                                                                       \
    GP_COUNT(SECTORS, "smsp__sass_sectors_mem_global")                                  \
    GP_COUNT(SECTORS_IDEAL, "smsp__sass_sectors_mem_global_ideal")                      \
    GP_COUNT(WAVEFRONTS, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared")             \
    GP_COUNT(WAVEFRONTS_IDEAL, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal") \
    GP_COUNT(BRANCHES, "smsp__sass_inst_executed_op_branch")                            \
    GP_COUNT(DIVERGENT, "smsp__sass_branch_targets_threads_divergent")                  \
    GP_COUNT(WARPS, "smsp__sass_inst_executed")                                         \
    GP_COUNT(THREADS, "smsp__sass_thread_inst_executed")                                \
    GP_COUNT(THREADS_ON, "smsp__sass_thread_inst_executed_pred_on")

enum gp_count_kind {
#define GP_COUNT(name, metric) GP_COUNT_##name,
    GP_COUNTS
#undef GP_COUNT
        GP_COUNT_KINDS
};

/* One instruction. */
struct gp_instruction_counts {
    uint32_t function; /* index of its name */
    uint32_t offset;   /* in bytes from the function's begin */
    uint64_t values[GP_COUNT_KINDS];
};

/* The sums over the launches of one kernel whose instructions were counted. Strings and arrays
 * belong to the code that filled it in. */
struct gp_code_counts {
    const char *kernel; /* mangled */
    int cc;             /* compute capability of the code, times ten */
    uint64_t launches;  /* that were counted */
    unsigned kinds;     /* bit mask of the counts that were taken */
    size_t function_count, instruction_count;
    const char *const *functions;
    const struct gp_instruction_counts *instructions;
    const char *code; /* the hash of its cubin; "" where that is not known */
};

/* A cubin, or the needed parts of it. */
struct gp_cubin_image {
    const char *hash; /* of its bytes: SHA-256 in hexadecimal */
    const void *bytes;
    size_t size;
};

#endif
