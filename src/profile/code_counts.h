/* The counts and the samples of a kernel's instructions, and the code they stand in. */
#ifndef GPUPROF_PROFILE_CODE_COUNTS_H
#define GPUPROF_PROFILE_CODE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* The reasons why a warp was at its instruction when it was sampled, by CUPTI's names: it issued it
 * ("selected"), could have issued it ("not_selected"), or waited. */
#define GP_STALLS                                  \
    GP_STALL(BARRIER, "barrier")                   \
    GP_STALL(BRANCH_RESOLVING, "branch_resolving") \
    GP_STALL(DISPATCH, "dispatch_stall")           \
    GP_STALL(DRAIN, "drain")                       \
    GP_STALL(CONSTANT_MISS, "imc_miss")            \
    GP_STALL(LG_THROTTLE, "lg_throttle")           \
    GP_STALL(LONG_SCOREBOARD, "long_scoreboard")   \
    GP_STALL(MATH_THROTTLE, "math_pipe_throttle")  \
    GP_STALL(MEMBAR, "membar")                     \
    GP_STALL(MIO_THROTTLE, "mio_throttle")         \
    GP_STALL(MISC, "misc")                         \
    GP_STALL(NO_INSTRUCTIONS, "no_instructions")   \
    GP_STALL(NOT_SELECTED, "not_selected")         \
    GP_STALL(SELECTED, "selected")                 \
    GP_STALL(SHORT_SCOREBOARD, "short_scoreboard") \
    GP_STALL(SLEEPING, "sleeping")                 \
    GP_STALL(TEX_THROTTLE, "tex_throttle")         \
    GP_STALL(WAIT, "wait")                         \
    GP_STALL(WARPGROUP_ARRIVE, "warpgroup_arrive")

/* GP_COUNT(NAME, metric): a count of an instruction, by the SASS metric that counts it; then the
 * samples of it, all and by reason. */
#define GP_COUNTS                                                                       \
    GP_COUNT(SECTORS, "smsp__sass_sectors_mem_global")                                  \
    GP_COUNT(SECTORS_IDEAL, "smsp__sass_sectors_mem_global_ideal")                      \
    GP_COUNT(WAVEFRONTS, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared")             \
    GP_COUNT(WAVEFRONTS_IDEAL, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal") \
    GP_COUNT(BRANCHES, "smsp__sass_inst_executed_op_branch")                            \
    GP_COUNT(DIVERGENT, "smsp__sass_branch_targets_threads_divergent")                  \
    GP_COUNT(WARPS, "smsp__sass_inst_executed")                                         \
    GP_COUNT(THREADS, "smsp__sass_thread_inst_executed")                                \
    GP_COUNT(THREADS_ON, "smsp__sass_thread_inst_executed_pred_on")                     \
    GP_COUNT(SAMPLES, "smsp__pcsamp_sample_count")                                      \
    GP_STALLS

enum gp_count_kind {
#define GP_COUNT(name, metric) GP_COUNT_##name,
#define GP_STALL(name, reason) GP_STALL_##name,
    GP_COUNTS
#undef GP_STALL
#undef GP_COUNT
        GP_COUNT_KINDS,
    GP_FIRST_STALL = GP_COUNT_SAMPLES + 1
};

/* Bit masks of kinds. */
#define GP_ALL_COUNTS ((1u << GP_COUNT_KINDS) - 1)
#define GP_SAMPLE_COUNTS (GP_ALL_COUNTS & ~((1u << GP_COUNT_SAMPLES) - 1))

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
    uint64_t sampled;   /* runs that were sampled */
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
