/* launches FILE COUNT: a profile of so many launches, as a program with 50 kernels would leave it:
 * 24 counters each, every launch written early and then in full. */
#include "profile/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS 50
#define GRIDS 150
#define COUNTERS 24
#define OF_HARDWARE 8

/* Those of the default set. */
static const char *const names[COUNTERS] = {
    "gpu__time_duration.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct",
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
};

/* Of instrumented code the same for each kernel and grid, of the hardware never the same. */
static void fill(struct gp_counter *counters, unsigned long i)
{
    for (unsigned k = 0; k < COUNTERS; k++) {
        int is_pct = strstr(names[k], ".pct") != NULL;
        double of_launch = (double)(1 + rand() % 100000000);
        double of_kind = (double)(1 + i % KERNELS) * (double)(1 + i % GRIDS) * 1e4 * k;
        double value = k < OF_HARDWARE ? of_launch : of_kind;
        counters[k] = (struct gp_counter){.name = names[k],
                                          .value = is_pct ? (double)(rand() % 1000) / 10 : value};
        if (is_pct && k >= OF_HARDWARE)
            counters[k].value = 1 + (double)((i % KERNELS + k) % 100);
    }
}

static int write_launch(struct gp_writer *w, unsigned long i)
{
    char kernel[96];
    struct gp_counter counters[COUNTERS];
    snprintf(kernel, sizeof(kernel),
             "_ZN2at6native29vectorized_elementwise_kernelILi%luENS0_11CUDAFunctorIfEEEEviT0_",
             i % KERNELS);
    struct gp_record launch = {.index = i,
                               .kernel = kernel,
                               .context = 0x563e0d2c5ce0,
                               .grid = {(unsigned)(1 + i % GRIDS), 1, 1},
                               .block = {256, 1, 1},
                               .registers = 32,
                               .shared_carveout = -1,
                               .passes = 3,
                               .saved_bytes = 100000000,
                               .restored_bytes = 1000000,
                               .recalled = 1,
                               .overhead_ms = (double)(rand() % 100000) / 1e3,
                               .start_ms = 81234.5 + (double)i,
                               .counter_count = COUNTERS,
                               .counters = counters};
    fill(counters, i);
    for (unsigned k = 1; k < OF_HARDWARE; k++)
        counters[k].absent = "the process ended before it was read";
    if (gp_writer_early(w, &launch) != 0)
        return -1;
    for (unsigned k = 1; k < OF_HARDWARE; k++)
        counters[k].absent = NULL;
    return gp_writer_launch(w, &launch);
}

int main(int argc, char **argv)
{
    char why[512];
    if (argc != 3)
        return 2;
    const struct gp_device device = {.name = "a GPU",
                                     .chip = "GH100",
                                     .cc_major = 9,
                                     .sm_count = 132,
                                     .clock_khz = 1980000,
                                     .memory_clock_khz = 3201000,
                                     .memory_bus_bits = 6016,
                                     .sp_dp_ratio = 2,
                                     .warp_size = 32,
                                     .max_threads_per_sm = 2048,
                                     .max_blocks_per_sm = 32,
                                     .max_threads_per_block = 1024,
                                     .registers_per_sm = 65536,
                                     .registers_per_block = 65536,
                                     .shared_per_sm = 233472,
                                     .shared_per_block = 49152,
                                     .shared_per_block_optin = 232448};
    const char *const command[] = {"./app", NULL};
    struct gp_writer *w = gp_writer_open(argv[1], command, NULL, why, sizeof(why));
    if (!w) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    int failed = gp_writer_device(w, &device);
    for (unsigned long i = 0; i < strtoul(argv[2], NULL, 10) && !failed; i++)
        failed = write_launch(w, i);
    gp_writer_close(w);
    return failed ? 1 : 0;
}
