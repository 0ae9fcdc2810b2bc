/* report/: advice by samples of instructions: each reason and each cause of waits has a rule, which
 * names the lines of cause and wait, and is silent where another rule has the reason. */
#include "found.h"
#include "sampled.h"

#include <math.h>

#define MOST_ADVICE 8

static bool is_said(const struct found *f, const char *rule)
{
    for (size_t i = 0; i < f->findings.advice.count; i++)
        if (strcmp(f->findings.advice.list[i].rule->name, rule) == 0)
            return true;
    return false;
}

static void is_said_first(const struct found *f, const char *rule, const char *of)
{
    if (f->findings.advice.count == 0)
        fail_msg("%s: no advice", of);
    if (strcmp(f->findings.advice.list[0].rule->name, rule) != 0)
        fail_msg("%s: the first advice is %s", of, f->findings.advice.list[0].rule->name);
}

/* ---- reasons, without the code --------------------------------------------------------------- */

/* A kernel of one instruction that issues, and one where warps wait. */
static struct gp_sources *sample_reason_of(enum gp_count_kind reason, uint64_t waits, uint64_t all)
{
    struct gp_sources *sources = gp_sources_new();
    const char *const functions[] = {"k"};
    struct gp_instruction_counts counts[2] = {{.offset = 0}, {.offset = 0x40}};
    add_samples(&counts[0], GP_STALL_SELECTED, all - waits);
    add_samples(&counts[1], reason, waits);
    const struct gp_code_counts source = {.kernel = "k",
                                          .cc = 90,
                                          .launches = 1,
                                          .sampled = 1,
                                          .kinds = GP_ALL_COUNTS,
                                          .function_count = 1,
                                          .functions = functions,
                                          .instruction_count = 2,
                                          .instructions = counts,
                                          .code = ""};
    assert_non_null(sources);
    assert_true(gp_sources_add(sources, &source));
    return sources;
}

static struct gp_sources *sample_reason(enum gp_count_kind reason, uint64_t waits)
{
    return sample_reason_of(reason, waits, 1000);
}

static void each_reason_has_its_rule(void **state)
{
    (void)state;
    static const struct {
        enum gp_count_kind reason;
        const char *rule;
    } reasons[] = {{GP_STALL_BARRIER, "waiting_at_barriers"},
                   {GP_STALL_MEMBAR, "waiting_at_fences"},
                   {GP_STALL_LG_THROTTLE, "full_memory_queue"},
                   {GP_STALL_TEX_THROTTLE, "full_memory_queue"},
                   {GP_STALL_MIO_THROTTLE, "full_short_queue"},
                   {GP_STALL_MATH_THROTTLE, "full_pipe"},
                   {GP_STALL_WAIT, "waiting_for_results"},
                   {GP_STALL_NO_INSTRUCTIONS, "waiting_for_code"},
                   {GP_STALL_BRANCH_RESOLVING, "waiting_for_branches"},
                   {GP_STALL_CONSTANT_MISS, "waiting_for_constants"},
                   {GP_STALL_DRAIN, "waiting_for_stores"},
                   {GP_STALL_SLEEPING, "sleeping"},
                   {GP_STALL_DISPATCH, "waiting_for_dispatch"},
                   {GP_STALL_WARPGROUP_ARRIVE, "waiting_for_matrices"}};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        struct sample s;
        struct found f;
        make_sample(&s, "k");
        struct gp_sources *sources = sample_reason(reasons[i].reason, 600);
        find(&f, &s, sources);
        assert_string_equal(f.findings.bounds[0].name, "latency");
        is_said_first(&f, reasons[i].rule, reasons[i].rule);
        assert_int_equal(f.findings.advice.count, 1);
        forget(&f);
        gp_sources_free(sources);
    }
}

/* The instruction where they wait, as there is no line table. */
static void the_waiting_instruction_is_named(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    struct gp_sources *sources = sample_reason(GP_STALL_MEMBAR, 600);
    find(&f, &s, sources);
    assert_string_equal(f.findings.advice.list[0].where, "at +0x40");
    forget(&f);
    gp_sources_free(sources);
}

/* The general rule is for kernels without samples. */
static void few_waits_of_each_reason_are_no_advice(void **state)
{
    (void)state;
    for (unsigned kind = GP_FIRST_STALL; kind < GP_COUNT_KINDS; kind++) {
        struct sample s;
        struct found f;
        make_sample(&s, "k");
        struct gp_sources *sources = sample_reason(kind, 100);
        find(&f, &s, sources);
        if (f.findings.advice.count > 0)
            fail_msg("kind %u: %s", kind, f.findings.advice.list[0].rule->name);
        forget(&f);
        gp_sources_free(sources);
    }
}

/* Warps that issue, or that could if no other did, wait for nothing. */
static void ready_warps_do_not_wait(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    struct gp_sources *sources = sample_reason(GP_STALL_NOT_SELECTED, 900);
    find(&f, &s, sources);
    assert_int_equal(f.findings.advice.count, 0);
    forget(&f);
    gp_sources_free(sources);
}

static void a_kernel_at_its_roof_may_wait(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    set(&s, "dram__bytes_read.sum", 4.3e9);
    struct gp_sources *sources = sample_reason(GP_STALL_LONG_SCOREBOARD, 900);
    find(&f, &s, sources);
    assert_string_equal(f.findings.bounds[0].name, "dram");
    assert_int_equal(f.findings.advice.count, 0);
    forget(&f);
    gp_sources_free(sources);
}

/* The time at a barrier can go, and no more than the time there. */
static void gains_follow_from_the_samples(void **state)
{
    (void)state;
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    struct gp_sources *sources = sample_reason(GP_STALL_BARRIER, 370);
    find(&f, &s, sources);
    assert_true(f.findings.advice.count > 0);
    assert_true(fabs(f.findings.advice.list[0].gain - 0.37) < 1e-9);
    assert_true(f.findings.advice.list[0].up_to);
    forget(&f);
    gp_sources_free(sources);
}

/* Nothing follows from fewer than fifty samples, as from none. */
static void too_few_samples_say_nothing(void **state)
{
    (void)state;
    for (uint64_t samples = 49; samples <= 50; samples++) {
        struct sample s;
        struct found f;
        make_sample(&s, "k");
        struct gp_sources *sources = sample_reason_of(GP_STALL_BARRIER, samples, samples);
        find(&f, &s, sources);
        assert_int_equal(is_said(&f, "waiting_at_barriers"), samples == 50);
        forget(&f);
        gp_sources_free(sources);
    }
}

/* ---- causes, by the code --------------------------------------------------------------------- */

static const char *rule_of(const char *kernel)
{
    static const struct {
        const char *kernel, *rule;
    } rules[] = {
        {"loads_", "waiting_for_loads"},
        {"chains_", "chained_loads"},
        {"local_", "waiting_for_local"},
        {"textures_", "waiting_for_textures"},
        {"copies_", "waiting_for_copies"},
        {"atomics_", "waiting_for_atomics"},
        {"shared_atomics_", "waiting_for_shared_atomics"},
        {"shared_tile", "waiting_for_shared"},
        {"lane_constants_", "lane_constants"},
        {"special_", "waiting_for_functions"},
        {"conversions_", "special_functions"},
        {"accurate_", "special_functions"},
        {"divisions_", "integer_division"},
        {"exchanges_", "waiting_for_exchanges"},
        {"barriers_", "waiting_at_barriers"},
        {"sleeps_", "sleeping"},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (strncmp(kernel, rules[i].kernel, strlen(rules[i].kernel)) == 0)
            return rules[i].rule;
    return NULL;
}

static void sample_kernel(struct kernel *k)
{
    if (strncmp(k->name, "barriers_", 9) == 0)
        wait_at_barriers(k);
    else
        wait_for_scoreboards(k);
    k->kinds = GP_ALL_COUNTS;
    take_in(k);
}

static void the_rule_of_its_cause_is_first(struct kernel *k)
{
    struct sample s;
    struct found f;
    const char *rule = rule_of(k->name);
    if (!rule || k->cc < 80) /* on an H200 */
        return;
    sample_kernel(k);
    make_sample(&s, k->name);
    if (strcmp(rule, "waiting_for_textures") == 0) /* or it would have no time to wait */
        set(&s, "smsp__inst_executed.sum", 0.02 * 4 * SMS * CYCLES);
    find(&f, &s, k->sources);
    is_said_first(&f, rule, k->name);
    const struct gp_advice *a = &f.findings.advice.list[0];
    assert_non_null(a->where);
    if (!is_a_line_of(a->where, "cause", k->name) && !is_a_line_of(a->where, "wait", k->name))
        fail_msg("%s: %s", k->name, a->where);
    assert_false(is_said(&f, "latency"));
    forget(&f);
}

static void each_cause_has_its_rule(void **state)
{
    (void)state;
    assert_true(for_kernels("", the_rule_of_its_cause_is_first) > 40);
}

/* Where registers leave room for few warps, that is the advice. */
static void occupancy_comes_before_waits(struct kernel *k)
{
    struct sample s;
    struct found f;
    sample_kernel(k);
    make_sample(&s, k->name);
    s.launch.registers = 200;
    set(&s, "sm__warps_active.avg.pct_of_peak_sustained_active", 12);
    find(&f, &s, k->sources);
    is_said_first(&f, "occupancy_registers", k->name);
    assert_false(is_said(&f, "chained_loads"));
    assert_false(is_said(&f, "waiting_for_loads"));
    forget(&f);
    /* A grid whose blocks all fit at once gets no more warps by that. */
    s.launch.registers = 100;
    memcpy(s.launch.grid, (unsigned[3]){SMS, 1, 1}, sizeof(s.launch.grid));
    find(&f, &s, k->sources);
    assert_false(is_said(&f, "occupancy_registers"));
    assert_true(is_said(&f, "chained_loads") || is_said(&f, "waiting_for_loads"));
    forget(&f);
}

static void few_warps_have_their_own_advice(void **state)
{
    (void)state;
    assert_true(for_kernels("chains_", occupancy_comes_before_waits) > 0);
    assert_true(for_kernels("loads_one", occupancy_comes_before_waits) > 0);
}

static double share_of(const struct kernel *k, enum gp_wait wait)
{
    return gp_lines_total(k->lines, GP_WEIGHT_FIRST_WAIT + wait);
}

static void scattered_loads_are_uncoalesced(struct kernel *k)
{
    struct sample s;
    struct found f;
    wait_for_scoreboards(k);
    for (size_t n = 0; n < k->count; n++) {
        uint64_t word[2];
        memcpy(word, k->code + n * GP_INSTRUCTION_BYTES, sizeof(word));
        if (gp_awaited_kind(word, k->cc) != GP_AWAITED_LOAD)
            continue;
        k->counts[n].values[GP_COUNT_SECTORS] = 32000000;
        k->counts[n].values[GP_COUNT_SECTORS_IDEAL] = 4000000;
    }
    k->kinds = GP_ALL_COUNTS;
    take_in(k);
    make_sample(&s, k->name);
    set(&s, "lts__t_sectors_srcunit_tex.sum", 32e6);
    set(&s, "smsp__sass_data_bytes_mem_global_op_ld.sum", 4e6 * 32);
    set(&s, "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 32e6);
    set(&s, "smsp__sass_l1tex_tags_mem_global.sum", 8e6);
    set(&s, "dram__bytes_read.sum", 1e8);
    find(&f, &s, k->sources);
    is_said_first(&f, "uncoalesced", k->name);
    assert_false(is_said(&f, "waiting_for_loads"));
    /* No more time can go than the part in which warps wait for memory. */
    assert_true(f.findings.advice.list[0].gain <= share_of(k, GP_WAIT_LONG_SCOREBOARD) + 1e-9);
    forget(&f);
}

static void scattered_loads_have_their_own_advice(void **state)
{
    (void)state;
    assert_true(for_kernels("loads_one", scattered_loads_are_uncoalesced) > 0);
}

/* A kernel whose warps run at full speed, as its instructions let them. */
static double issue;
static double pipe_of(const struct kernel *k)
{
    return 8 * k->lines->waits->issued[GP_WAIT_SPECIAL] * issue;
}

static void find_running(struct kernel *k, struct found *f, struct sample *s, uint64_t waits)
{
    struct gp_paths *paths = gp_paths_open(k->code, k->code_size, k->cc);
    assert_non_null(paths);
    k->count = k->code_size / GP_INSTRUCTION_BYTES;
    for (size_t n = 0; n < k->count; n++) {
        uint64_t word[2];
        gp_paths_word(paths, n, word);
        add_samples(at(k, n), GP_STALL_SELECTED, 10);
        if (!gp_scoreboards_awaited(word) || !waits_each_time(paths, n))
            continue;
        add_samples(&k->counts[n], GP_STALL_SHORT_SCOREBOARD, waits);
        add_samples(&k->counts[n], GP_STALL_LONG_SCOREBOARD, waits);
    }
    gp_paths_close(paths);
    repeat_loops(k);
    k->kinds = GP_ALL_COUNTS;
    take_in(k);
    make_sample(s, k->name);
    set(s, "smsp__inst_executed.sum", issue * 4 * SMS * CYCLES);
    set(s, "smsp__thread_inst_executed.sum", 32 * issue * 4 * SMS * CYCLES);
    set(s, "smsp__thread_inst_executed_pred_on.sum", 32 * issue * 4 * SMS * CYCLES);
    find(f, s, k->sources);
}

/* By the mix of instructions: the pipe takes one of them in the time of eight others. */
static void a_pipe_of_conversions(struct kernel *k)
{
    struct sample s;
    struct found f;
    find_running(k, &f, &s, 3);
    assert_true(k->lines->waits->issued[GP_WAIT_SPECIAL] > 0.1);
    assert_true(share_of(k, GP_WAIT_CONVERSIONS) < 0.25);
    assert_int_equal(is_said(&f, "special_functions"), pipe_of(k) > 0.6);
    forget(&f);
}

/* A kernel that has fast functions alone does with them as well as it can. */
static void a_pipe_of_fast_functions(struct kernel *k)
{
    struct sample s;
    struct found f;
    find_running(k, &f, &s, 40);
    assert_true(share_of(k, GP_WAIT_SPECIAL) > 0.25);
    assert_false(is_said(&f, "special_functions"));
    assert_int_equal(is_said(&f, "waiting_for_functions"), pipe_of(k) < 0.5);
    forget(&f);
}

static void the_mix_has_special_functions(void **state)
{
    (void)state;
    const double issues[] = {0.9, 0.3, 0.05};
    for (size_t i = 0; i < 3; i++) {
        issue = issues[i];
        assert_true(for_kernels("conversions_", a_pipe_of_conversions) > 0);
        assert_true(for_kernels("special_", a_pipe_of_fast_functions) > 0);
    }
}

/* Warps that wait for a unit which is busy wait for nothing that independent work would hide. */
static const char *busy_rule;
static enum gp_wait busy_wait;
static double unit_cycles;
static unsigned texture_units;
static void a_busy_unit_is_no_advice(struct kernel *k)
{
    struct sample s;
    struct found f;
    find_running(k, &f, &s, 40);
    const double busy = unit_cycles * k->lines->waits->issued[busy_wait] * issue;
    assert_true(share_of(k, busy_wait) > 0.25);
    if (is_said(&f, busy_rule) != (busy < 0.5))
        fail_msg("%s of %d: busy %.2f", k->name, k->cc, busy);
    /* A texture unit that is busy is the advice itself, where all else rests. */
    if (is_said(&f, "texture_unit") &&
        (busy_wait != GP_WAIT_TEXTURES || is_said(&f, "waiting_for_textures")))
        fail_msg("%s of %d: busy %.2f", k->name, k->cc, busy);
    texture_units += is_said(&f, "texture_unit");
    for (size_t i = 0; i < f.findings.advice.count; i++)
        if (strcmp(f.findings.advice.list[i].rule->name, busy_rule) == 0)
            assert_true(f.findings.advice.list[i].gain < 1 - busy + 1e-9);
    forget(&f);
}

static void busy_units_are_no_latency(void **state)
{
    (void)state;
    for (issue = 0.4; issue > 0.002; issue *= 0.8) { /* more than idle, at half and at all */
        busy_rule = "waiting_for_textures", busy_wait = GP_WAIT_TEXTURES, unit_cycles = 32;
        assert_true(for_kernels("textures_", a_busy_unit_is_no_advice) > 0);
        busy_rule = "waiting_for_exchanges", busy_wait = GP_WAIT_EXCHANGES, unit_cycles = 4;
        assert_true(for_kernels("exchanges_", a_busy_unit_is_no_advice) > 0);
    }
    assert_true(texture_units > 4);
}

/* A function in full precision is a fast one afterwards, which takes the pipe its time. */
static void a_function_stays(struct kernel *k)
{
    struct sample s;
    struct found f;
    const bool quotient = strcmp(k->name, "accurate_quotient") == 0;
    find_running(k, &f, &s, 0);
    const double stays = k->lines->waits->issued[GP_WAIT_ACCURATE];
    assert_int_equal(stays > 0, !quotient);
    is_said_first(&f, "special_functions", k->name);
    assert_true(f.findings.advice.list[0].gain < 1 - 6 * stays * issue + 1e-9);
    forget(&f);
}

static void functions_in_full_precision_stay_functions(void **state)
{
    (void)state;
    issue = 0.9;
    assert_true(for_kernels("accurate_", a_function_stays) > 4);
}

/* The work that the accesses do not need stays: the arithmetic, or the traffic of L2. */
static void other_units_keep_their_time(struct kernel *k)
{
    struct sample s;
    struct found f;
    const char *rule = rule_of(k->name);
    if (!rule || k->cc < 80)
        return;
    sample_kernel(k);
    make_sample(&s, k->name);
    set(&s, "smsp__inst_executed.sum", 0.5 * 4 * SMS * CYCLES);
    set(&s, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 32 * 0.475 * 4 * SMS * CYCLES);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 45);
    find(&f, &s, k->sources);
    for (size_t i = 0; i < f.findings.advice.count; i++)
        if (strcmp(f.findings.advice.list[i].rule->name, rule) == 0 &&
            fabs(f.findings.advice.list[i].gain - 0.5) > 0.03)
            fail_msg("%s: %g", k->name, f.findings.advice.list[i].gain);
    assert_true(is_said(&f, rule));
    forget(&f);
}

static void other_work_than_the_cause_stays(void **state)
{
    (void)state;
    assert_true(for_kernels("local_", other_units_keep_their_time) > 0);
    assert_true(for_kernels("shared_atomics_", other_units_keep_their_time) > 0);
}

/* ---- causes that no sample is needed for ----------------------------------------------------- */

static const char *half_rule;
static void halves_have_their_advice(struct kernel *k)
{
    struct sample s;
    struct found f;
    wait_for_scoreboards(k);
    take_in(k);
    make_sample(&s, k->name);
    set(&s, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 32 * 0.1 * 4 * SMS * CYCLES);
    set(&s, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 45);
    find(&f, &s, k->sources);
    assert_int_equal(is_said(&f, "scalar_halves"), half_rule != NULL);
    if (half_rule && strcmp(f.findings.advice.list[0].rule->name, half_rule) == 0)
        assert_true(fabs(f.findings.advice.list[0].gain - 0.5) < 1e-9);
    if (half_rule && !is_a_line_of(f.findings.advice.list[0].where, "half", k->name))
        fail_msg("%s of %d: %s", k->name, k->cc, f.findings.advice.list[0].where);
    forget(&f);
}

static void one_number_of_16_bits_at_a_time(void **state)
{
    (void)state;
    half_rule = "scalar_halves";
    assert_true(for_kernels("halves_alone", halves_have_their_advice) > 0);
    half_rule = NULL;
    assert_true(for_kernels("halves_in_pairs", halves_have_their_advice) > 0);
}

static void kernels_that_read_the_hosts_memory(void **state)
{
    (void)state;
    static const char list[] = "default,sysmem_read_bytes,sysmem_write_bytes";
    for (int reads = 0; reads < 2; reads++) {
        struct sample s;
        struct found f;
        make_sample_of(&s, "k", list);
        set(&s, "lts__t_sectors_aperture_sysmem_op_read.sum", reads ? 1e6 : 10);
        set(&s, "lts__t_bytes.sum", 40e6);
        find_of(&f, &s, NULL, list);
        assert_int_equal(is_said(&f, "host_memory"), reads);
        forget(&f);
    }
    /* Not counted. */
    struct sample s;
    struct found f;
    make_sample(&s, "k");
    find(&f, &s, NULL);
    assert_false(is_said(&f, "host_memory"));
    forget(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_has_its_rule),
        cmocka_unit_test(the_waiting_instruction_is_named),
        cmocka_unit_test(few_waits_of_each_reason_are_no_advice),
        cmocka_unit_test(ready_warps_do_not_wait),
        cmocka_unit_test(a_kernel_at_its_roof_may_wait),
        cmocka_unit_test(gains_follow_from_the_samples),
        cmocka_unit_test(too_few_samples_say_nothing),
        cmocka_unit_test(each_cause_has_its_rule),
        cmocka_unit_test(few_warps_have_their_own_advice),
        cmocka_unit_test(scattered_loads_have_their_own_advice),
        cmocka_unit_test(the_mix_has_special_functions),
        cmocka_unit_test(busy_units_are_no_latency),
        cmocka_unit_test(functions_in_full_precision_stay_functions),
        cmocka_unit_test(other_work_than_the_cause_stays),
        cmocka_unit_test(one_number_of_16_bits_at_a_time),
        cmocka_unit_test(kernels_that_read_the_hosts_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
