/* The definitions in metrics/: all make sense, and CUPTI knows their counters on every chip. The
 * second part needs libcupti, whose host interface works without a GPU; elsewhere, and in a
 * sanitized build, it is skipped. */
#include "metrics/metrics.h"

#include "shipped.h"

#include <cupti_profiler_host.h>
#include <dlfcn.h>
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

/* CUPTI loads its parts with RTLD_DEEPBIND, which the address sanitizer refuses to live with. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

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
                      const struct gp_launch *launch, const char *name, double expected)
{
    double value = NAN;
    char why[GP_WHY_SIZE] = "";
    if (gp_metric_evaluate(gp_metrics_find(m, name), device, launch, &value, why, sizeof(why)))
        fail_msg("%s: %s", name, why);
    if (fabs(value - expected) > 1e-12 * fabs(expected))
        fail_msg("%s is %.17g, not %.17g", name, value, expected);
}

static void formulas_give_what_the_definitions_say(void **state)
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
        {"gpu__time_duration.sum", 2e6, NULL},
        {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 100, NULL},
        {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 200, NULL},
        {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 350, NULL},
        {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1, NULL},
        {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 2, NULL},
        {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 3, NULL},
        {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 4, NULL},
        {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 5, NULL},
        {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 6, NULL},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 10, NULL},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 30, NULL},
        {"dram__bytes_read.sum", 3e6, NULL},
        {"dram__bytes_write.sum", 1e6, NULL},
        {"smsp__inst_executed.sum", 10, NULL},
        {"smsp__thread_inst_executed.sum", 160, NULL},
        {"smsp__thread_inst_executed_pred_on.sum", 80, NULL},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 76.755, NULL},
    };
    const struct gp_launch launch = {
        .counter_count = sizeof(counters) / sizeof(counters[0]),
        .counters = counters,
    };
    struct gp_metrics *m = shipped();
    has_value(m, &device, &launch, "duration", 2e-3);
    has_value(m, &device, &launch, "flop_count_sp", 1000);
    has_value(m, &device, &launch, "flop_count_dp", 9);
    has_value(m, &device, &launch, "flop_count_hp", 21);
    has_value(m, &device, &launch, "flops", 1030 / 2e-3);
    has_value(m, &device, &launch, "flop_per_byte", 1030.0 / (40 * 32));
    double lanes = 132 * 2 * 1.98e9;
    has_value(m, &device, &launch, "flop_utilization",
              (1000 / (lanes * 128) + 9 / (lanes * 64) + 21 / (lanes * 256)) / 2e-3);
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

/* CUPTI's ratio is 0 where there is nothing to take it of. */
static void a_kernel_without_branches_has_no_branch_efficiency(void **state)
{
    (void)state;
    const struct gp_device hopper = {.cc_major = 9};
    struct gp_counter counters[] = {
        {"smsp__sass_average_branch_targets_threads_uniform.pct", 0, NULL},
        {"smsp__sass_branch_targets_threads_uniform.sum", 0, NULL},
        {"smsp__sass_branch_targets_threads_divergent.sum", 0, NULL},
    };
    const struct gp_launch launch = {
        .counter_count = sizeof(counters) / sizeof(counters[0]),
        .counters = counters,
    };
    struct gp_metrics *m = shipped();
    double value;
    char why[GP_WHY_SIZE];
    assert_int_equal(gp_metric_evaluate(gp_metrics_find(m, "branch_efficiency"), &hopper, &launch,
                                        &value, why, sizeof(why)),
                     -1);
    assert_non_null(strstr(why, "does not apply: "));
    counters[2].value = 7;
    has_value(m, &hopper, &launch, "branch_efficiency", 0);
    gp_metrics_close(m);
}

/* Shares of the time that a kernel took, which is never 0. */
static bool is_share_of_time(const char *name)
{
    static const char *const names[] = {"achieved_occupancy", "sm_efficiency",
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
    assert_int_equal(gp_metrics_select(m, "all", &problems), 0);
    for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
        const char **names;
        size_t count;
        assert_int_equal(gp_metrics_counters(m, &devices[d], &names, &count), 0);
        struct gp_counter *counters = calloc(count, sizeof(*counters));
        assert_non_null(counters);
        for (size_t i = 0; i < count; i++)
            counters[i].name = names[i];
        const struct gp_launch launch = {.counter_count = count, .counters = counters};
        for (size_t i = 0; i < gp_metrics_count(m); i++) {
            const struct gp_metric *metric = gp_metrics_at(m, i);
            double value;
            char why[GP_WHY_SIZE];
            bool is_ratio = strcmp(metric->unit, "%") == 0 || strcmp(metric->unit, "ratio") == 0;
            if (is_ratio && !is_share_of_time(metric->name) &&
                gp_metric_evaluate(metric, &devices[d], &launch, &value, why, sizeof(why)) == 0)
                fail_msg("%s is %g on compute capability %d.%d", metric->name, value,
                         devices[d].cc_major, devices[d].cc_minor);
        }
        free(counters);
        free(names);
    }
    gp_metrics_close(m);
}

/* ---- against CUPTI's host library ---- */

static CUptiResult (*host_initialize)(CUpti_Profiler_Host_Initialize_Params *);
static CUptiResult (*host_deinitialize)(CUpti_Profiler_Host_Deinitialize_Params *);
static CUptiResult (*add_metrics)(CUpti_Profiler_Host_ConfigAddMetrics_Params *);
static CUptiResult (*image_size)(CUpti_Profiler_Host_GetConfigImageSize_Params *);
static CUptiResult (*get_image)(CUpti_Profiler_Host_GetConfigImage_Params *);
static CUptiResult (*count_passes)(CUpti_Profiler_Host_GetNumOfPasses_Params *);

static int find_cupti(void)
{
    const char *home = getenv("CUDA_HOME");
    const char *const homes[] = {home ? home : "/usr/local/cuda", "/usr/local/cuda", "build/cuda"};
    static const char *const places[] = {"lib64", "extras/CUPTI/lib64", "lib"};
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    void *library = NULL;
    for (size_t i = 0; !SANITIZED && !library && i < 27; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s/%s", homes[i / 9], places[i / 3 % 3], names[i % 3]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
        return -1;
    *(void **)&host_initialize = dlsym(library, "cuptiProfilerHostInitialize");
    *(void **)&host_deinitialize = dlsym(library, "cuptiProfilerHostDeinitialize");
    *(void **)&add_metrics = dlsym(library, "cuptiProfilerHostConfigAddMetrics");
    *(void **)&image_size = dlsym(library, "cuptiProfilerHostGetConfigImageSize");
    *(void **)&get_image = dlsym(library, "cuptiProfilerHostGetConfigImage");
    *(void **)&count_passes = dlsym(library, "cuptiProfilerHostGetNumOfPasses");
    return host_initialize && host_deinitialize && add_metrics && image_size && get_image &&
                   count_passes
               ? 0
               : -1;
}

static CUpti_Profiler_Host_Object *host_for(const char *chip)
{
    CUpti_Profiler_Host_Initialize_Params p = {
        .structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE};
    p.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    p.pChipName = chip;
    return host_initialize(&p) == CUPTI_SUCCESS ? p.pHostObject : NULL;
}

static int add(CUpti_Profiler_Host_Object *host, const char **names, size_t count)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params p = {
        .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE};
    p.pHostObject = host;
    p.ppMetricNames = names;
    p.numMetrics = count;
    return add_metrics(&p) == CUPTI_SUCCESS ? 0 : -1;
}

static void let_go(CUpti_Profiler_Host_Object *host)
{
    CUpti_Profiler_Host_Deinitialize_Params p = {
        .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE};
    p.pHostObject = host;
    host_deinitialize(&p);
}

static size_t passes_of(CUpti_Profiler_Host_Object *host)
{
    CUpti_Profiler_Host_GetConfigImageSize_Params s = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE};
    s.pHostObject = host;
    assert_int_equal(image_size(&s), CUPTI_SUCCESS);
    CUpti_Profiler_Host_GetConfigImage_Params g = {
        .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE};
    g.pHostObject = host;
    g.configImageSize = s.configImageSize;
    g.pConfigImage = malloc(s.configImageSize);
    assert_non_null(g.pConfigImage);
    assert_int_equal(get_image(&g), CUPTI_SUCCESS);
    CUpti_Profiler_Host_GetNumOfPasses_Params p = {
        .structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE};
    p.configImageSize = s.configImageSize;
    p.pConfigImage = g.pConfigImage;
    assert_int_equal(count_passes(&p), CUPTI_SUCCESS);
    free(g.pConfigImage);
    return p.numOfPasses;
}

static const struct {
    const char *chip;
    int cc_major, cc_minor;
    size_t default_passes;
} chips[] = {
    {"TU102", 7, 5, 3}, {"GA100", 8, 0, 2},  {"GA102", 8, 6, 2},  {"AD102", 8, 9, 2},
    {"GH100", 9, 0, 2}, {"GB100", 10, 0, 2}, {"GB202", 12, 0, 2},
};

static void cupti_knows_every_counter(void **state)
{
    (void)state;
    if (find_cupti() != 0)
        skip();
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    assert_int_equal(gp_metrics_select(m, "all", &problems), 0);
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        const struct gp_device device = {.cc_major = chips[i].cc_major,
                                         .cc_minor = chips[i].cc_minor};
        CUpti_Profiler_Host_Object *host = host_for(chips[i].chip);
        if (!host)
            continue; /* a toolkit of before or after this chip */
        const char **names;
        size_t count;
        assert_int_equal(gp_metrics_counters(m, &device, &names, &count), 0);
        for (size_t k = 0; k < count; k++)
            if (add(host, &names[k], 1) != 0)
                fail_msg("%s does not know %s", chips[i].chip, names[k]);
        free(names);
        let_go(host);
    }
    gp_metrics_close(m);
}

static void the_default_set_takes_few_passes(void **state)
{
    (void)state;
    if (find_cupti() != 0)
        skip();
    struct gp_metrics *m = shipped();
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        const struct gp_device device = {.cc_major = chips[i].cc_major,
                                         .cc_minor = chips[i].cc_minor};
        CUpti_Profiler_Host_Object *host = host_for(chips[i].chip);
        if (!host)
            continue;
        const char **names;
        size_t count;
        assert_int_equal(gp_metrics_counters(m, &device, &names, &count), 0);
        assert_int_equal(add(host, names, count), 0);
        size_t passes = passes_of(host);
        if (passes > chips[i].default_passes)
            fail_msg("%s takes %zu passes for the default set", chips[i].chip, passes);
        free(names);
        let_go(host);
    }
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_definition_is_complete),
        cmocka_unit_test(the_papers_metrics_are_in_the_default_set),
        cmocka_unit_test(formulas_give_what_the_definitions_say),
        cmocka_unit_test(a_kernel_without_branches_has_no_branch_efficiency),
        cmocka_unit_test(no_ratio_has_a_value_where_nothing_was_counted),
        cmocka_unit_test(cupti_knows_every_counter),
        cmocka_unit_test(the_default_set_takes_few_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
