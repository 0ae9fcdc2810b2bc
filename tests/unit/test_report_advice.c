/* report/: the bound of a kernel, the rules that have an answer, where in the source; rules that
 * users write, and mistakes in them. */
#include "base/demangle.h"
#include "report/advice.h"
#include "report/kernel_table.h"
#include "report/names.h"
#include "report/remedies.h"
#include "report/sources.h"
#include "report/table.h"

#include "found.h"
#include "h200.h"
#include "sample.h"
#include "shipped.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Instructions of one kernel: {offset, kind, value} ... */
static struct gp_sources *
count_instructions(const char *kernel, const struct gp_instruction_counts *counts, size_t count)
{
    struct gp_sources *sources = gp_sources_new();
    const char *const functions[] = {kernel};
    const struct gp_code_counts source = {.kernel = kernel,
                                          .cc = 90,
                                          .launches = 1,
                                          .kinds = (1u << GP_COUNT_WARPS) - 1,
                                          .function_count = 1,
                                          .functions = functions,
                                          .instruction_count = count,
                                          .instructions = counts,
                                          .code = ""};
    assert_non_null(sources);
    assert_true(gp_sources_add(sources, &source));
    return sources;
}

static void first_advice_is(const struct sample *s, struct gp_sources *sources, const char *bound,
                            const char *rule)
{
    struct found f;
    find(&f, s, sources);
    assert_string_equal(f.findings.bounds[0].name, bound);
    if (!rule && f.findings.advice.count > 0)
        fail_msg("advice: %s", f.findings.advice.list[0].rule->name);
    if (rule) {
        assert_true(f.findings.advice.count > 0);
        assert_string_equal(f.findings.advice.list[0].rule->name, rule);
        assert_true(f.findings.advice.list[0].gain > 0 && f.findings.advice.list[0].gain <= 1);
    }
    forget(&f);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void the_busiest_unit_bounds(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 70);
    set(&s, "dram__bytes_read.sum", 2e9);
    struct found f;
    find(&f, &s, NULL);
    const struct gp_bound *b = &f.findings.bounds[0];
    assert_int_equal(b->kind, GP_BOUND_UNIT);
    assert_string_equal(b->title, "L2");
    assert_true(fabs(b->utilization - 0.70) < 1e-6);
    assert_false(b->at_roof);
    assert_string_equal(b->next_title, "DRAM");
    forget(&f);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 85);
    find(&f, &s, NULL);
    assert_true(f.findings.bounds[0].at_roof);
    forget(&f);
}

/* Pipes take the issued instructions. */
static void a_pipe_is_named_where_issue_slots_are_as_busy(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "smsp__inst_executed.sum", 0.9 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed.sum", 32 * 0.9 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed_pred_on.sum", 32 * 0.9 * 4 * SMS * CYCLES);
    struct found f;
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].name, "issue");
    forget(&f);
    set(&s, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 32 * 0.85 * 4 * SMS * CYCLES);
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].name, "fp32");
    assert_string_equal(f.findings.bounds[0].next_title, "issue");
    forget(&f);
}

/* The range that was counted lasts longer than the kernel. */
static void shares_are_those_of_the_kernels_own_time(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "gpu__time_duration.sum", 10e3);
    set(&s, "gpc__cycles_elapsed.max", 2 * CYCLES / 100);
    set(&s, "smsp__inst_executed.sum", 0.2 * 4 * SMS * CYCLES / 100);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 40);
    struct found f;
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].name, "l2");
    assert_true(fabs(f.findings.bounds[0].utilization - 0.80) < 1e-6);
    forget(&f);
}

static void no_busy_unit_is_latency_few_blocks_are_small_short_ones_launches(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    first_advice_is(&s, NULL, "latency", "latency");
    s.launch.grid[0] = 16;
    first_advice_is(&s, NULL, "small", "small_grid");
    set(&s, "gpu__time_duration.sum", 3e3);
    struct found f;
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].title, "launch overhead");
    forget(&f);
}

static void units_that_were_not_measured_bound_nothing(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    for (size_t i = 1; i < s.launch.counter_count; i++)
        s.counters[i].absent = GP_REASON_TEXT(OTHER, "the counters are in use by another process");
    struct found f;
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_UNKNOWN);
    assert_non_null(strstr(f.findings.bounds[0].why, "in use by another process"));
    assert_int_equal(f.findings.advice.count, 0);
    forget(&f);
}

static void bound_is(const struct sample *s, const char *bound)
{
    struct found f;
    find_of(&f, s, NULL, "default,diagnosis");
    assert_string_equal(f.findings.bounds[0].name, bound);
    forget(&f);
}

/* The hardware's count of wavefronts is more than any estimate, and pipes that the default set does
 * not count bound kernels as well. */
static void the_diagnosis_says_of_units_what_the_default_set_does_not(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    bound_is(&s, "latency");
    add(&s, "l1tex__data_pipe_lsu_wavefronts.sum", 0.8 * SMS * CYCLES);
    bound_is(&s, "l1");
    make_sample(&s, "k");
    add(&s, "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", 80);
    bound_is(&s, "alu");
    set(&s, "sm__cycles_active.avg", CYCLES / 2); /* half of the time the SMs rest */
    bound_is(&s, "latency");
    make_sample(&s, "k");
    add(&s, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", 80);
    bound_is(&s, "xu");
}

/* Instrumented counters say how busy pipes and L1 are. Where there are none the diagnosis does. */
static void the_diagnosis_alone_makes_a_bound_known(void **state)
{
    (void)state;
    static const char *const counted[] = {
        "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
        "sm__inst_executed_pipe_fma_type_fp16.avg.pct_of_peak_sustained_active",
        "l1tex__data_pipe_lsu_wavefronts.sum"};
    struct sample s;
    make_sample(&s, "k");
    set(&s, "smsp__inst_executed.sum", 0.5 * 4 * SMS * CYCLES);
    for (size_t i = 0; i < s.launch.counter_count; i++)
        if (strstr(s.counters[i].name, GP_INSTRUMENTED))
            s.counters[i].absent = GP_REASON(ADDED_LIMIT);
    bound_is(&s, "unknown");
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        add(&s, counted[i], 1);
    bound_is(&s, "latency");
    set(&s, counted[0], 80);
    bound_is(&s, "fp32");
}

/* A copy is bound by DRAM. Where that was not counted, the other units are idle, which is no
 * evidence. */
static void idle_units_bound_nothing_where_one_was_not_measured(void **state)
{
    (void)state;
    static const char *const unmeasured[] = {
        "dram__bytes_read.sum", "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
        "l1tex__t_sectors.avg.pct_of_peak_sustained_elapsed", "smsp__inst_executed.sum",
        "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"};
    struct sample s;
    struct found f;
    make_sample(&s, "copy");
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_LATENCY);
    forget(&f);
    for (size_t i = 0; i < sizeof(unmeasured) / sizeof(unmeasured[0]); i++) {
        make_sample(&s, "copy");
        for (size_t c = 0; c < s.launch.counter_count; c++)
            if (strcmp(s.counters[c].name, unmeasured[i]) == 0)
                s.counters[c].absent = GP_REASON_TEXT(OTHER, "not counted");
        find(&f, &s, NULL);
        assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_UNKNOWN);
        assert_non_null(strstr(f.findings.bounds[0].why, unmeasured[i]));
        assert_int_equal(f.findings.advice.count, 0);
        forget(&f);
    }
    /* A unit that the chip does not have is idle. */
    make_sample(&s, "copy");
    for (size_t c = 0; c < s.launch.counter_count; c++)
        if (strstr(s.counters[c].name, "pipe_tensor"))
            s.counters[c].absent = GP_REASON_TEXT(NO_SUCH_COUNTER, "some words");
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_LATENCY);
    forget(&f);
    /* A unit that is busy is the bound without the others. */
    make_sample(&s, "copy");
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 80);
    for (size_t c = 0; c < s.launch.counter_count; c++)
        if (strncmp(s.counters[c].name, "dram__", 6) == 0)
            s.counters[c].absent = GP_REASON_TEXT(OTHER, "not counted");
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].name, "l2");
    forget(&f);
}

/* The hardware counts instructions and sectors without instrumented code. */
static void units_without_the_instructions_for_it_are_idle_unmeasured(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    for (size_t c = 0; c < s.launch.counter_count; c++)
        if (strncmp(s.counters[c].name, "smsp__sass", 10) == 0)
            s.counters[c].absent = GP_REASON_TEXT(OTHER, "not counted");
    set(&s, "smsp__inst_executed.sum", 0.1 * 4 * SMS * CYCLES);
    set(&s, "l1tex__t_sectors.sum", 0.1 * SMS * CYCLES);
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_LATENCY);
    assert_true(f.findings.bounds[0].complete);
    forget(&f);
    /* Accesses to shared memory may meet in a bank. */
    s.launch.shared_dynamic = 1024;
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_UNKNOWN);
    assert_non_null(strstr(f.findings.bounds[0].why, "bound_l1"));
    forget(&f);
    s.launch.shared_dynamic = 0;
    set(&s, "l1tex__t_sectors.sum", 0.4 * SMS * CYCLES);
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_UNKNOWN);
    forget(&f);
}

/* A few percent over the peak are the difference of two runs; more is no measurement. */
static void no_unit_works_above_its_peak(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    set(&s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 1.04 * SMS * CYCLES);
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].name, "l1");
    assert_true(fabs(f.findings.bounds[0].utilization - 1) < 1e-9);
    forget(&f);
    set(&s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 1.3 * SMS * CYCLES);
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_UNKNOWN);
    assert_non_null(strstr(f.findings.bounds[0].why, "L1/shared would work at 130 %"));
    assert_int_equal(f.findings.advice.count, 0);
    forget(&f);
}

/* cuBLAS's SGEMM with LDGSTS, counted on an H200: the copies' lines are no steps beside their
 * wavefronts. */
static void asynchronous_copies_count_once_in_l1(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    double steps;
    make_sample(&s, "gemm");
    set(&s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 12760826);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 4140294);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 4096);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 131072);
    set(&s, "smsp__sass_inst_executed_op_global_ld.sum", 1024);
    set(&s, "smsp__sass_inst_executed_op_global_st.sum", 8192);
    find(&f, &s, NULL);
    assert_true(gp_rows_mean(&f.rows, &f.rows.rows[0], "l1_wavefronts", &steps));
    assert_true(fabs(steps - (12760826 + (135168 / 4 + 135168) / 2.0 + 8192)) < 0.5);
    forget(&f);
}

/* Filters that read their neighbours from global memory, on an H100: rows that begin inside a line
 * touch two lines in one step. The hardware's own use of L1 was 63, 90 and 81 %. */
static void rows_across_lines_are_no_two_steps(void **state)
{
    (void)state;
    static const struct {
        double cycles, loads, stores, load_sectors, tags, used;
    } filters[] = {
        {50907, 3270400, 130816, 4.79 * 3270400, 1.76 * 3401216, 0.63},
        {65279, 3270400, 130816, 5.59 * 3270400, 2.76 * 3401216, 0.90},
        {116437, 10575360, 130560, 4.87 * 10575360, 1.86 * 10705920, 0.81},
    };
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct sample s;
        struct found f;
        make_sample(&s, "filter");
        set(&s, "gpu__time_duration.sum", filters[i].cycles / 1.8);
        set(&s, "smsp__inst_executed.sum", 0.4 * 4 * SMS * filters[i].cycles);
        set(&s, "smsp__sass_inst_executed_op_global_ld.sum", filters[i].loads);
        set(&s, "smsp__sass_inst_executed_op_global_st.sum", filters[i].stores);
        set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
            filters[i].load_sectors);
        set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 4 * filters[i].stores);
        set(&s, "smsp__sass_l1tex_tags_mem_global.sum", filters[i].tags);
        find(&f, &s, NULL);
        assert_string_equal(f.findings.bounds[0].name, "l1");
        assert_true(fabs(f.findings.bounds[0].utilization - filters[i].used) <
                    0.3 * filters[i].used);
        forget(&f);
    }
}

/* Profiles that have fewer counters than the definitions of today. */
static void older_profiles_have_their_bounds(void **state)
{
    (void)state;
    static const char *const added_since[] = {"smsp__sass_inst_executed_op_global_ld.sum",
                                              "smsp__sass_inst_executed_op_global_st.sum"};
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 70);
    for (size_t i = 0; i < sizeof(added_since) / sizeof(added_since[0]); i++) {
        double *value = counter(&s, added_since[i]);
        size_t at =
            (size_t)((struct gp_counter *)((char *)value - offsetof(struct gp_counter, value)) -
                     s.counters);
        s.counters[at] = s.counters[--s.launch.counter_count];
    }
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].name, "l2");
    assert_true(f.findings.bounds[0].complete);
    forget(&f);
    /* A counter that could not be counted is another matter. */
    make_sample(&s, "k");
    for (size_t i = 0; i < s.launch.counter_count; i++)
        if (strcmp(s.counters[i].name, added_since[0]) == 0)
            s.counters[i].absent =
                GP_REASON_TEXT(OTHER, "the counters are in use by another process");
    s.launch.shared_dynamic = 1024;
    set(&s, "smsp__inst_executed.sum", 0.1 * 4 * SMS * CYCLES);
    find(&f, &s, NULL);
    assert_int_equal(f.findings.bounds[0].kind, GP_BOUND_UNKNOWN);
    forget(&f);
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void a_kernel_at_its_roof_gets_no_advice(void **state)
{
    (void)state;
    struct sample s;
    /* A copy. */
    make_sample(&s, "copy");
    set(&s, "dram__bytes_read.sum", 2.1e9);
    set(&s, "dram__bytes_write.sum", 2.1e9);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 50);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 4.2e9 / 32);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 2.1e9);
    set(&s, "smsp__sass_data_bytes_mem_global_op_st.sum", 2.1e9);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 2.1e9 / 32);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 2.1e9 / 32);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 4.2e9 / 128);
    const struct gp_instruction_counts counts[] = {
        {0, 0x10, {[GP_COUNT_SECTORS] = 65625000, [GP_COUNT_SECTORS_IDEAL] = 65625000}}};
    struct gp_sources *sources = count_instructions("copy", counts, 1);
    first_advice_is(&s, sources, "dram", NULL);
    gp_sources_free(sources);
    /* A product of matrices by cuBLAS, at 76 % of the tensor cores, 12 % occupancy, many registers.
     */
    make_sample(&s, "_Z20cutlass_gemm_bf16_tnv");
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 62);
    set(&s, "sm__warps_active.avg.pct_of_peak_sustained_active", 12);
    s.launch.registers = 168;
    first_advice_is(&s, NULL, "tensor", NULL);
    /* Its own, uneven, and near its roof: a change that fills idle units does not help. */
    make_sample(&s, "mine");
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 70);
    set(&s, "sm__cycles_active.avg", CYCLES / 1.5);
    s.launch.grid[0] = 132 * 8 + 1;
    first_advice_is(&s, NULL, "tensor", NULL);
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 55);
    first_advice_is(&s, NULL, "tensor", "tail");
}

static void scattered_accesses_are_found_with_their_line(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "_Z8membersv");
    set(&s, "smsp__inst_executed.sum", 0.05 * 4 * SMS * CYCLES);
    set(&s, "dram__bytes_read.sum", 4.2e9);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 4.2e9 / 32);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 4.2e9 / 8);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 4.2e9 / 32);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 4.2e9 / 128);
    const struct gp_instruction_counts counts[] = {
        {0, 0x10, {[GP_COUNT_SECTORS] = 131250000, [GP_COUNT_SECTORS_IDEAL] = 131250000 / 8}},
        {0, 0x20, {[GP_COUNT_SECTORS] = 10, [GP_COUNT_SECTORS_IDEAL] = 80}}};
    struct gp_sources *sources = count_instructions("_Z8membersv", counts, 2);
    struct found f;
    find(&f, &s, sources);
    assert_string_equal(f.findings.bounds[0].name, "dram");
    assert_true(f.findings.bounds[0].at_roof);
    const struct gp_advice *a = &f.findings.advice.list[0];
    assert_string_equal(a->rule->name, "uncoalesced");
    assert_true(a->up_to);
    /* An eighth of the sectors, at the ceiling. */
    assert_true(fabs(a->gain - (1 - f.findings.bounds[0].closeness / 8)) < 1e-3);
    assert_non_null(strstr(a->evidence, "87.5 % of the 32-byte sectors"));
    assert_string_equal(a->where, "at +0x10");
    forget(&f);
    gp_sources_free(sources);
    /* Without counts of instructions nothing is said: all lanes may read one address. */
    first_advice_is(&s, NULL, "dram", NULL);
}

/* All lanes read one address: of 32 bytes four are asked for, and nothing is wasted. */
/* Structs that are read as a whole, member by member: half of the sectors of each access, but none
 * of DRAM's bytes, and DRAM is the bound. */
static void bytes_that_the_busy_dram_does_not_move_are_no_waste(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "_Z8membersv");
    set(&s, "smsp__inst_executed.sum", 0.05 * 4 * SMS * CYCLES);
    set(&s, "dram__bytes_read.sum", 3.7e9);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 3.9e9 / 32);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 3.7e9);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 2 * 3.7e9 / 32);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 2 * 3.7e9 / 128);
    const struct gp_instruction_counts counts[] = {
        {0, 0x10, {[GP_COUNT_SECTORS] = 231250000, [GP_COUNT_SECTORS_IDEAL] = 231250000 / 2}}};
    struct gp_sources *sources = count_instructions("_Z8membersv", counts, 1);
    first_advice_is(&s, sources, "dram", NULL);
    gp_sources_free(sources);
}

static void a_broadcast_is_no_waste(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 70);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 1e8);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 4e8);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e8);
    const struct gp_instruction_counts counts[] = {
        {0, 0x10, {[GP_COUNT_SECTORS] = 100000000, [GP_COUNT_SECTORS_IDEAL] = 400000000}}};
    struct gp_sources *sources = count_instructions("k", counts, 1);
    first_advice_is(&s, sources, "l2", NULL);
    gp_sources_free(sources);
}

/* The last steps of a reduction in shared memory: 83 % of the bytes of the wavefronts, no conflict.
 */
static void idle_lanes_are_no_bank_conflicts(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "reduceShared");
    set(&s, "smsp__sass_data_bytes_mem_shared.sum", 0.8304 * 128 * 0.7 * SMS * CYCLES);
    set(&s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 0.7 * SMS * CYCLES);
    const struct gp_instruction_counts even[] = {
        {0, 0x10, {[GP_COUNT_WAVEFRONTS] = 166320000, [GP_COUNT_WAVEFRONTS_IDEAL] = 166320000}}};
    struct gp_sources *sources = count_instructions("reduceShared", even, 1);
    first_advice_is(&s, sources, "l1", NULL);
    gp_sources_free(sources);
    const struct gp_instruction_counts conflicts[] = {
        {0, 0x10, {[GP_COUNT_WAVEFRONTS] = 166320000, [GP_COUNT_WAVEFRONTS_IDEAL] = 83160000}}};
    sources = count_instructions("reduceShared", conflicts, 1);
    first_advice_is(&s, sources, "l1", "bank_conflicts");
    gp_sources_free(sources);
}

/* The gain of that rule, 0 where it has no answer. */
static double gain_of(const struct found *f, const char *rule)
{
    for (size_t i = 0; i < f->findings.advice.count; i++)
        if (strcmp(f->findings.advice.list[i].rule->name, rule) == 0)
            return f->findings.advice.list[i].gain;
    return 0;
}

/* A wavefront holds its warp up for two cycles, so that a small grid gains as its SMs do; one
 * that fills the GPU hides it behind other warps. */
static void bank_conflicts_of_few_warps_cost_two_cycles_each(void **state)
{
    (void)state;
    static const struct {
        unsigned blocks;
        double repeats, gain;
    } cases[] = {
        {1, 0.25 * CYCLES, 0.5},            /* half of the time of its one SM */
        {10, 10 * 0.125 * CYCLES, 0.25},    /* a quarter of that of ten */
        {132 * 80, SMS * 0.2 * CYCLES, 0.4} /* of all of them: no more than there are */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint64_t repeats = (uint64_t)cases[i].repeats;
        const struct gp_instruction_counts conflicts[] = {
            {0,
             0x10,
             {[GP_COUNT_WAVEFRONTS] = 2 * repeats, [GP_COUNT_WAVEFRONTS_IDEAL] = repeats}}};
        struct gp_sources *sources = count_instructions("k", conflicts, 1);
        struct sample s;
        struct found f;
        make_sample(&s, "k");
        s.launch.grid[0] = cases[i].blocks;
        set(&s, "smsp__inst_executed.sum", 0.2 * 4 * cases[i].blocks * 1e3);
        set(&s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 2 * cases[i].repeats);
        find(&f, &s, sources);
        if (fabs(gain_of(&f, "bank_conflicts") - cases[i].gain) > 1e-6)
            fail_msg("%u blocks gain %g", cases[i].blocks, gain_of(&f, "bank_conflicts"));
        forget(&f);
        gp_sources_free(sources);
    }
}

static void the_limit_of_occupancy_is_named_where_warps_wait(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    s.launch.block[0] = 16;
    first_advice_is(&s, NULL, "latency", "small_blocks");
    make_sample(&s, "k");
    s.launch.registers = 128;
    set(&s, "sm__warps_active.avg.pct_of_peak_sustained_active", 24);
    first_advice_is(&s, NULL, "latency", "occupancy_registers");
    make_sample(&s, "k");
    s.launch.shared_static = 41472;
    s.launch.shared_dynamic = 40000;
    s.launch.max_shared_dynamic = 40000;
    set(&s, "sm__warps_active.avg.pct_of_peak_sustained_active", 24);
    first_advice_is(&s, NULL, "latency", "occupancy_shared");
}

static bool is_advised(const struct sample *s, const char *rule)
{
    struct found f;
    bool found = false;
    find(&f, s, NULL);
    for (size_t i = 0; i < f.findings.advice.count; i++)
        found = found || strcmp(f.findings.advice.list[i].rule->name, rule) == 0;
    forget(&f);
    return found;
}

static void uneven_sms_are_named(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    s.launch.block[0] = 1024;
    s.launch.registers = 64;
    s.launch.grid[0] = 133;
    set(&s, "smsp__inst_executed.sum", 0.7 * 4 * SMS * CYCLES);
    set(&s, "sm__cycles_active.avg", CYCLES / 1.98);
    first_advice_is(&s, NULL, "issue", "tail");
    s.launch.grid[0] = 1320;
    first_advice_is(&s, NULL, "issue", "imbalance");
    /* One block more than all SMs hold: the last wave is short, as the block has an SM alone. */
    make_sample(&s, "k");
    s.launch.grid[0] = 132 * 8 + 1;
    set(&s, "sm__cycles_active.max", 1.13 * CYCLES);
    set(&s, "gpc__cycles_elapsed.max", 1.13 * CYCLES);
    first_advice_is(&s, NULL, "latency", "tail");
    s.launch.grid[0] = 132 * 80 + 1;
    assert_false(is_advised(&s, "tail"));
}

static double gain_of_rule(const struct sample *s, const char *rule)
{
    struct found f;
    double gain = -1;
    find(&f, s, NULL);
    for (size_t i = 0; i < f.findings.advice.count; i++)
        if (strcmp(f.findings.advice.list[i].rule->name, rule) == 0)
            gain = f.findings.advice.list[i].gain;
    forget(&f);
    return gain;
}

/* DRAM and L2 have as much to do on more SMs, and a pipe where SMs share the work evenly. */
static void a_gain_leaves_other_units_their_time(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    s.launch.grid[0] = 16;
    assert_true(fabs(gain_of_rule(&s, "small_grid") - (1 - 16. / 132)) < 1e-9);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 45);
    assert_true(fabs(gain_of_rule(&s, "small_grid") - 0.5) < 1e-9);
    make_sample(&s, "k");
    s.launch.grid[0] = 60;
    s.launch.block[0] = 16;
    assert_true(fabs(gain_of_rule(&s, "partial_warps") - 0.5) < 1e-9);
    set(&s, "dram__bytes_read.sum", 2.4e9);
    const double rest = gain_of_rule(&s, "partial_warps");
    assert_true(rest > 0.4 && rest < 0.47);
    for (unsigned grid = 133; grid <= 1320; grid += 1320 - 133) {
        make_sample(&s, "k");
        s.launch.block[0] = 1024;
        s.launch.registers = 64;
        s.launch.grid[0] = grid;
        set(&s, "sm__cycles_active.avg", CYCLES / 1.98);
        const char *rule = grid == 133 ? "tail" : "imbalance";
        set(&s, "smsp__inst_executed.sum", 0.1 * 4 * SMS * CYCLES);
        assert_true(fabs(gain_of_rule(&s, rule) - (1 - 1 / 1.98)) < 1e-9);
        set(&s, "smsp__inst_executed.sum", 0.7 * 4 * SMS * CYCLES);
        assert_true(fabs(gain_of_rule(&s, rule) - (1 - 0.7 / 0.95)) < 1e-9);
    }
}

static void divergence_atomics_and_local_memory_are_found(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "smsp__inst_executed.sum", 0.8 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed.sum", 16 * 0.8 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed_pred_on.sum", 16 * 0.8 * 4 * SMS * CYCLES);
    const struct gp_instruction_counts parted[] = {
        {0, 0x40, {[GP_COUNT_BRANCHES] = 1000, [GP_COUNT_DIVERGENT] = 900}}};
    struct gp_sources *sources = count_instructions("k", parted, 1);
    first_advice_is(&s, sources, "issue", "divergence");
    gp_sources_free(sources);
    make_sample(&s, "k");
    set(&s, "smsp__sass_inst_executed_op_global_red.sum", CYCLES / 2);
    first_advice_is(&s, NULL, "latency", "atomics");
    make_sample(&s, "k");
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_ld.sum", 1e8);
    first_advice_is(&s, NULL, "latency", "local_memory");
}

/* The first finding has this rule and this gain. */
static void gain_is(const struct sample *s, struct gp_sources *sources, const char *rule,
                    double gain)
{
    struct found f;
    find(&f, s, sources);
    assert_true(f.findings.advice.count > 0);
    const struct gp_advice *a = &f.findings.advice.list[0];
    assert_string_equal(a->rule->name, rule);
    assert_true(a->up_to);
    if (fabs(a->kernel_gain - gain) > 1e-3)
        fail_msg("%s: %g instead of %g", rule, a->kernel_gain, gain);
    forget(&f);
}

/* L1 is busy by half and the kernel waits: without the excess it may wait for nothing. */
static void slack_is_not_taken_to_stay(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "smsp__inst_executed.sum", 0.01 * 4 * SMS * CYCLES);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 45);
    set(&s, "dram__bytes_read.sum", 1e8);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 45);
    set(&s, "dram__bytes_read.sum", 1e8);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 1e7);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 1e8);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 4e8);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e8);
    const struct gp_instruction_counts counts[] = {
        {0, 0x10, {[GP_COUNT_SECTORS] = 100000000, [GP_COUNT_SECTORS_IDEAL] = 12500000}}};
    struct gp_sources *sources = count_instructions("k", counts, 1);
    gain_is(&s, sources, "uncoalesced", 1 - 0.5 / 8);
    gp_sources_free(sources);
}

/* Instructions that move data to local memory go with it, arithmetic does not. */
static void local_memory_takes_its_instructions_along(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_local_op_ld.sum", 1e8);
    set(&s, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 32 * 0.095 * 4 * SMS * CYCLES);
    struct found f;
    find(&f, &s, NULL);
    double fp32 = NAN;
    for (size_t i = 0; i < f.rules->unit_count; i++)
        if (strcmp(f.rules->units[i].name, "fp32") == 0)
            fp32 = f.findings.bounds[0].units[i];
    forget(&f);
    assert_true(fp32 > 0.05 && fp32 < 0.15);
    gain_is(&s, NULL, "local_memory", 1 - fp32);
}

/* A sum that was made in the block first. */
static void one_atomic_for_each_block_is_no_defect(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    s.launch.grid[0] = CYCLES / 8;
    set(&s, "smsp__sass_inst_executed_op_global_red.sum", CYCLES / 8);
    first_advice_is(&s, NULL, "latency", "latency");
    set(&s, "smsp__sass_inst_executed_op_global_red.sum", CYCLES);
    first_advice_is(&s, NULL, "latency", "atomics");
}

/* It may be a product of matrices: without its code nobody knows, nor whether it is on the tensor
 * cores already. */
static void no_product_is_said_without_the_code(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "k");
    s.launch.registers = 128;
    set(&s, "sm__warps_active.avg.pct_of_peak_sustained_active", 24);
    set(&s, "smsp__inst_executed.sum", 0.5 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed.sum", 32 * 0.5 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed_pred_on.sum", 32 * 0.5 * 4 * SMS * CYCLES);
    set(&s, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 32 * 0.45 * 4 * SMS * CYCLES);
    set(&s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", 0.5 * SMS * CYCLES);
    first_advice_is(&s, NULL, "latency", "occupancy_registers");
}

/* A launch of `blocks` blocks of 32 threads in which `lanes` of each warp work. */
static void make_warps_of_lanes(struct sample *s, unsigned blocks, double lanes)
{
    make_sample(s, "k");
    s->launch.grid[0] = blocks;
    s->launch.block[0] = 32;
    set(s, "smsp__inst_executed.sum", 0.01 * 4 * SMS * CYCLES);
    set(s, "smsp__thread_inst_executed.sum", lanes * 0.01 * 4 * SMS * CYCLES);
    set(s, "smsp__thread_inst_executed_pred_on.sum", lanes * 0.01 * 4 * SMS * CYCLES);
}

/* As myocyte does, in two blocks; and as lud_internal does not. */
static bool says(const struct found *f, const char *rule)
{
    for (size_t i = 0; i < f->findings.advice.count; i++)
        if (strcmp(f->findings.advice.list[i].rule->name, rule) == 0)
            return true;
    return false;
}

/* Stores that begin inside a sector, beside two aligned loads: 1 sector of 13. It costs time where
 * L2 is the bound, and none where warps wait. */
static void misaligned_is_said_where_l2_is_the_bound(void **state)
{
    (void)state;
    const struct gp_instruction_counts counts[] = {
        {.offset = 0x10,
         .values = {[GP_COUNT_SECTORS] = 8000000, [GP_COUNT_SECTORS_IDEAL] = 8000000}},
        {.offset = 0x20,
         .values = {[GP_COUNT_SECTORS] = 5000000, [GP_COUNT_SECTORS_IDEAL] = 4000000}},
    };
    struct gp_sources *sources = count_instructions("k", counts, 2);
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 70);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 13e6);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 8e6);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 5e6);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 4e6);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 32 * 8e6);
    set(&s, "smsp__sass_data_bytes_mem_global_op_st.sum", 32 * 4e6);
    find(&f, &s, sources);
    assert_string_equal(f.findings.bounds[0].name, "l2");
    assert_true(says(&f, "misaligned"));
    assert_true(f.findings.advice.list[0].gain <= 0.26);
    forget(&f);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 40);
    find(&f, &s, sources);
    assert_string_equal(f.findings.bounds[0].name, "latency");
    assert_false(says(&f, "misaligned"));
    forget(&f);
    gp_sources_free(sources);
}

/* Lanes that are off are that share of the work, and no more, also where a warp mostly waits. */
static void divergence_gains_the_lanes_that_are_off(void **state)
{
    (void)state;
    const struct gp_instruction_counts counts[] = {
        {.offset = 0x10, .values = {[GP_COUNT_BRANCHES] = 1000, [GP_COUNT_DIVERGENT] = 500}}};
    struct gp_sources *sources = count_instructions("k", counts, 1);
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    set(&s, "smsp__inst_executed.sum", 0.01 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed.sum", 32 * 0.4 * 0.01 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed_pred_on.sum", 32 * 0.4 * 0.01 * 4 * SMS * CYCLES);
    find(&f, &s, sources);
    assert_string_equal(f.findings.bounds[0].name, "latency");
    assert_true(says(&f, "divergence"));
    for (size_t i = 0; i < f.findings.advice.count; i++)
        if (strcmp(f.findings.advice.list[i].rule->name, "divergence") == 0)
            assert_true(f.findings.advice.list[i].gain <= 0.6 + 1e-9);
    forget(&f);
    gp_sources_free(sources);
}

/* Neighbours that each thread loads anew, by so many wavefronts of L1: of 100 sectors `needed` were
 * asked for, and `shared` wavefronts are of shared memory. */
static void sample_neighbours(struct sample *s, double needed, double shared)
{
    const double wavefronts = 0.9 * SMS * CYCLES - shared, sectors = 4 * wavefronts;
    make_sample(s, "k");
    set(s, "smsp__sass_inst_executed_op_global_ld.sum", wavefronts);
    set(s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors);
    set(s, "smsp__sass_l1tex_tags_mem_global.sum", wavefronts);
    set(s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 32 * sectors * needed / 100);
    set(s, "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum", shared);
    set(s, "lts__t_sectors_srcunit_tex.sum", sectors / 50);
    set(s, "l1tex__t_sectors.sum", sectors);
    set(s, "l1tex__t_sector_hit_rate.pct", 98);
}

static void neighbours_are_reused_where_they_are_misaligned(void **state)
{
    (void)state;
    static const struct {
        double needed, shared; /* of the wavefronts, from 0 to 1 */
        bool is_reuse;
    } cases[] = {{100, 0, true}, {83, 0, true}, {40, 0, false}, {83, 0.9, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct gp_instruction_counts counts[] = {
            {.offset = 0x10,
             .values = {[GP_COUNT_SECTORS] = 1000000,
                        [GP_COUNT_SECTORS_IDEAL] = (uint64_t)(1e4 * cases[i].needed)}}};
        struct gp_sources *sources = count_instructions("k", counts, 1);
        struct sample s;
        struct found f;
        sample_neighbours(&s, cases[i].needed, cases[i].shared * 0.9 * SMS * CYCLES);
        find(&f, &s, sources);
        assert_string_equal(f.findings.bounds[0].name, "l1");
        if (says(&f, "reuse") != cases[i].is_reuse)
            fail_msg("case %zu", i);
        if (cases[i].is_reuse)
            assert_string_equal(f.findings.advice.list[0].rule->name, "reuse");
        forget(&f);
        gp_sources_free(sources);
    }
}

/* The figure of the evidence is the one that the table shows, not that over its ceiling. */
static void waiting_names_the_use_of_the_busiest_unit(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    set(&s, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 24);
    find(&f, &s, NULL);
    assert_string_equal(f.findings.bounds[0].unit, "tensor cores");
    assert_string_equal(f.findings.advice.list[0].rule->name, "latency");
    assert_non_null(strstr(f.findings.advice.list[0].evidence, "the busiest unit works at 24.0 %"));
    assert_null(f.findings.advice.list[0].where);
    forget(&f);
}

static void one_lane_at_work_is_said_under_any_bound(void **state)
{
    (void)state;
    struct sample s;
    make_warps_of_lanes(&s, 2, 1.06);
    first_advice_is(&s, NULL, "small", "small_grid");
    assert_true(is_advised(&s, "single_lanes"));
    make_warps_of_lanes(&s, 132 * 80, 1.06);
    assert_true(is_advised(&s, "single_lanes"));
    make_warps_of_lanes(&s, 132 * 80, 32);
    assert_false(is_advised(&s, "single_lanes"));
    assert_false(is_advised(&s, "divergence"));
}

/* Larger blocks of a grid that does not fill the GPU would fill even less of it. */
static void small_blocks_matter_where_there_are_many(void **state)
{
    (void)state;
    struct sample s;
    make_warps_of_lanes(&s, 2, 32);
    assert_false(is_advised(&s, "small_blocks"));
    make_warps_of_lanes(&s, 132 * 80, 32);
    assert_true(is_advised(&s, "small_blocks"));
    /* gaussian's Fan2: blocks of 4 x 4, and over within 5 us. */
    make_warps_of_lanes(&s, 64, 16);
    s.launch.grid[1] = 64;
    s.launch.block[0] = s.launch.block[1] = 4;
    set(&s, "gpu__time_duration.sum", 4e3);
    set(&s, "smsp__inst_executed.sum", 0.05 * 4 * SMS * CYCLES * 4e-3);
    first_advice_is(&s, NULL, "launch", "small_blocks");
    /* nw: half of the lanes of a few warps. */
    make_sample(&s, "k");
    s.launch.grid[0] = 60;
    s.launch.block[0] = 16;
    assert_true(is_advised(&s, "partial_warps"));
}

/* Where it was counted why warps wait, that is said instead of that they do. */
static void reasons_to_wait_are_said_where_they_were_counted(void **state)
{
    (void)state;
    static const struct {
        const char *reason, *rule;
    } waits[] = {{"long_scoreboard", "memory_latency"},
                 {"short_scoreboard", "shared_latency"},
                 {"mio_throttle", "shared_latency"},
                 {"wait", "dependency"},
                 {"barrier", "barriers"},
                 {"membar", "fences"},
                 {"lg_throttle", "memory_queue"},
                 {"math_pipe_throttle", "busy_pipe"},
                 {"no_instruction", "instruction_fetch"},
                 {"imc_miss", "constants"}};
    struct sample s;
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        char name[80];
        make_sample_of(&s, "k", "default,stalls");
        set(&s, "sm__warps_active.sum", 1e9);
        snprintf(name, sizeof(name), "smsp__warps_issue_stalled_%s.sum", waits[i].reason);
        set(&s, name, 0.6e9);
        first_advice_is(&s, NULL, "latency", waits[i].rule);
        assert_false(is_advised(&s, "latency"));
    }
    make_sample_of(&s, "k", "default,stalls");
    set(&s, "sm__warps_active.sum", 1e9);
    set(&s, "smsp__warps_issue_stalled_barrier.sum", 0.6e9);
    gain_is(&s, NULL, "barriers", 0.6);
    make_sample(&s, "k");
    first_advice_is(&s, NULL, "latency", "latency");
}

static void kernels_of_libraries_are_known_by_their_names(void **state)
{
    (void)state;
    static const char *const theirs[] = {
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_ffma_kernel__5x_cublas",
        "nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT",
        "ampere_sgemm_128x64_tn",
        "void gemv2T_kernel_val<int, int, float>",
        "void gemmSN_NN_kernel<float, 128, 2, 4>",
        "void internal::gemvx::kernel<int, int, float>",
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm>",
        "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>",
        "void implicit_convolve_sgemm<float, float, 128>",
    };
    static const char *const ours[] = {"gemm_kernel", "reduce",
                                       "void at::native::elementwise_kernel<128, 4>", "convolution",
                                       "gemv"};
    for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
        if (!gp_is_library_kernel(theirs[i]))
            fail_msg("%s is a library's", theirs[i]);
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (gp_is_library_kernel(ours[i]))
            fail_msg("%s is no library's", ours[i]);
}

/* The advice for a program of several kernels. */
struct advised {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_rules *rules;
    struct gp_findings findings;
};

static void begin_advised(struct advised *a)
{
    a->metrics = shipped();
    a->summary = gp_summary_new(a->metrics);
    gp_summary_device(a->summary, &h200);
}

/* So many launches of a kernel, each of so many nanoseconds, in which the issue slots are used to
 * half of their ceiling. */
static void launch_often_by(struct advised *a, const char *kernel, double ns, int times, int graph)
{
    struct sample s;
    make_sample(&s, kernel);
    s.launch.graph = graph;
    set(&s, "gpu__time_duration.sum", ns);
    set(&s, "smsp__inst_executed.sum", 0.475 * 4 * SMS * CYCLES * ns / 1e6);
    for (int i = 0; i < times; i++)
        gp_summary_launch(a->summary, &s.launch);
}

static void find_advice(struct advised *a)
{
    struct gp_text problems = {0};
    assert_true(gp_rows_make(&a->rows, a->summary));
    a->rules = gp_rules_open(a->metrics, &problems);
    assert_true(gp_findings_make(&a->findings, a->rules, &a->rows, NULL, NULL));
}

static void end_advised(struct advised *a)
{
    gp_findings_free(&a->findings);
    gp_rules_close(a->rules);
    gp_rows_free(&a->rows);
    gp_summary_free(a->summary);
    gp_metrics_close(a->metrics);
}

static void launch_often(struct advised *a, const char *kernel, double ns, int times)
{
    launch_often_by(a, kernel, ns, times, 0);
}

static bool says_launch_overhead(const struct advised *a)
{
    for (size_t i = 0; i < a->findings.advice.count; i++)
        if (strcmp(a->findings.advice.list[i].rule->name, "launch_overhead") == 0)
            return true;
    return false;
}

/* The names of the rules for a kernel with half of its lanes off, in the order of the advice. */
static void rules_of(const char *kernel, char *names, size_t size)
{
    struct sample s;
    struct advised a;
    make_sample(&s, kernel);
    s.launch.block[0] = 16;
    begin_advised(&a);
    gp_summary_launch(a.summary, &s.launch);
    find_advice(&a);
    names[0] = '\0';
    for (size_t i = 0; i < a.findings.advice.count; i++) {
        strncat(names, i ? " " : "", size - strlen(names) - 1);
        strncat(names, a.findings.advice.list[i].rule->name, size - strlen(names) - 1);
    }
    end_advised(&a);
}

/* Nobody changes the code of PyTorch's kernels for a training: advice is for the caller. */
static void kernels_of_frameworks_have_advice_for_their_callers(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *rules;
    } cases[] = {
        {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(int)>"
         "(int)",
         "tensor_copies"},
        {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float>>(int)",
         "separate_elementwise"},
        {"void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<long>>(int)",
         "tensor_fills"},
        {"void at::native::elementwise_kernel<128, 2, masked_fill_kernel(int)>(int)",
         "separate_elementwise"},
        {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
         "BinaryOpScalarFunctor<float>>(int)",
         "separate_optimizer"},
        {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
         "FusedOptimizerTensorListMetadata<4>, at::native::FusedAdamMathFunctor<float>>(int)",
         ""},
        {"the_programs_own(int)", "small_blocks"},
        {"void at::native::reduce_kernel<512, 1, float>(int)", ""},
        {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char names[256];
        rules_of(cases[i].kernel, names, sizeof(names));
        if (strcmp(names, cases[i].rules) != 0)
            fail_msg("%s: %s, and not %s", cases[i].kernel, names, cases[i].rules);
    }
}

/* A name and a time say enough for some advice; where the bound counts there is none. */
static void a_bound_that_is_not_known_hides_no_advice_under_any(void **state)
{
    (void)state;
    struct sample s;
    struct advised a;
    make_sample(&s, "void at::native::elementwise_kernel<direct_copy_kernel_cuda(int)>(int)");
    const struct gp_counter time = {.name = "gpu__time_duration.sum", .value = 1e6};
    s.launch.counters = &time;
    s.launch.counter_count = 1;
    begin_advised(&a);
    gp_summary_launch(a.summary, &s.launch);
    s.launch.kernel = "the_programs_own(int)";
    gp_summary_launch(a.summary, &s.launch);
    find_advice(&a);
    assert_int_equal(a.findings.group_bounds[0].kind, GP_BOUND_UNKNOWN);
    assert_int_equal(a.findings.advice.count, 1);
    assert_string_equal(a.findings.advice.list[0].rule->name, "tensor_copies");
    end_advised(&a);
}

/* A time and a grid of so few blocks say that it is too small. */
static void a_grid_of_few_blocks_needs_no_counters(void **state)
{
    (void)state;
    struct sample s;
    struct advised a;
    make_sample(&s, "k");
    const struct gp_counter time = {.name = "gpu__time_duration.sum", .value = 1e6};
    s.launch.counters = &time;
    s.launch.counter_count = 1;
    begin_advised(&a);
    for (unsigned blocks = 4; blocks <= 6; blocks++) {
        s.launch.grid[0] = blocks;
        gp_summary_launch(a.summary, &s.launch);
    }
    find_advice(&a);
    for (size_t g = 0; g < a.rows.rows[0].grids; g++) {
        const unsigned blocks = a.rows.groups[g]->launch.grid[0];
        assert_int_equal(a.findings.group_bounds[g].kind,
                         blocks == 4 ? GP_BOUND_SMALL : GP_BOUND_UNKNOWN);
        assert_true(isnan(a.findings.group_bounds[g].closeness));
    }
    end_advised(&a);
}

/* Such advice says no more of a kernel than its name. */
static void advice_that_is_the_same_for_several_kernels_is_one_change(void **state)
{
    (void)state;
    static const char fill[] = "void at::native::vectorized_elementwise_kernel<at::native::"
                               "FillFunctor<%s>>(int)";
    char floats[128], longs[128];
    struct advised a;
    struct gp_remedies c;
    snprintf(floats, sizeof(floats), fill, "float");
    snprintf(longs, sizeof(longs), fill, "long");
    begin_advised(&a);
    launch_often(&a, floats, 20e3, 1);
    launch_often(&a, "void at::native::copy_kernel(int)", 50e3, 1);
    launch_often(&a, longs, 40e3, 1);
    find_advice(&a);
    assert_int_equal(a.findings.advice.count, 3);
    assert_true(gp_remedies_make(&c, &a.findings.advice));
    assert_int_equal(c.count, 2);
    /* Together they are more than the copy, which is first by itself. */
    assert_string_equal(a.findings.advice.list[0].rule->name, "tensor_copies");
    assert_string_equal(c.list[0].first->rule->name, "tensor_fills");
    assert_int_equal(c.list[0].kernels, 2);
    assert_float_equal(c.list[0].gain, 60.0 / 110, 1e-9);
    const struct gp_advice *second =
        gp_remedy_next(&c.list[0], &a.findings.advice, c.list[0].first);
    assert_float_equal(second->gain, 20.0 / 110, 1e-9);
    assert_null(gp_remedy_next(&c.list[0], &a.findings.advice, second));
    assert_int_equal(c.list[1].kernels, 1);
    assert_null(gp_remedy_next(&c.list[1], &a.findings.advice, c.list[1].first));
    gp_remedies_free(&c);
    end_advised(&a);
}

static void rules_are_for_kernels_that_their_globs_name(void **state)
{
    (void)state;
    struct gp_rule rule = {0};
    assert_true(gp_rule_is_of(&rule, "any"));
    rule.kernels = "*copy*, !*fast*,  add ";
    assert_true(gp_rule_is_of(&rule, "a_copy_kernel"));
    assert_false(gp_rule_is_of(&rule, "a_fast_copy_kernel"));
    assert_true(gp_rule_is_of(&rule, "add"));
    assert_false(gp_rule_is_of(&rule, "adder"));
    rule.kernels = "!*fast*";
    assert_false(gp_rule_is_of(&rule, "slow"));
    char longest[400];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    rule.kernels = longest;
    assert_false(gp_rule_is_of(&rule, longest));
}

/* Launches that are in a graph already are not to be put into one; the others are. */
static void launches_of_graphs_are_in_graphs_already(void **state)
{
    (void)state;
    struct advised a;
    begin_advised(&a);
    launch_often_by(&a, "k", 2e3, 200, 1);
    launch_often(&a, "k", 2e3, 50);
    find_advice(&a);
    assert_false(says_launch_overhead(&a));
    end_advised(&a);
    begin_advised(&a);
    launch_often_by(&a, "k", 2e3, 100, 1);
    launch_often(&a, "k", 2e3, 150);
    find_advice(&a);
    assert_true(says_launch_overhead(&a));
    assert_non_null(strstr(a.findings.advice.list[0].evidence, "150 of 250 launches"));
    end_advised(&a);
}

static void many_short_launches_are_the_programs_matter(void **state)
{
    (void)state;
    struct advised a;
    begin_advised(&a);
    launch_often(&a, "k", 2e3, 200);
    find_advice(&a);
    assert_true(a.findings.advice.count > 0);
    const struct gp_advice *first = &a.findings.advice.list[0];
    assert_string_equal(first->rule->name, "launch_overhead");
    assert_null(first->row);
    assert_non_null(strstr(first->evidence, "200 of 200 launches last 2.000 us"));
    /* Its units are busy for half of the time: that work is left. */
    assert_true(fabs(first->gain - 0.5) < 1e-6);
    end_advised(&a);
}

/* Beside a long kernel they are a small part. */
static void short_launches_beside_long_ones_are_a_part(void **state)
{
    (void)state;
    struct advised a;
    begin_advised(&a);
    launch_often(&a, "short", 2e3, 200);
    launch_often(&a, "long", 24.6e6, 1);
    find_advice(&a);
    bool found = false;
    for (size_t i = 0; i < a.findings.advice.count; i++) {
        if (strcmp(a.findings.advice.list[i].rule->name, "launch_overhead") != 0)
            continue;
        found = true;
        /* 200 times 1 of 2 us, of 25 ms: no more than the share that is bound so. */
        assert_true(fabs(a.findings.advice.list[i].gain - 0.008) < 1e-6);
    }
    assert_true(found);
    end_advised(&a);
}

/* ---- rows of several configurations ---------------------------------------------------------- */

/* Findings over several launches, each made of a sample. */
struct several {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_rules *rules;
    struct gp_findings findings;
};

static void begin_several(struct several *s)
{
    s->metrics = selected("default");
    s->summary = gp_summary_new(s->metrics);
    gp_summary_device(s->summary, &h200);
}

static void find_several(struct several *s, struct gp_sources *sources)
{
    struct gp_text problems = {0};
    assert_true(gp_rows_make(&s->rows, s->summary));
    s->rules = gp_rules_open(s->metrics, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(
        gp_findings_make(&s->findings, s->rules, &s->rows, sources ? lines_of : NULL, sources));
}

static void end_several(struct several *s)
{
    gp_findings_free(&s->findings);
    gp_rules_close(s->rules);
    gp_rows_free(&s->rows);
    gp_summary_free(s->summary);
    gp_metrics_close(s->metrics);
}

static const struct gp_advice *advice_of(const struct several *s, const char *rule)
{
    for (size_t i = 0; i < s->findings.advice.count; i++)
        if (strcmp(s->findings.advice.list[i].rule->name, rule) == 0)
            return &s->findings.advice.list[i];
    return NULL;
}

static void take_time(struct sample *s, double ns)
{
    double factor = ns / *counter(s, "gpu__time_duration.sum");
    static const char *const counts[] = {"gpu__time_duration.sum",
                                         "gpc__cycles_elapsed.max",
                                         "sm__cycles_active.avg",
                                         "sm__cycles_active.max",
                                         "smsp__inst_executed.sum",
                                         "smsp__thread_inst_executed.sum",
                                         "smsp__thread_inst_executed_pred_on.sum"};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        *counter(s, counts[i]) *= factor;
}

/* A launch of 6 us on one block, all other SMs idle, beside one of 2 ms that is bound by DRAM. */
static void a_row_is_judged_configuration_by_configuration(void **state)
{
    (void)state;
    struct several s;
    struct sample small, large;
    begin_several(&s);
    make_sample(&small, "copy");
    take_time(&small, 6e3);
    small.launch.grid[0] = 1;
    set(&small, "sm__cycles_active.avg", CYCLES * 6e-3 / SMS);
    gp_summary_launch(s.summary, &small.launch);
    make_sample(&large, "copy");
    take_time(&large, 2e6);
    large.launch.index = 1;
    set(&large, "dram__bytes_read.sum", 4.2e9);
    set(&large, "dram__bytes_write.sum", 4.2e9);
    gp_summary_launch(s.summary, &large.launch);
    find_several(&s, NULL);
    assert_int_equal(s.rows.count, 1);
    const struct gp_bound *b = &s.findings.bounds[0];
    assert_string_equal(b->name, "dram");
    assert_true(fabs(b->share - 2e6 / 2.006e6) < 1e-9);
    assert_true(b->utilization > 0.8);
    assert_string_equal(s.findings.group_bounds[0].name, "small");
    assert_null(advice_of(&s, "imbalance"));
    assert_null(advice_of(&s, "small_grid")); /* of 0.3 % of the time */
    end_several(&s);
}

/* Gains are added up over the grids where the rule holds, each with its own time. */
/* The use of units stands for all of a row's time, also for that under another bound. */
static void a_row_uses_units_in_the_mean_of_its_time(void **state)
{
    (void)state;
    struct several s;
    begin_several(&s);
    for (size_t i = 0; i < 2; i++) {
        struct sample one;
        make_sample(&one, "copy");
        take_time(&one, i ? 3e6 : 1e6);
        one.launch.index = i;
        one.launch.grid[0] += (unsigned)i;
        set(&one, "dram__bytes_read.sum", i ? 3 * 4.2e9 : 4.2e9 / 10);
        set(&one, "dram__bytes_write.sum", 0);
        gp_summary_launch(s.summary, &one.launch);
    }
    find_several(&s, NULL);
    const struct gp_bound *b = &s.findings.bounds[0], *of = s.findings.group_bounds;
    assert_int_equal(s.rows.count, 1);
    double dram;
    assert_true(gp_rows_mean(&s.rows, &s.rows.rows[0], "bound_dram", &dram));
    assert_string_equal(of[0].name, "latency");
    assert_string_equal(b->name, "dram");
    assert_true(fabs(b->share - 0.75) < 1e-9);
    assert_true(fabs(b->utilization - dram) < 1e-9);
    assert_true(b->utilization < of[1].utilization);
    end_several(&s);
}

static void gains_of_grids_are_added_up(void **state)
{
    (void)state;
    struct several s;
    struct sample one;
    begin_several(&s);
    make_sample(&one, "k"); /* 1 ms, bound by latency */
    gp_summary_launch(s.summary, &one.launch);
    one.launch.grid[0] = 33; /* of 132 SMs */
    one.launch.index = 1;
    gp_summary_launch(s.summary, &one.launch);
    take_time(&one, 2e6);
    one.launch.grid[0] = 66;
    one.launch.index = 2;
    gp_summary_launch(s.summary, &one.launch);
    find_several(&s, NULL);
    const struct gp_advice *a = advice_of(&s, "small_grid");
    assert_non_null(a);
    assert_int_equal(a->group_count, 2);
    assert_true(fabs(a->gain - (1 * 0.75 + 2 * 0.5) / 4) < 1e-9);
    assert_true(fabs(a->kernel_gain - a->gain) < 1e-9);
    assert_non_null(strstr(a->evidence, "blocks in the grid: 66"));
    struct gp_text text = {0};
    gp_advice_grids(&s.rows, a, &text);
    assert_string_equal(gp_text_string(&text), "grid 66 (as 1 of the other 2): ");
    gp_text_free(&text);
    a = advice_of(&s, "latency");
    assert_non_null(a);
    assert_int_equal(a->group_count, 1);
    assert_true(a->gain <= 0.25);
    end_several(&s);
}

/* 1056 blocks for 132 SMs, of which one has ten times the work. */
static void one_long_block_is_an_imbalance(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "busy");
    s.launch.grid[0] = 1056;
    s.launch.block[0] = 128;
    set(&s, "sm__cycles_active.max", 4.08 * CYCLES / 4.08);
    set(&s, "sm__cycles_active.avg", CYCLES / 4.08);
    first_advice_is(&s, NULL, "latency", "imbalance");
    /* One block more than SMs: the number of blocks explains it. */
    s.launch.grid[0] = 133;
    set(&s, "sm__cycles_active.avg", CYCLES / 1.9);
    first_advice_is(&s, NULL, "latency", "tail");
    /* One more than there is room for at once. */
    s.launch.grid[0] = 132 * 16 + 1;
    first_advice_is(&s, NULL, "latency", "tail");
    /* Fewer than SMs: the others idle, also where the blocks differ. */
    s.launch.grid[0] = 100;
    set(&s, "sm__cycles_active.avg", CYCLES / 10);
    first_advice_is(&s, NULL, "small", "small_grid");
}

/* Sixteen blocks over interleaved structs: most of each sector is moved in vain. */
static void small_grids_hide_nothing_inside_their_blocks(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s, "_Z11interleavedv");
    s.launch.grid[0] = 16;
    set(&s, "smsp__inst_executed.sum", 0.2 * 4 * 16 * CYCLES);
    set(&s, "dram__bytes_read.sum", 4e7);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 1e7);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 4e7);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e7);
    set(&s, "smsp__sass_inst_executed_op_global_ld.sum", 3e5);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 1e7);
    const struct gp_instruction_counts counts[] = {
        {0, 0x10, {[GP_COUNT_SECTORS] = 10000000, [GP_COUNT_SECTORS_IDEAL] = 1250000}}};
    struct gp_sources *sources = count_instructions("_Z11interleavedv", counts, 1);
    struct found f;
    find(&f, &s, sources);
    assert_string_equal(f.findings.bounds[0].name, "small");
    bool coalesced = true, grid = false;
    for (size_t i = 0; i < f.findings.advice.count; i++) {
        coalesced = coalesced && strcmp(f.findings.advice.list[i].rule->name, "uncoalesced") != 0;
        grid = grid || strcmp(f.findings.advice.list[i].rule->name, "small_grid") == 0;
    }
    assert_true(!coalesced && grid);
    forget(&f);
    gp_sources_free(sources);
}

/* One kernel tried with four blocks: the fastest is named, and advised on alone. */
/* How many tunings there are, where a kernel takes 1 ms with one block and 2 ms with another. */
static size_t tunings_of(const char *kernel)
{
    struct several s;
    begin_several(&s);
    for (unsigned i = 1; i < 3; i++) {
        struct sample one;
        make_sample(&one, kernel);
        take_time(&one, 1e6 * i);
        one.launch.index = i;
        one.launch.block[0] = 64 * i;
        set(&one, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1e6);
        gp_summary_launch(s.summary, &one.launch);
    }
    find_several(&s, NULL);
    const size_t count = s.findings.tunings.count;
    end_several(&s);
    return count;
}

/* A library's grids are those of the tensors' shapes; XLA's autotuner tries several for one. */
static void shapes_of_tensors_are_no_tuning(void **state)
{
    (void)state;
    assert_int_equal(tunings_of("norm"), 1);
    assert_int_equal(tunings_of("gemm_fusion_dot_1"), 1);
    assert_int_equal(tunings_of("void at::native::reduce_kernel<512>(int)"), 0);
    assert_int_equal(tunings_of("ampere_sgemm_128x64_tn"), 0);
}

static void tunings_name_the_fastest_configuration(void **state)
{
    (void)state;
    static const struct {
        unsigned block, grid;
        double us;
    } tried[] = {{1024, 8, 2070}, {512, 16, 1000}, {64, 128, 213},
                 {32, 256, 230},  {128, 64, 214},  {256, 32, 220}};
    struct several s;
    begin_several(&s);
    for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
        struct sample one;
        make_sample(&one, "norm");
        take_time(&one, tried[i].us * 1e3);
        one.launch.index = i;
        one.launch.grid[0] = tried[i].grid;
        one.launch.block[0] = tried[i].block;
        set(&one, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1e6);
        set(&one, "smsp__sass_data_bytes_mem_global_op_ld.sum", 4e6 + (double)i);
        gp_summary_launch(s.summary, &one.launch);
    }
    find_several(&s, NULL);
    assert_int_equal(s.findings.tunings.count, 1);
    struct gp_text text = {0};
    gp_tuning_text(&s.rows, &s.findings.tunings.list[0], "norm", &text);
    assert_string_equal(gp_text_string(&text),
                        "norm: 6 configurations do the same work. [64] is the fastest with 213.0 "
                        "us; 2 take less than 5 % longer; [32] takes 1.08 times, [512] takes 4.69 "
                        "times, [1024] takes 9.72 times as long");
    gp_text_free(&text);
    assert_true(s.findings.advice.count > 0);
    for (size_t i = 0; i < s.findings.advice.count; i++)
        assert_int_equal(s.findings.advice.list[i].row->launch->block[0], 64);
    end_several(&s);
}

/* The line on a tuning names the GPU, and the heading of the advice says which time gains are of.
 */
static void the_screen_says_that_gains_assume_the_fastest_configuration(void **state)
{
    (void)state;
    for (int tuned = 0; tuned < 2; tuned++) {
        struct several s;
        struct gp_text out = {0};
        begin_several(&s);
        struct gp_device second = h200;
        second.ordinal = 1;
        gp_summary_device(s.summary, &second);
        for (size_t i = 0; i < 4; i++) {
            struct sample one;
            make_sample(&one, "norm");
            take_time(&one, i % 2 ? 2e6 : 1e6);
            one.launch.index = i;
            one.launch.device = i / 2;
            one.launch.block[0] = i % 2 ? 64 : 128;
            set(&one, "smsp__sass_data_bytes_mem_global_op_ld.sum", i % 2 && !tuned ? 5e6 : 4e6);
            gp_summary_launch(s.summary, &one.launch);
        }
        gp_table_report(s.summary, &(struct gp_table_options){.top = 20}, &out);
        assert_int_equal(
            strstr(out.data, "\nnorm GPU 0: 2 configurations do the same work") != NULL, tuned);
        assert_int_equal(
            strstr(out.data, "\nnorm GPU 1: 2 configurations do the same work") != NULL, tuned);
        assert_non_null(strstr(out.data, tuned ? " GPU time with the fastest configurations\n"
                                               : "gain of the whole GPU time\n"));
        gp_text_free(&out);
        gp_summary_free(s.summary);
        gp_metrics_close(s.metrics);
    }
}

/* Other work, or as long: nothing to choose from. */
static void other_work_is_no_tuning(void **state)
{
    (void)state;
    struct several s;
    begin_several(&s);
    for (size_t i = 0; i < 3; i++) {
        struct sample one;
        make_sample(&one, "k");
        take_time(&one, i == 1 ? 2e6 : 1e6);
        one.launch.index = i;
        one.launch.block[0] = 64u << i;
        set(&one, "smsp__sass_data_bytes_mem_global_op_ld.sum", i == 1 ? 5e6 : 4e6);
        gp_summary_launch(s.summary, &one.launch);
    }
    find_several(&s, NULL);
    assert_int_equal(s.findings.tunings.count, 0);
    end_several(&s);
}

/* A guess stands behind all that was measured, also with a larger gain. */
static void guesses_stand_last(void **state)
{
    (void)state;
    struct several s;
    struct gp_text problems = {0};
    struct sample one;
    begin_several(&s);
    make_sample(&one, "k");
    gp_summary_launch(s.summary, &one.launch);
    assert_true(gp_rows_make(&s.rows, s.summary));
    static const char text[] =
        "[bound issue]\ntitle = issue\nutilization = bound_issue\nceiling = 1\n"
        "[hunch]\ncondition = share > 0\nguess = yes\nevidence = e\ntext = t\nestimate = 0.9\n"
        "[count]\ncondition = share > 0\nevidence = e\ntext = t\nestimate = 0.1\n"
        "[resort]\ncondition = share > 0\nlast = yes\nevidence = e\ntext = t\nestimate = 0.2\n";
    s.rules = gp_rules_parse(s.metrics, "my.ini", text, sizeof(text) - 1, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(gp_findings_make(&s.findings, s.rules, &s.rows, NULL, NULL));
    assert_int_equal(s.findings.advice.count, 2);
    assert_string_equal(s.findings.advice.list[0].rule->name, "count");
    assert_string_equal(s.findings.advice.list[1].rule->name, "hunch");
    end_several(&s);
}

/* ---- the screen ------------------------------------------------------------------------------ */

/* A launch of 8 us keeps the 2 us that one of no work lasts. */
static void headroom_has_no_time_of_launches(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    take_time(&s, 8000);
    find(&f, &s, NULL);
    assert_int_equal(f.findings.advice.count, 1);
    assert_string_equal(f.findings.advice.list[0].rule->name, "latency");
    const double closeness = f.findings.bounds[0].closeness;
    assert_true(fabs(f.findings.advice.list[0].gain - (0.75 - closeness)) < 1e-9);
    forget(&f);
}

/* 96.43 % saved is 28 times as fast, "96 %" would be 25 times. */
static void bounds_are_rounded_up(void **state)
{
    (void)state;
    struct gp_text out = {0};
    struct sample s;
    make_sample(&s, "k");
    set(&s, "smsp__inst_executed.sum", 0.0319 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed.sum", 32 * 0.0319 * 4 * SMS * CYCLES);
    set(&s, "smsp__thread_inst_executed_pred_on.sum", 32 * 0.0319 * 4 * SMS * CYCLES);
    struct gp_metrics *m = shipped();
    struct gp_summary *summary = gp_summary_new(m);
    gp_summary_device(summary, &h200);
    gp_summary_launch(summary, &s.launch);
    gp_table_report(summary, &(struct gp_table_options){.top = 20}, &out);
    if (!strstr(gp_text_string(&out), "1. up to 96.5 %: k"))
        fail_msg("%s", gp_text_string(&out));
    gp_text_free(&out);
    gp_summary_free(summary);
    gp_metrics_close(m);
    char gain[GP_GAIN_SIZE];
    gp_gain_format(0.9993, true, gain);
    assert_string_equal(gain, "up to 100 %");
    gp_gain_format(0.9989, true, gain);
    assert_string_equal(gain, "up to 99.9 %");
    gp_gain_format(0.0991, true, gain);
    assert_string_equal(gain, "up to 10.0 %");
}

static void grids_have_lines_where_other_things_bound_them(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_summary *summary = gp_summary_new(m);
    struct gp_text out = {0};
    struct sample s;
    make_sample(&s, "k");
    gp_summary_device(summary, &h200);
    gp_summary_launch(summary, &s.launch);
    s.launch.grid[0]++;
    gp_summary_launch(summary, &s.launch);
    gp_table_report(summary, &(struct gp_table_options){.top = 20}, &out);
    assert_null(strstr(out.data, "of these, grid"));
    gp_text_clear(&out);
    s.launch.grid[0] = 3;
    gp_summary_launch(summary, &s.launch);
    gp_table_report(summary, &(struct gp_table_options){.top = 20}, &out);
    const char *small = strstr(out.data, "of these, grid 3\n");
    assert_non_null(small);
    assert_non_null(strstr(out.data, "of these, grid 10560\n"));
    while (small > out.data && small[-1] != '\n')
        small--;
    assert_non_null(strstr(small, "too small"));
    for (const char *line = out.data; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 120);
    gp_text_free(&out);
    gp_summary_free(summary);
    gp_metrics_close(m);
}

/* In a narrow terminal the name has a line of its own. */
static void names_have_40_columns(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    for (uint64_t launches = 1; launches < UINT64_C(1000000000000); launches *= 100) {
        struct gp_summary *summary = gp_summary_new(m);
        struct gp_rows rows;
        struct sample s;
        make_sample(&s, "k");
        gp_summary_device(summary, &h200);
        gp_summary_launch(summary, &s.launch);
        const struct gp_count count = {
            .kernel = "k", .configuration = s.launch.configuration, .launches = launches};
        gp_summary_count(summary, &count);
        assert_true(gp_rows_make(&rows, summary));
        for (size_t width = 60; width < 400; width++) {
            const size_t name = gp_kernel_table_name_width(&rows, 1, width);
            assert_true(name >= 40 && name <= width);
        }
        gp_rows_free(&rows);
        gp_summary_free(summary);
    }
    gp_metrics_close(m);
}

/* FLOP per byte of a kernel that hardly computes: no zero, which would be a kernel that does not.
 */
static void next_to_nothing_is_not_zero(void **state)
{
    (void)state;
    static const struct {
        double flop; /* for 32 MB */
        const char *shown;
    } cases[] = {
        {0, "      0       0    0%"}, {2, " <.001 "}, {15e3, " <.001 "}, {20e3, " 0.00063 "}};
    struct gp_metrics *m = shipped();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_summary *summary = gp_summary_new(m);
        struct gp_text out = {0};
        struct sample s;
        make_sample(&s, "k");
        set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 1e6);
        set(&s, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", cases[i].flop / 2);
        gp_summary_device(summary, &h200);
        gp_summary_launch(summary, &s.launch);
        gp_table_report(summary, &(struct gp_table_options){.top = 20}, &out);
        const char *row = strstr(out.data, "\nk [256]");
        assert_non_null(row);
        row = strchr(row + 1, '\n') + 1;
        const char *shown = strstr(row, cases[i].shown);
        if (!shown || shown > strchr(row, '\n'))
            fail_msg("%g FLOP: %.130s", cases[i].flop, row);
        gp_text_free(&out);
        gp_summary_free(summary);
    }
    gp_metrics_close(m);
}

/* ---- rules of users -------------------------------------------------------------------------- */

static void complains(const char *text, const char *expected)
{
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    struct gp_rules *r = gp_rules_parse(m, "my.ini", text, strlen(text), &problems);
    assert_non_null(r);
    assert_string_equal(gp_text_string(&problems), expected);
    gp_text_free(&problems);
    gp_rules_close(r);
    gp_metrics_close(m);
}

#define RULE "condition = waves < 1\nevidence = e\ntext = t\nestimate = 0.5\n"

static void mistakes_in_rules_are_said_with_their_line(void **state)
{
    (void)state;
    complains("[a]\n" RULE, "");
    complains("[latency]\n" RULE "[latency]\nuse = no\n", "");
    complains("[latency]\n" RULE "[latenc]\nuse = no\n",
              "my.ini:6: there is no rule 'latenc' that 'use = no' could leave out; did you mean "
              "latency?\n");
    complains("[a]\nuse = maybe\n", "my.ini:2: rule a: use: 'maybe' is none of yes, no\n");
    complains("[a]\nlines = wait_loads\n",
              "my.ini:2: rule a: lines: 'wait_loads' is not known; did you mean waits_loads?\n");
    complains("[a]\nlines = waits_loads, sectors, local\n",
              "my.ini:2: rule a: lines: there are too many\n");
    complains("x = 1\n", "my.ini:1: expected a rule's name in brackets first: [my_rule]\n");
    complains("[a\n", "my.ini:1: expected ']' after the rule's name\n");
    complains("[a-b]\n", "my.ini:1: 'a-b' is no name for a rule: use up to 48 letters, digits and "
                         "'_', behind 'bound ' for a unit of the GPU\n");
    complains("[a]\ncondtion = 1\n",
              "my.ini:2: there is no key 'condtion', did you mean condition?\n");
    complains("[a]\nevidence = e\n", "my.ini:1: rule a: there is no 'condition = ...'\n"
                                     "my.ini:1: rule a: there is no 'text = ...'\n"
                                     "my.ini:1: rule a: there is no 'estimate = ...'\n");
    complains("[a]\ncondition = waves\nevidence = e\ntext = t\nestimate = 1\n",
              "my.ini:2: rule a: condition: a condition compares, like 'waves < 1 and sm_busy < "
              "0.5', with < <= > >=\n");
    complains("[a]\ncondition = waves < 1 and wave > 2\nevidence = e\ntext = t\nestimate = 1\n",
              "my.ini:2: rule a: condition: there is no metric or value 'wave'; did you mean "
              "waves?\n");
    complains("[a]\ncondition = waves < 1 and 2 + > 2\nevidence = e\ntext = t\nestimate = 1\n",
              "my.ini:2: rule a: condition: column 19: expected a number, a counter, a fact or a "
              "metric, the formula ends here\n");
    complains(
        "[a]\ncondition = dram__bytes_read.sum < 1\nevidence = e\ntext = t\nestimate = 1\n",
        "my.ini:2: rule a: condition: a rule names metrics, not counters; define a metric for "
        "dram__bytes_read.sum first\n");
    complains("[a]\ncondition = waves < 1\nevidence = {waves\ntext = t\nestimate = 1\n",
              "my.ini:3: rule a: evidence: expected '}' to close '{'\n");
    complains("[bound x]\ntitle = X\nutilization = waves\nceiling = 7\n",
              "my.ini:4: bound x: ceiling: expected a number above 0 and up to 1\n");
    complains("[a]\n" RULE "text = again\n", "my.ini:6: text was already given in line 4\n");
}

static void a_user_switches_a_rule_off_and_adds_one(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpuprof-rules-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "mkdir -p %s/rules", folder);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof(path), "%s/rules/mine.ini", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("[latency]\nuse = no\n[mine]\nunder = latency\ncondition = waves > 1\n"
          "evidence = {waves:ratio} waves\ntext = do it\nestimate = 0.25\n",
          f);
    fclose(f);
    struct sample s;
    struct found found;
    make_sample(&s, "k");
    struct gp_metrics *m = shipped();
    setenv("GPUPROF_METRICS_PATH", folder, 1);
    struct gp_text problems = {0};
    struct gp_rules *rules = gp_rules_open(m, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    unsetenv("GPUPROF_METRICS_PATH");
    find(&found, &s, NULL);
    struct gp_findings own;
    assert_true(gp_findings_make(&own, rules, &found.rows, NULL, NULL));
    assert_int_equal(own.advice.count, 1);
    assert_string_equal(own.advice.list[0].rule->name, "mine");
    assert_string_equal(own.advice.list[0].evidence, "10.0 waves");
    assert_false(own.advice.list[0].up_to);
    gp_findings_free(&own);
    gp_rules_close(rules);
    gp_metrics_close(m);
    forget(&found);
    unlink(path);
    snprintf(path, sizeof(path), "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void names_keep_their_differences(void **state)
{
    (void)state;
    static const char *const names[] = {
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
        "std::array<char*, 3ul> >",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::Half>, "
        "std::array<char*, 3ul> >",
        "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
        "std::array<char*, 1ul> >",
        "void at::native::reduce_kernel<512, 1>",
        "(anonymous namespace)::plain",
        "operator<",
    };
    static const char *const expected[] = {
        "vectorized_elementwise_kernel<.., CUDAFunctor_add<float>, ..>",
        "vectorized_elementwise_kernel<.., CUDAFunctor_add<Half>, ..>",
        "vectorized_elementwise_kernel<.., FillFunctor, ..>",
        "reduce_kernel",
        "plain",
        "operator",
    };
    char *out[6];
    struct gp_kernel_spelling kernels[6];
    for (size_t i = 0; i < 6; i++)
        kernels[i] = (struct gp_kernel_spelling){names[i], names[i], names[i]};
    assert_true(gp_names_distinct(kernels, 6, out));
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(out[i], expected[i]);
        free(out[i]);
    }
}

/* Names that only differ deep inside stay different in a narrow column. */
static void names_that_fit_stay_different(void **state)
{
    (void)state;
    static const char *const long_names[] = {
        "vectorized_elementwise_kernel<0, ..>",
        "vectorized_elementwise_kernel<12, ..>",
        "kernel<Policy_of_a_very_long_name_A, Tile<1>, Epilogue_of_another_long_name>",
        "kernel<Policy_of_a_very_long_name_A, Tile<2>, Epilogue_of_another_long_name>",
        "kernel<Policy_of_a_very_long_name_A, Tile<2>, Epilogue_of_another_long_name>",
        "kernel<Policy_of_a_very_long_name_B, Tile<2>, Epilogue_of_another_long_name>",
        "short",
        "a_name_without_arguments_that_is_much_too_long_1_for_it",
        "a_name_without_arguments_that_is_much_too_long_2_for_it",
    };
    enum { COUNT = sizeof(long_names) / sizeof(long_names[0]) };
    for (size_t width = 60; width >= 12; width -= 4) {
        char *names[COUNT];
        for (size_t i = 0; i < COUNT; i++)
            names[i] = strdup(long_names[i]);
        assert_true(gp_names_fit(names, COUNT, width));
        for (size_t i = 0; i < COUNT; i++) {
            assert_true(strlen(names[i]) <= width);
            for (size_t k = 0; k < i; k++)
                if ((strcmp(names[i], names[k]) == 0) !=
                    (strcmp(long_names[i], long_names[k]) == 0))
                    fail_msg("%zu columns: %s", width, names[i]);
        }
        assert_string_equal(names[6], "short");
        for (size_t i = 0; i < COUNT; i++)
            free(names[i]);
    }
    char *pair[] = {strdup(long_names[0]), strdup(long_names[1])};
    assert_true(gp_names_fit(pair, 2, 28));
    assert_non_null(strstr(pair[0], "<0>"));
    assert_non_null(strstr(pair[1], "<12>"));
    free(pair[0]);
    free(pair[1]);
}

/* The first screen's names of kernels with these mangled names. */
static void are_shown(const char *const *mangled, const char *const *expected, size_t count)
{
    struct gp_kernel_spelling kernels[16];
    char *names[16], *full[16], *brief[16];
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++) {
        full[i] = gp_demangle(mangled[i], GP_NAME_FULL);
        brief[i] = gp_demangle(mangled[i], GP_NAME_BRIEF);
        kernels[i] = (struct gp_kernel_spelling){mangled[i], full[i], brief[i]};
    }
    assert_true(gp_names_distinct(kernels, count, names));
    assert_true(gp_names_fit(names, count, 34));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names[i], expected[i]);
        free(names[i]);
        free(full[i]);
        free(brief[i]);
    }
}

#define IN_VECTORIZED(operation, pointers)                                                 \
    "_ZN2at6native29vectorized_elementwise_kernelILi4E" operation "St5arrayIPcLm" pointers \
    "EEEEviT0_T1_"
#define UNARY(function)                                                                            \
    IN_VECTORIZED("ZZZNS0_" function "ERNS_18TensorIteratorBaseEENKUlvE0_clEvENKUlvE0_clEvEUlfE_", \
                  "2")

/* PyTorch's unary kernels are one template, with lambdas of different functions. */
static void kernels_of_lambdas_have_the_names_of_their_functions(void **state)
{
    (void)state;
    static const char *const unary[] = {UNARY("15exp_kernel_cuda"), UNARY("16tanh_kernel_cuda"),
                                        UNARY("19sigmoid_kernel_cuda"),
                                        UNARY("21threshold_kernel_cuda")};
    static const char *const unary_shown[] = {
        "vectori..._kernel<exp_kernel_cuda>", "vector..._kernel<tanh_kernel_cuda>",
        "vecto...ernel<sigmoid_kernel_cuda>", "vect...rnel<threshold_kernel_cuda>"};
    are_shown(unary, unary_shown, 4);
    static const char *const loop[] = {
        IN_VECTORIZED("NS0_11FillFunctorIfEE", "1"),
        IN_VECTORIZED("NS0_13AUnaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE", "2"),
        IN_VECTORIZED("NS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE", "3"),
        IN_VECTORIZED("ZZZNS0_18GeluCUDAKernelImplERNS_18TensorIteratorBaseENS0_8GeluTypeEENKUlvE0"
                      "_clEvENKUlvE0_clEvEUlfE_",
                      "2"),
        "_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_"
        "functorIfffEclERNS_14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_",
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1"
        "_",
    };
    static const char *const loop_shown[] = {
        "vectorized_e...ntwise_kernel<Fill>", "vectorize...se_kernel<AUnary<Mul>>",
        "vectorize...se_kernel<Binary<Mul>>", "vecto...kernel<GeluCUDAKernelImpl>",
        "reduce_kernel<.., sum_functor>",     "reduce_kernel<.., MeanOps>",
    };
    are_shown(loop, loop_shown, 6);
}

/* A loop of PyTorch's that is there once only. */
static void loops_of_pytorch_have_their_operation(void **state)
{
    (void)state;
    static const char *const mangled[] = {
        IN_VECTORIZED("NS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE", "3"),
        "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1"
        "_",
        "_ZN4mine6kernelINS_7FunctorIfEELi4EEEvT_",
    };
    static const char *const shown[] = {"vectorized_elementwise_kernel<Mul>",
                                        "reduce_kernel<MeanOps>", "kernel"};
    are_shown(mangled, shown, 3);
}

/* Overloads, and kernels of unnamed namespaces in two files. */
static void different_kernels_are_never_shown_alike(void **state)
{
    (void)state;
    static const char *const same[] = {"_Z5scalePfi", "_Z5scalePdi", "_ZN12_GLOBAL__N_14copyEPf",
                                       "_ZN24_GLOBAL__N__5ad98c1e_1_b4copyEPf", "_Z5scalePfi"};
    static const char *const shown[] = {"scale(float*, int)", "scale(double*, int)", "copy",
                                        "copy #2", "scale(float*, int)"};
    are_shown(same, shown, 5);
}

/* Names of one long pattern, in a column that has room for nothing but a number. */
static void the_last_resort_is_a_number(void **state)
{
    (void)state;
    char *names[40], name[80];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "k<a%d, bbbbbbbbbbbbbbbbbbbbbbbbbb%d, c%d>", i % 2, i / 7, i);
        names[i] = strdup(name);
    }
    assert_true(gp_names_fit(names, 40, 5));
    for (int i = 0; i < 40; i++) {
        assert_true(strlen(names[i]) <= 5);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
    }
    for (int i = 0; i < 40; i++)
        free(names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_diagnosis_says_of_units_what_the_default_set_does_not),
        cmocka_unit_test(the_diagnosis_alone_makes_a_bound_known),
        cmocka_unit_test(the_busiest_unit_bounds),
        cmocka_unit_test(a_pipe_is_named_where_issue_slots_are_as_busy),
        cmocka_unit_test(shares_are_those_of_the_kernels_own_time),
        cmocka_unit_test(no_busy_unit_is_latency_few_blocks_are_small_short_ones_launches),
        cmocka_unit_test(units_that_were_not_measured_bound_nothing),
        cmocka_unit_test(idle_units_bound_nothing_where_one_was_not_measured),
        cmocka_unit_test(units_without_the_instructions_for_it_are_idle_unmeasured),
        cmocka_unit_test(no_unit_works_above_its_peak),
        cmocka_unit_test(asynchronous_copies_count_once_in_l1),
        cmocka_unit_test(rows_across_lines_are_no_two_steps),
        cmocka_unit_test(older_profiles_have_their_bounds),
        cmocka_unit_test(a_kernel_at_its_roof_gets_no_advice),
        cmocka_unit_test(scattered_accesses_are_found_with_their_line),
        cmocka_unit_test(bytes_that_the_busy_dram_does_not_move_are_no_waste),
        cmocka_unit_test(a_broadcast_is_no_waste),
        cmocka_unit_test(idle_lanes_are_no_bank_conflicts),
        cmocka_unit_test(bank_conflicts_of_few_warps_cost_two_cycles_each),
        cmocka_unit_test(the_limit_of_occupancy_is_named_where_warps_wait),
        cmocka_unit_test(uneven_sms_are_named),
        cmocka_unit_test(a_gain_leaves_other_units_their_time),
        cmocka_unit_test(divergence_atomics_and_local_memory_are_found),
        cmocka_unit_test(slack_is_not_taken_to_stay),
        cmocka_unit_test(local_memory_takes_its_instructions_along),
        cmocka_unit_test(one_atomic_for_each_block_is_no_defect),
        cmocka_unit_test(no_product_is_said_without_the_code),
        cmocka_unit_test(misaligned_is_said_where_l2_is_the_bound),
        cmocka_unit_test(divergence_gains_the_lanes_that_are_off),
        cmocka_unit_test(neighbours_are_reused_where_they_are_misaligned),
        cmocka_unit_test(waiting_names_the_use_of_the_busiest_unit),
        cmocka_unit_test(one_lane_at_work_is_said_under_any_bound),
        cmocka_unit_test(small_blocks_matter_where_there_are_many),
        cmocka_unit_test(reasons_to_wait_are_said_where_they_were_counted),
        cmocka_unit_test(kernels_of_libraries_are_known_by_their_names),
        cmocka_unit_test(kernels_of_frameworks_have_advice_for_their_callers),
        cmocka_unit_test(a_bound_that_is_not_known_hides_no_advice_under_any),
        cmocka_unit_test(a_grid_of_few_blocks_needs_no_counters),
        cmocka_unit_test(advice_that_is_the_same_for_several_kernels_is_one_change),
        cmocka_unit_test(rules_are_for_kernels_that_their_globs_name),
        cmocka_unit_test(many_short_launches_are_the_programs_matter),
        cmocka_unit_test(launches_of_graphs_are_in_graphs_already),
        cmocka_unit_test(short_launches_beside_long_ones_are_a_part),
        cmocka_unit_test(a_row_is_judged_configuration_by_configuration),
        cmocka_unit_test(a_row_uses_units_in_the_mean_of_its_time),
        cmocka_unit_test(the_screen_says_that_gains_assume_the_fastest_configuration),
        cmocka_unit_test(gains_of_grids_are_added_up),
        cmocka_unit_test(one_long_block_is_an_imbalance),
        cmocka_unit_test(small_grids_hide_nothing_inside_their_blocks),
        cmocka_unit_test(shapes_of_tensors_are_no_tuning),
        cmocka_unit_test(tunings_name_the_fastest_configuration),
        cmocka_unit_test(other_work_is_no_tuning),
        cmocka_unit_test(guesses_stand_last),
        cmocka_unit_test(headroom_has_no_time_of_launches),
        cmocka_unit_test(bounds_are_rounded_up),
        cmocka_unit_test(grids_have_lines_where_other_things_bound_them),
        cmocka_unit_test(names_have_40_columns),
        cmocka_unit_test(next_to_nothing_is_not_zero),
        cmocka_unit_test(mistakes_in_rules_are_said_with_their_line),
        cmocka_unit_test(a_user_switches_a_rule_off_and_adds_one),
        cmocka_unit_test(names_keep_their_differences),
        cmocka_unit_test(names_that_fit_stay_different),
        cmocka_unit_test(kernels_of_lambdas_have_the_names_of_their_functions),
        cmocka_unit_test(loops_of_pytorch_have_their_operation),
        cmocka_unit_test(different_kernels_are_never_shown_alike),
        cmocka_unit_test(the_last_resort_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
