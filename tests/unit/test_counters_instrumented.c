/* counters/instrumented: counters from the counts of single instructions. */
#include "counters/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define THREADS "smsp__sass_thread_inst_executed_pred_on"
#define GLOBAL_THREADS "smsp__sass_thread_inst_executed_op_global_pred_on"
#define SECTORS "smsp__sass_sectors_mem_global"
#define WAVEFRONTS "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared"
#define FFMA "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
#define LOADED "smsp__sass_data_bytes_mem_global_op_ld.sum"
#define LOAD_EFFICIENCY "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"
#define SHARED_EFFICIENCY "smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"
#define UNIFORM "smsp__sass_average_branch_targets_threads_uniform.pct"

static const char *refused; /* the base metric that CUPTI does not have */

static bool has(const char *name, void *data)
{
    (void)data;
    return (!refused || strcmp(name, refused) != 0) && strchr(name, '.') == NULL &&
           !strstr(name, "op_ffma");
}

static struct gp_instrumented *c;

static void open_for(const char *const *names, size_t count)
{
    c = instrumented_open(names, count, has, NULL);
    assert_non_null(c);
    instrumented_begin(c);
}

static int close_it(void **state)
{
    (void)state;
    instrumented_close(c);
    c = NULL;
    refused = NULL;
    return 0;
}

static size_t base_named(const char *name)
{
    size_t count;
    const char *const *bases = instrumented_bases(c, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(bases[i], name) == 0)
            return i;
    fail_msg("%s is not enabled", name);
    return 0;
}

static void add(const char *base, enum gp_op op, uint16_t bytes, uint64_t value)
{
    const struct gp_instruction i = {.op = op, .bytes = bytes, .opcode = 0x3ff};
    instrumented_add(c, base_named(base), &i, GP_NO_REASON, value);
}

static double value_of(size_t counter)
{
    double value = -1;
    struct gp_reason why;
    if (!instrumented_value(c, counter, &value, &why))
        fail_msg("absent: %s", why.text);
    assert_int_equal(why.cause, GP_CAUSE_NONE);
    return value;
}

static const char *absent(size_t counter)
{
    double value;
    struct gp_reason why;
    assert_false(instrumented_value(c, counter, &value, &why));
    assert_int_not_equal(why.cause, GP_CAUSE_NONE);
    return why.text;
}

static void an_operation_is_summed_over_its_instructions(void **state)
{
    (void)state;
    const char *names[] = {FFMA};
    open_for(names, 1);
    add(THREADS, GP_OP_FFMA, 0, 32);
    add(THREADS, GP_OP_FADD, 0, 1000);
    add(THREADS, GP_OP_FFMA, 0, 7);
    assert_true(value_of(0) == 39);
    instrumented_begin(c);
    assert_true(value_of(0) == 0);
}

static void only_needed_metrics_are_enabled(void **state)
{
    (void)state;
    const char *flops[] = {FFMA, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"};
    size_t count;
    open_for(flops, 2);
    instrumented_bases(c, &count);
    assert_int_equal(count, 1);
    close_it(NULL);
    const char *loads[] = {LOAD_EFFICIENCY, FFMA, LOADED};
    open_for(loads, 3);
    instrumented_bases(c, &count);
    assert_int_equal(count, 3);
    assert_true(instrumented_needs_instruction(c, base_named(SECTORS)));
}

static void bytes_are_those_of_threads_that_reach_the_memory(void **state)
{
    (void)state;
    const char *names[] = {LOADED};
    open_for(names, 1);
    add(THREADS, GP_OP_LDG, 16, 32);
    add(GLOBAL_THREADS, GP_OP_LDG, 16, 32);
    add(THREADS, GP_OP_LD, 8, 32);
    add(GLOBAL_THREADS, GP_OP_LD, 8, 20); /* the others' addresses are shared memory's */
    add(THREADS, GP_OP_STG, 4, 32);
    assert_true(value_of(0) == 16 * 32 + 8 * 20);
}

static void a_ratio_is_a_percentage(void **state)
{
    (void)state;
    const char *names[] = {LOAD_EFFICIENCY, SHARED_EFFICIENCY, UNIFORM};
    open_for(names, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(value_of(i) == 0); /* nothing over nothing */
    add(THREADS, GP_OP_LDG, 4, 32);
    add(SECTORS, GP_OP_LDG, 4, 32);
    add(SECTORS, GP_OP_STG, 4, 500);
    add(THREADS, GP_OP_LDS, 4, 64);
    add(WAVEFRONTS, GP_OP_LDS, 4, 4);
    add("smsp__sass_branch_targets_threads_uniform", GP_OP_OTHER, 0, 3);
    add("smsp__sass_branch_targets_threads_divergent", GP_OP_OTHER, 0, 1);
    assert_true(value_of(0) == 12.5);
    assert_true(value_of(1) == 50);
    assert_true(value_of(2) == 75);
}

static void an_unknown_instruction_spoils_counters_it_could_count_for(void **state)
{
    (void)state;
    const char *names[] = {FFMA, UNIFORM};
    open_for(names, 2);
    add(THREADS, GP_OP_UNKNOWN, 0, 0); /* not executed */
    add("smsp__sass_branch_targets_threads_uniform", GP_OP_UNKNOWN, 0, 3);
    assert_true(value_of(0) == 0);
    add(THREADS, GP_OP_UNKNOWN, 0, 1);
    assert_string_equal(absent(0), "the kernel executes an instruction that is not known (0x3ff)");
    assert_true(value_of(1) == 100);
    instrumented_begin(c);
    assert_true(value_of(0) == 0);
}

static void so_does_code_that_is_not_there(void **state)
{
    (void)state;
    const char *names[] = {FFMA, WAVEFRONTS ".sum"};
    open_for(names, 2);
    instrumented_add(c, base_named(THREADS), NULL, GP_REASON_TEXT(CODE_UNKNOWN, "no code"), 32);
    instrumented_add(c, base_named(WAVEFRONTS), NULL, GP_REASON_TEXT(CODE_UNKNOWN, "no code"), 5);
    assert_string_equal(absent(0), "no code");
    assert_true(value_of(1) == 5);
}

static void unsettled_counters_are_not_guessed(void **state)
{
    (void)state;
    const char *names[] = {SHARED_EFFICIENCY, FFMA};
    open_for(names, 2);
    add(THREADS, GP_OP_LDS, 4, 32);
    add(WAVEFRONTS, GP_OP_LDS, 4, 1);
    assert_true(value_of(0) == 100);
    add(THREADS, GP_OP_HGMMA, 0, 32);
    absent(0);
    instrumented_begin(c);
    add(THREADS, GP_OP_LDSM, 0, 32); /* of a width that we cannot read */
    absent(0);
    assert_true(value_of(1) == 0);
}

static void a_base_metric_is_a_counter_too(void **state)
{
    (void)state;
    const char *names[] = {"smsp__sass_inst_executed.sum", THREADS ".sum", FFMA,
                           "smsp__sass_inst_executed.sum"};
    open_for(names, 4);
    size_t count;
    instrumented_bases(c, &count);
    assert_int_equal(count, 2);
    assert_false(instrumented_needs_instruction(c, base_named("smsp__sass_inst_executed")));
    add("smsp__sass_inst_executed", GP_OP_UNKNOWN, 0, 3);
    add(THREADS, GP_OP_FFMA, 0, 90);
    assert_true(value_of(0) == 3);
    assert_true(value_of(1) == 90);
    assert_true(value_of(2) == 90);
    assert_true(value_of(3) == 3);
}

static void missing_counters_have_a_reason(void **state)
{
    (void)state;
    const char *names[] = {LOADED, "sm__warps_active.avg", FFMA, "smsp__sass_x.avg",
                           "smsp__sass_thread_inst_executed_op_ffma.sum"};
    refused = GLOBAL_THREADS;
    open_for(names, 5);
    assert_non_null(instrumented_unavailable(c, 0).text);
    assert_non_null(instrumented_unavailable(c, 1).text);
    assert_null(instrumented_unavailable(c, 2).text);
    assert_non_null(instrumented_unavailable(c, 3).text);
    assert_non_null(instrumented_unavailable(c, 4).text);
    size_t count;
    instrumented_bases(c, &count);
    assert_int_equal(count, 1);
    absent(0);
    assert_true(value_of(2) == 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, close_it)
    const struct CMUnitTest tests[] = {
        TEST(an_operation_is_summed_over_its_instructions),
        TEST(only_needed_metrics_are_enabled),
        TEST(bytes_are_those_of_threads_that_reach_the_memory),
        TEST(a_ratio_is_a_percentage),
        TEST(an_unknown_instruction_spoils_counters_it_could_count_for),
        TEST(so_does_code_that_is_not_there),
        TEST(unsettled_counters_are_not_guessed),
        TEST(a_base_metric_is_a_counter_too),
        TEST(missing_counters_have_a_reason),
    };
    return cmocka_run_group_tests_name("instrumented", tests, NULL, NULL);
}
