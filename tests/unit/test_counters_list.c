/* counters/counter_list: which counters a chip counts for those that were asked for, by CUPTI's
 * host library, which needs no GPU. Skipped where there is none, and with the address sanitizer. */
#include "counters/counter_list.h"

#include "need_cupti.h"

#include <string.h>

#define OWN "gpuprof__sass_ops_tensor_src_bf16.sum"

static void has_check_counters(const char *chip, const char *const *names, size_t count)
{
    struct gp_counter_list list;
    const char *why = "";
    if (!gp_counter_list_make(&list, chip, names, count, &why))
        fail_msg("%s: %s", chip, why);
    if (list.check_count < GP_LEAST_CHECKS)
        fail_msg("%s: %zu check counters beside %s", chip, list.check_count, names[0]);
    assert_int_equal(list.own_count, 1);
    gp_counter_list_free(&list);
}

/* Our own counters come from launches that are counted instruction by instruction, which takes
 * check counters. */
static void our_own_counters_have_check_counters(void **state)
{
    (void)state;
    static const char *const chips[] = {"TU102", "GA100", "GA102", "AD102",
                                        "GH100", "GB100", "GB202"};
    static const char *const alone[] = {OWN};
    static const char *const timed[] = {OWN, "gpu__time_duration.sum"};
    static const char *const many[] = {
        OWN, "smsp__inst_executed_pipe_xu.sum", "smsp__inst_executed_pipe_lsu.sum",
        "smsp__inst_executed_pipe_alu.sum", "smsp__inst_executed_pipe_fma.sum"};
    static const char *const passes[] = {
        OWN,
        "gpu__time_duration.sum",
        "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
        "sm__ops_path_tensor_src_fp16.sum",
        "sm__ops_path_tensor_src_fp64.sum",
        "sm__ops_path_tensor_src_fp8.sum",
        "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
        "smsp__inst_executed_pipe_xu.sum",
        "smsp__inst_executed_pipe_lsu.sum",
        "smsp__inst_executed_pipe_alu.sum",
        "smsp__inst_executed_pipe_fma.sum",
        "smsp__inst_executed_pipe_fp64.sum",
    };
    need_cupti();
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
        has_check_counters(chips[i], alone, 1);
        has_check_counters(chips[i], timed, 2);
        has_check_counters(chips[i], many, 5);
        has_check_counters(chips[i], passes, sizeof(passes) / sizeof(passes[0]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_counters_have_check_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
