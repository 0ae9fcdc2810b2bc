/* The definitions in metrics/: all make sense, and every name of nvprof's is among them. Whether
 * chips have the counters: test_metrics_chips.c. */
#include "metrics/metrics.h"
#include "metrics/program.h"
#include "metrics/weight.h"

#include "shipped.h"

#include "h200.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void every_definition_is_complete(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    assert_true(gp_metrics_count(m) > 25);
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_at(m, i);
        if (!metric->unit[0] || !metric->metric_class[0] || !metric->description[0] ||
            !metric->source[0])
            fail_msg("%s lacks a unit, class, description or source", metric->name);
        assert_false(metric->user_defined);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(metric->name, gp_metrics_at(m, k)->name);
    }
    gp_metrics_close(m);
}

static void the_papers_metrics_are_in_the_default_set(void **state)
{
    (void)state;
    static const char *const names[] = {
        "flop_per_byte",
        "flops",
        "flop_utilization",
        "dram_utilization",
        "achieved_occupancy",
        "theoretical_occupancy",
        "shared_efficiency",
        "gld_efficiency",
        "gst_efficiency",
        "warp_execution_efficiency",
        "warp_nonpred_execution_efficiency",
        "duration",
        "tensor_utilization",
    };
    struct gp_metrics *m = shipped();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct gp_metric *metric = gp_metrics_find(m, names[i]);
        if (!metric || !metric->in_default_set)
            fail_msg("%s is not in the default set", names[i]);
    }
    gp_metrics_close(m);
}

static void has_value(const struct gp_metrics *m, const struct gp_device *device,
                      const struct gp_record *launch, const char *name, double expected)
{
    double value = NAN;
    struct gp_absence absence = {.cause = GP_CAUSE_NONE};
    if (!gp_metric_evaluate(gp_metrics_find(m, name), device, launch, &value, &absence))
        fail_msg("%s: %s", name, absence.text);
    if (fabs(value - expected) > 1e-12 * fabs(expected))
        fail_msg("%s is %.17g, not %.17g", name, value, expected);
}

static void formulas_give_the_values_of_the_definitions(void **state)
{
    (void)state;
    const struct gp_device device = {
        .cc_major = 9,
        .sm_count = 132,
        .clock_khz = 1980000,
        .memory_clock_khz = 3201000,
        .memory_bus_bits = 6016,
        .sp_dp_ratio = 2,
    };
    const struct gp_counter counters[] = {
        {"gpu__time_duration.sum", 2e6, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 100, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 200, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 350, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 2, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 3, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 4, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 5, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 6, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 10, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 30, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 5, GP_NO_REASON},
        {"smsp__sass_inst_executed_op_tma.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp16.sum", 4000, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_bf16.sum", 600, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_tf32.sum", 70, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp64.sum", 8, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp8.sum", 90000, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp4.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_thread_bytes_mem_global_op_ld.sum", 3200, GP_NO_REASON},
        {"dram__bytes_read.sum", 3e6, GP_NO_REASON},
        {"dram__bytes_write.sum", 1e6, GP_NO_REASON},
        {"smsp__inst_executed.sum", 10, GP_NO_REASON},
        {"smsp__thread_inst_executed.sum", 160, GP_NO_REASON},
        {"smsp__thread_inst_executed_pred_on.sum", 80, GP_NO_REASON},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 76.755, GP_NO_REASON},
    };
    const struct gp_record launch = {
        .counter_count = sizeof(counters) / sizeof(counters[0]),
        .counters = counters,
    };
    struct gp_metrics *m = shipped();
    has_value(m, &device, &launch, "duration", 2e-3);
    has_value(m, &device, &launch, "flop_count_sp", 1000);
    has_value(m, &device, &launch, "flop_count_dp", 9);
    has_value(m, &device, &launch, "flop_count_hp", 21);
    has_value(m, &device, &launch, "flop_count_tensor", 94678);
    has_value(m, &device, &launch, "flops_without_tensor", 1030 / 2e-3);
    has_value(m, &device, &launch, "flops", (1030 + 94678) / 2e-3);
    has_value(m, &device, &launch, "flop_per_byte", (1030 + 94678) / (45.0 * 32));
    has_value(m, &device, &launch, "flop_per_dram_byte", (1030 + 94678) / 4e6);
    double peak = 132 * 2 * 1.98e9, cycles = 132 * 1.98e9;
    double of_threads = (1000 / (peak * 128) + 9 / (peak * 64) + 21 / (peak * 256)) / 2e-3;
    double of_tensor = (4600 / (cycles * 4096) + 70 / (cycles * 2048) + 8 / (cycles * 256) +
                        90000 / (cycles * 8192)) /
                       2e-3;
    has_value(m, &device, &launch, "flop_utilization_without_tensor", of_threads);
    has_value(m, &device, &launch, "flop_utilization", of_threads + of_tensor);
    has_value(m, &device, &launch, "gld_efficiency_nvprof", 1000);
    has_value(m, &device, &launch, "dram_utilization", 4e6 / 2e-3 / (2 * 752 * 3.201e9));
    has_value(m, &device, &launch, "gld_transactions", 10);
    has_value(m, &device, &launch, "gst_transactions", 30);
    has_value(m, &device, &launch, "gld_throughput", 320 / 2e-3);
    has_value(m, &device, &launch, "gst_throughput", 960 / 2e-3);
    has_value(m, &device, &launch, "warp_execution_efficiency", 50);
    has_value(m, &device, &launch, "warp_nonpred_execution_efficiency", 25);
    has_value(m, &device, &launch, "achieved_occupancy", 0.76755);
    gp_metrics_close(m);
}

/* Where the code has no arithmetic in half precision, its counters have moved constants alone. */
static void constants_are_no_operations(void **state)
{
    (void)state;
    const struct gp_counter counters[] = {
        {"gpu__time_duration.sum", 2e6, GP_NO_REASON},
        {"gpc__cycles_elapsed.max", 2e6, GP_NO_REASON},
        {"gpc__cycles_elapsed.avg.per_second", 1e9, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1000, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 0, GP_NO_REASON},
        {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 1000, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 10, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 0, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 0, GP_NO_REASON},
        {"smsp__sass_inst_executed_op_tma.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp16.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_bf16.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_tf32.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp64.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp8.sum", 0, GP_NO_REASON},
        {"gpuprof__sass_ops_tensor_src_fp4.sum", 0, GP_NO_REASON},
        {"dram__bytes_read.sum", 500, GP_NO_REASON},
        {"dram__bytes_write.sum", 0, GP_NO_REASON},
        {"smsp__inst_executed.sum", 100, GP_NO_REASON},
        {"smsp__thread_inst_executed.sum", 3200, GP_NO_REASON},
        {"smsp__thread_inst_executed_pred_on.sum", 3200, GP_NO_REASON},
    };
    struct gp_record launch = {.no_half_arithmetic = 1,
                               .counter_count = sizeof(counters) / sizeof(counters[0]),
                               .counters = counters};
    struct gp_metrics *m = shipped();
    const double fp32 = 1000 / (132 * 256 * 1.98e9) / 2e-3,
                 fp16 = 2000 / (132 * 512 * 1.98e9) / 2e-3;
    has_value(m, &h200, &launch, "half_operations", 0);
    has_value(m, &h200, &launch, "flops", 1000 / 2e-3);
    has_value(m, &h200, &launch, "flops_without_tensor", 1000 / 2e-3);
    has_value(m, &h200, &launch, "flop_per_byte", 1000. / 320);
    has_value(m, &h200, &launch, "flop_per_dram_byte", 2);
    has_value(m, &h200, &launch, "flop_utilization", fp32);
    has_value(m, &h200, &launch, "fma_share", 0);
    /* A constant that is moved takes its pipe's time all the same: 1000 of 32 lanes. */
    const double busy = 2 * 1000 / (132 * 512 * 1.98e9 / 2 / 1.98e9 * 2e6);
    has_value(m, &h200, &launch, "bound_fp16", busy);
    /* Names of nvprof's are as ncu has them. */
    has_value(m, &h200, &launch, "flop_count_hp", 2000);
    has_value(m, &h200, &launch, "flop_count_hp_fma", 1000);
    launch.no_half_arithmetic = 0;
    has_value(m, &h200, &launch, "half_operations", 2000);
    has_value(m, &h200, &launch, "flops", 3000 / 2e-3);
    has_value(m, &h200, &launch, "flop_per_byte", 3000. / 320);
    has_value(m, &h200, &launch, "flop_per_dram_byte", 6);
    has_value(m, &h200, &launch, "flop_utilization", fp32 + fp16);
    has_value(m, &h200, &launch, "fma_share", 1000. / 3200);
    gp_metrics_close(m);
}

/* A range of 60 us with a kernel of 40 us in it: CUPTI's share of the range is a larger share of
 * the kernel's time. */
static void shares_of_time_are_of_the_kernels_own(void **state)
{
    (void)state;
    const struct gp_device device = {
        .name = "NVIDIA H200", .sm_count = 132, .cc_major = 9, .clock_khz = 1980000};
    struct gp_counter counters[] = {
        {"gpu__time_duration.sum", 40e3, GP_NO_REASON},
        {"gpc__cycles_elapsed.max", 60e3, GP_NO_REASON},
        {"gpc__cycles_elapsed.avg.per_second", 1e9, GP_NO_REASON},
        {"sm__cycles_active.avg", 36e3, GP_NO_REASON},
        {"sm__cycles_active.max", 38e3, GP_NO_REASON},
        {"sm__cycles_elapsed.sum", 132 * 60e3, GP_NO_REASON},
        {"sm__inst_executed.avg.per_cycle_elapsed", 1, GP_NO_REASON},
        {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 60, GP_NO_REASON},
        {"lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 40, GP_NO_REASON},
        {"l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed", 20, GP_NO_REASON},
        {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 10, GP_NO_REASON},
        {"l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed", 10,
         GP_NO_REASON},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 80, GP_NO_REASON},
        {"pcie__cycles_elapsed.avg", 120e3, GP_NO_REASON},
        {"pcie__cycles_elapsed.avg.per_second", 2e9, GP_NO_REASON},
        {"pcie__read_bytes.sum.pct_of_peak_sustained_elapsed", 30, GP_NO_REASON},
    };
    struct gp_record launch = {
        .counter_count = sizeof(counters) / sizeof(counters[0]),
        .counters = counters,
    };
    struct gp_metrics *m = shipped();
    has_value(m, &device, &launch, "range_stretch", 1.5);
    has_value(m, &device, &launch, "elapsed_cycles", 40e3);
    has_value(m, &device, &launch, "elapsed_cycles_sm", 132 * 40e3);
    has_value(m, &device, &launch, "sm_efficiency", 90);
    has_value(m, &device, &launch, "sm_efficiency_instance", 95);
    has_value(m, &device, &launch, "issue_pct_of_peak", 37.5);
    has_value(m, &device, &launch, "dram_pct_of_peak", 90);
    has_value(m, &device, &launch, "dram_utilization_nvprof", 9);
    has_value(m, &device, &launch, "l2_pct_of_peak", 60);
    has_value(m, &device, &launch, "bound_l2", 0.6);
    has_value(m, &device, &launch, "l2_utilization", 6);
    has_value(m, &device, &launch, "l1_pct_of_peak", 30);
    has_value(m, &device, &launch, "shared_pct_of_peak", 15);
    has_value(m, &device, &launch, "shared_utilization", 1.5);
    has_value(m, &device, &launch, "tensor_utilization", 1); /* not more */
    has_value(m, &device, &launch, "sysmem_read_utilization", 4.5);
    counters[1].value = 39e3; /* a range cannot be shorter: the clock went up meanwhile */
    has_value(m, &device, &launch, "l2_pct_of_peak", 40);
    gp_metrics_close(m);
}

/* Shares of the elapsed time that a formula takes as they come would be those of the range. */
static void no_metric_takes_a_share_of_the_range(void **state)
{
    (void)state;
    const struct gp_device device = {.sm_count = 1, .cc_major = 9};
    struct gp_metrics *m = shipped();
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_at(m, i);
        const char **names;
        size_t count;
        bool takes_share = false, is_of_kernel = false;
        assert_true(gp_metric_counters(m, metric, &device, &names, &count));
        for (size_t k = 0; k < count; k++) {
            takes_share = takes_share || strstr(names[k], "_elapsed.sum") ||
                          strstr(names[k], "sustained_elapsed") ||
                          strstr(names[k], "per_cycle_elapsed");
            is_of_kernel = is_of_kernel || strcmp(names[k], "gpu__time_duration.sum") == 0;
        }
        free(names);
        if (takes_share && !is_of_kernel)
            fail_msg("%s is a share of the range's time", metric->name);
    }
    gp_metrics_close(m);
}

struct seen {
    const struct gp_metrics *metrics;
    const struct gp_device *device;
    const struct gp_record *launch;
    size_t values, reasons;
};

static void is_as_alone(void *user, size_t i, double value, double weight,
                        const struct gp_absence *absence)
{
    struct seen *seen = user;
    const struct gp_metric *metric = gp_metrics_selected(seen->metrics, i);
    double alone = 0;
    struct gp_absence of_alone = {.cause = GP_CAUSE_NONE};
    bool has_value = gp_metric_evaluate(metric, seen->device, seen->launch, &alone, &of_alone);
    if (has_value != !absence)
        fail_msg("%s: %s, alone %s", metric->name, absence ? absence->text : "a value",
                 of_alone.text);
    if (has_value && fabs(value - alone) > 1e-12 * fabs(alone))
        fail_msg("%s is %.17g, alone %.17g", metric->name, value, alone);
    if (absence && strcmp(absence->text, of_alone.text) != 0)
        fail_msg("%s: '%s', alone '%s'", metric->name, absence->text, of_alone.text);
    if (absence && (absence->cause != of_alone.cause || absence->named != of_alone.named))
        fail_msg("%s: cause %s, alone %s", metric->name, gp_cause_word(absence->cause),
                 gp_cause_word(of_alone.cause));
    double weight_alone = NAN;
    if (!gp_metric_weight(seen->metrics, metric, seen->device, seen->launch, &weight_alone))
        weight_alone = NAN;
    if (isnan(weight) != isnan(weight_alone) ||
        fabs(weight - weight_alone) > 1e-12 * fabs(weight_alone))
        fail_msg("%s weighs %.17g, alone %.17g", metric->name, weight, weight_alone);
    seen->values += has_value;
    seen->reasons += !has_value;
}

/* Counters with values, of which some are 0, some absent for one of two reasons, some not there. */
static size_t some_counters(struct gp_counter *counters, const char *const *names, size_t count)
{
    const struct gp_reason reasons[] = {GP_REASON(COUNTERS_IN_USE),
                                        GP_REASON_TEXT(NO_SUCH_COUNTER, "not on this chip")};
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        int kind = rand() % 16;
        struct gp_counter c = {.name = names[i], .value = rand() % 1000 / (double)(1 + rand() % 9)};
        c.absent = kind < 2 ? reasons[kind] : GP_NO_REASON;
        c.value = kind == 2 ? 0 : c.value;
        if (kind != 3)
            counters[made++] = c;
    }
    return made;
}

/* Launch after launch, as the answers for one are remembered for the next. */
static void all_metrics_at_once_are_as_one_by_one(void **state)
{
    (void)state;
    static const struct gp_device devices[] = {
        {.cc_major = 3, .cc_minor = 5, .event_counters = 1, .warp_size = 32, .sm_count = 13},
        {.cc_major = 7, .cc_minor = 5, .sm_count = 40, .clock_khz = 1500000},
        {.cc_major = 9, .sm_count = 132, .clock_khz = 1980000, .sp_dp_ratio = 2, .warp_size = 32},
        {.cc_major = 12},
    };
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    assert_true(gp_metrics_select(m, "all", &problems));
    srand(7);
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        const char **names;
        size_t count;
        assert_true(gp_metrics_counters(m, &devices[d], &names, &count));
        struct gp_counter *counters = calloc(count + 1, sizeof(*counters));
        struct gp_program *p = gp_program_new(m, &devices[d]);
        assert_true(counters && p);
        struct seen seen = {.metrics = m, .device = &devices[d]};
        for (unsigned n = 0; n < 200; n++) {
            struct gp_record launch = {.grid = {n % 7, 1, 1}, .block = {n % 3 * 32, 1, 1}};
            launch.counters = counters;
            launch.counter_count = some_counters(counters, names, count);
            launch.skipped = n % 5 ? GP_NO_REASON : GP_REASON_TEXT(OTHER, "left out");
            seen.launch = &launch;
            gp_program_run(p, &launch, is_as_alone, &seen);
        }
        assert_true(seen.values > 1000 && seen.reasons > 1000);
        gp_program_free(p);
        free(counters);
        free(names);
    }
    gp_metrics_close(m);
}

static void count_values(void *user, size_t i, double value, double weight,
                         const struct gp_absence *absence)
{
    (void)i;
    (void)value;
    (void)weight;
    *(unsigned *)user += !absence;
}

/* A list of counters without a name is remembered by the names' addresses; another file's names may
 * come to the same. */
static void other_names_at_the_same_address_are_found(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    assert_true(gp_metrics_select(m, "l2_bytes", &problems));
    struct gp_program *p = gp_program_new(m, &h200);
    char name[32] = "another__counter.sum";
    const struct gp_counter counter = {.name = name, .value = 1};
    const struct gp_record launch = {.counter_count = 1, .counters = &counter};
    unsigned values = 0;
    gp_program_run(p, &launch, count_values, &values);
    assert_int_equal(values, 0);
    strcpy(name, "lts__t_bytes.sum");
    gp_program_forget_names(p);
    gp_program_run(p, &launch, count_values, &values);
    assert_int_equal(values, 1);
    gp_program_free(p);
    gp_metrics_close(m);
}

static void is_weighted_by(const struct gp_metrics *m, const struct gp_device *device,
                           const char *name, const char *expected)
{
    struct gp_text text = {0};
    gp_metric_weighting_text(gp_metrics_find(m, name), device, &text);
    assert_string_equal(gp_text_string(&text), expected);
    gp_text_free(&text);
}

static void weights_follow_from_formulas(void **state)
{
    (void)state;
    static const struct gp_device hopper = {.cc_major = 9},
                                  kepler = {.cc_major = 3, .cc_minor = 5, .event_counters = 1};
    struct gp_metrics *m = shipped();
    is_weighted_by(m, &hopper, "duration", "launches");
    is_weighted_by(m, &hopper, "dram_read_bytes", "launches");
    is_weighted_by(m, &hopper, "flop_count_sp", "launches");
    is_weighted_by(m, &hopper, "elapsed_cycles", "launches");
    is_weighted_by(m, &hopper, "achieved_occupancy", "time");
    is_weighted_by(m, &hopper, "theoretical_occupancy", "time");
    is_weighted_by(m, &hopper, "dram_utilization", "time");
    is_weighted_by(m, &hopper, "sm_clock", "time");
    is_weighted_by(m, &hopper, "flops", "duration");
    is_weighted_by(m, &hopper, "gld_efficiency", "gld_transactions");
    is_weighted_by(m, &hopper, "warp_execution_efficiency", "smsp__inst_executed.sum");
    is_weighted_by(m, &hopper, "sm_imbalance", "sm__cycles_active.avg");
    is_weighted_by(m, &hopper, "flop_per_dram_byte", "dram_read_bytes + dram_write_bytes");
    is_weighted_by(m, &kepler, "warp_execution_efficiency", "event__inst_executed");
    gp_metrics_close(m);
}

/* Formulas of the user's own, and metrics that use each other so often that nobody counts it. */
static void weights_of_any_formula_are_found(void **state)
{
    (void)state;
    static const char text[] = "[mean]\nformula = a__x.sum / b__y.sum * 2\n"
                               "[of_mean]\nformula = mean / 3\n"
                               "[own]\nformula = a__x.pct\nweight = 3 * b__y.sum\n"
                               "[rate]\nformula = a__x.sum / b__y.ratio\n"
                               "[duration]\nformula = t__t.sum\n"
                               "[d1]\nformula = (a__x.sum+a__x.sum)+(a__x.sum+a__x.sum)\n"
                               "[d2]\nformula = (d1+d1)+(d1+d1)\n[d3]\nformula = (d2+d2)+(d2+d2)\n"
                               "[d4]\nformula = (d3+d3)+(d3+d3)\n[d5]\nformula = (d4+d4)+(d4+d4)\n"
                               "[d6]\nformula = (d5+d5)+(d5+d5)\n[d7]\nformula = (d6+d6)+(d6+d6)\n"
                               "[d8]\nformula = (d7+d7)+(d7+d7)\n[d9]\nformula = (d8+d8)+(d8+d8)\n";
    static const struct gp_device device = {.cc_major = 9};
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_parse("my.ini", text, sizeof(text) - 1, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    is_weighted_by(m, &device, "mean", "b__y.sum");
    is_weighted_by(m, &device, "of_mean", "b__y.sum");
    is_weighted_by(m, &device, "own", "3 * b__y.sum");
    is_weighted_by(m, &device, "rate", "launches");
    is_weighted_by(m, &device, "d4", "launches");
    is_weighted_by(m, &device, "d9", "time"); /* too many steps to read */
    gp_metrics_close(m);
}

/* CUPTI's ratio is 0 where there is nothing to take it of. */
static void a_kernel_without_branches_has_no_branch_efficiency(void **state)
{
    (void)state;
    const struct gp_device hopper = {.cc_major = 9};
    struct gp_counter counters[] = {
        {"smsp__sass_average_branch_targets_threads_uniform.pct", 0, GP_NO_REASON},
        {"smsp__sass_branch_targets_threads_uniform.sum", 0, GP_NO_REASON},
        {"smsp__sass_branch_targets_threads_divergent.sum", 0, GP_NO_REASON},
    };
    const struct gp_record launch = {
        .counter_count = sizeof(counters) / sizeof(counters[0]),
        .counters = counters,
    };
    struct gp_metrics *m = shipped();
    double value;
    struct gp_absence absence;
    assert_false(gp_metric_evaluate(gp_metrics_find(m, "branch_efficiency"), &hopper, &launch,
                                    &value, &absence));
    assert_non_null(strstr(absence.text, "does not apply: "));
    assert_int_equal(absence.cause, GP_CAUSE_DOES_NOT_APPLY);
    counters[2].value = 7;
    has_value(m, &hopper, &launch, "branch_efficiency", 0);
    gp_metrics_close(m);
}

/* Shares of the time that a kernel took, which is never 0. */
static bool is_share_of_time(const char *name)
{
    static const char *const names[] = {"achieved_occupancy", "sm_efficiency",
                                        "issue_slot_utilization", "sm_efficiency_instance",
                                        "tensor_utilization"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    const size_t length = strlen(name);
    return length > 12 && strcmp(name + length - 12, "_pct_of_peak") == 0;
}

/* CUPTI's ratios are 0 then, and a complement would be 100 %. */
static void no_ratio_has_a_value_where_nothing_was_counted(void **state)
{
    (void)state;
    static const struct gp_device devices[] = {
        {.cc_major = 3, .cc_minor = 5, .event_counters = 1, .warp_size = 32},
        {.cc_major = 6, .cc_minor = 1, .event_counters = 1, .warp_size = 32},
        {.cc_major = 7, .cc_minor = 5},
        {.cc_major = 9},
        {.cc_major = 12},
    };
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    assert_true(gp_metrics_select(m, "all", &problems));
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        const char **names;
        size_t count;
        assert_true(gp_metrics_counters(m, &devices[d], &names, &count));
        struct gp_counter *counters = calloc(count, sizeof(*counters));
        assert_non_null(counters);
        for (size_t i = 0; i < count; i++)
            counters[i].name = names[i];
        const struct gp_record launch = {.counter_count = count, .counters = counters};
        for (size_t i = 0; i < gp_metrics_count(m); i++) {
            const struct gp_metric *metric = gp_metrics_at(m, i);
            double value;
            bool is_ratio = strcmp(metric->unit, "%") == 0 || strcmp(metric->unit, "ratio") == 0;
            if (is_ratio && !is_share_of_time(metric->name) &&
                gp_metric_evaluate(metric, &devices[d], &launch, &value, NULL))
                fail_msg("%s is %g on compute capability %d.%d", metric->name, value,
                         devices[d].cc_major, devices[d].cc_minor);
        }
        free(counters);
        free(names);
    }
    gp_metrics_close(m);
}

/* nvprof's names are all there: with a formula, or with the reason why not and a nearest metric
 * that can be had. */
static void every_name_of_nvprof_is_computed_or_explained(void **state)
{
    (void)state;
    static const char *const names[] = {
#define METRIC(name) #name,
#define EVENT(name) #name,
#include "nvprof_names.def"
    };
    struct gp_metrics *m = shipped();
    size_t absent = 0, count = sizeof(names) / sizeof(names[0]);
    assert_int_equal(count, 211 + 82);
    for (size_t i = 0; i < count; i++) {
        const struct gp_metric *metric = gp_metrics_find(m, names[i]);
        if (!metric)
            fail_msg("there is no %s", names[i]);
        const char *why = gp_metric_absent(metric);
        if (!why)
            continue;
        absent++;
        const char *nearest = strstr(why, "the nearest is ");
        if (!nearest || !gp_metrics_find(m, nearest + 15) ||
            gp_metric_absent(gp_metrics_find(m, nearest + 15)))
            fail_msg("%s is explained by '%s'", names[i], why);
    }
    assert_true(absent < 30);
    gp_metrics_close(m);
}

static void is_absent(const struct gp_metrics *m, const struct gp_device *device,
                      const struct gp_record *launch, const char *name, const char *expected)
{
    double value = NAN;
    struct gp_absence absence = {.cause = GP_CAUSE_NONE};
    assert_false(gp_metric_evaluate(gp_metrics_find(m, name), device, launch, &value, &absence));
    assert_non_null(strstr(absence.text, expected));
}

/* The launch is only timed. */
static void what_needs_no_counter_has_a_value_without_any(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct gp_counter time = {"gpu__time_duration.sum", 5000, GP_NO_REASON};
    struct gp_record launch = {.grid = {132 * 8 + 66, 1, 1},
                               .block = {256, 1, 1},
                               .registers = 40,
                               .shared_static = 2048,
                               .local_bytes = 16,
                               .shared_carveout = -1,
                               .doubt_ms = 0.003,
                               .counter_count = 1,
                               .counters = &time};
    has_value(m, &h200, &launch, "duration", 5e-6);
    has_value(m, &h200, &launch, "duration_doubt", 3e-6);
    has_value(m, &h200, &launch, "theoretical_occupancy", 0.75);
    has_value(m, &h200, &launch, "occupancy_limit_registers", 6);
    has_value(m, &h200, &launch, "occupancy_limit_warps", 8);
    has_value(m, &h200, &launch, "occupancy_limit_blocks", 32);
    has_value(m, &h200, &launch, "occupancy_limit_shared", 76);
    has_value(m, &h200, &launch, "registers_per_thread", 40);
    has_value(m, &h200, &launch, "shared_bytes_per_block", 2048);
    has_value(m, &h200, &launch, "local_bytes_per_thread", 16);
    /* 792 blocks at once: the second wave has 330. */
    has_value(m, &h200, &launch, "waves", 1122. / 792);
    has_value(m, &h200, &launch, "tail_share", (1 - 330. / 792) / 2);
    launch.grid[0] = 792 * 3;
    has_value(m, &h200, &launch, "tail_share", 0);
    launch.grid[0] = 1;
    has_value(m, &h200, &launch, "tail_share", 1 - 1. / 792);
    launch.shared_static = 0;
    launch.registers = 0;
    is_absent(m, &h200, &launch, "occupancy_limit_shared", "launch.registers is not known");
    is_absent(m, &h200, &launch, "tail_share", "launch.registers is not known");
    struct gp_device unknown = h200;
    unknown.sm_count = 0;
    launch.registers = 40;
    is_absent(m, &unknown, &launch, "tail_share", "device.sm_count is not known");
    /* Where CUPTI counts events, none was counted. */
    struct gp_device kepler = {.cc_major = 3, .cc_minor = 5, .event_counters = 1, .sm_count = 13};
    has_value(m, &kepler, &launch, "duration", 5e-6);
    gp_metrics_close(m);
}

/* The bytes that wgmma reads are not counted, its wavefronts are. */
static void shared_memory_of_tensor_cores_has_no_efficiency(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_counter counters[] = {
        {"smsp__sass_data_bytes_mem_shared.sum", 128 * 600, GP_NO_REASON},
        {"smsp__sass_data_bytes_mem_shared_op_ldgsts.sum", 128 * 10, GP_NO_REASON},
        {"smsp__sass_data_bytes_mem_global_op_ldgsts.sum", 128 * 110, GP_NO_REASON},
        {"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 1000, GP_NO_REASON},
        {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", 60, GP_NO_REASON},
        {"smsp__sass_inst_executed_op_shared_gmma.sum", 0, GP_NO_REASON},
    };
    enum { WITHOUT_GMMA = 5, ALL };
    struct gp_record launch = {.counter_count = ALL, .counters = counters};
    has_value(m, &h200, &launch, "shared_efficiency", 70);
    counters[WITHOUT_GMMA].value = 1;
    is_absent(m, &h200, &launch, "shared_efficiency", "");
    counters[WITHOUT_GMMA].value = 4096;
    is_absent(m, &h200, &launch, "shared_efficiency", "");
    /* Profiles from before this counter was taken, and chips without it. */
    struct gp_device other = h200;
    launch.counter_count = WITHOUT_GMMA;
    has_value(m, &h200, &launch, "shared_efficiency", 70);
    other.cc_major = 8;
    has_value(m, &other, &launch, "shared_efficiency", 70);
    other.cc_major = 10;
    has_value(m, &other, &launch, "shared_efficiency", 70);
    gp_metrics_close(m);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i < count;
}

/* The details of a profile have the metrics whose counters it holds: where it holds those of the
 * default set about twenty, besides those of units that few kernels use. */
static void details_of_the_default_counters_are_for_people(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    const char **all = NULL;
    size_t all_count = 0, shown = 0;
    assert_true(gp_metrics_select(m, "default", &problems));
    assert_true(gp_metrics_counters(m, &h200, &all, &all_count));
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_at(m, i);
        const char **names = NULL;
        char why[GP_WHY_SIZE];
        size_t count = 0, known = 0;
        if (metric->hidden || !gp_metric_is_defined(metric, &h200, why, sizeof(why)))
            continue;
        assert_true(gp_metric_counters(m, metric, &h200, &names, &count));
        while (known < count && is_among(names[known], all, all_count))
            known++;
        shown += known == count;
        free(names);
    }
    free(all);
    if (shown < 20 || shown > 36)
        fail_msg("%zu metrics are shown", shown);
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_definition_is_complete),
        cmocka_unit_test(the_papers_metrics_are_in_the_default_set),
        cmocka_unit_test(formulas_give_the_values_of_the_definitions),
        cmocka_unit_test(constants_are_no_operations),
        cmocka_unit_test(what_needs_no_counter_has_a_value_without_any),
        cmocka_unit_test(shares_of_time_are_of_the_kernels_own),
        cmocka_unit_test(no_metric_takes_a_share_of_the_range),
        cmocka_unit_test(all_metrics_at_once_are_as_one_by_one),
        cmocka_unit_test(other_names_at_the_same_address_are_found),
        cmocka_unit_test(weights_follow_from_formulas),
        cmocka_unit_test(weights_of_any_formula_are_found),
        cmocka_unit_test(a_kernel_without_branches_has_no_branch_efficiency),
        cmocka_unit_test(no_ratio_has_a_value_where_nothing_was_counted),
        cmocka_unit_test(every_name_of_nvprof_is_computed_or_explained),
        cmocka_unit_test(shared_memory_of_tensor_cores_has_no_efficiency),
        cmocka_unit_test(details_of_the_default_counters_are_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
