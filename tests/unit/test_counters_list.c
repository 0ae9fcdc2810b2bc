/* counters/counter_list: which counters a chip counts for those that were asked for, by CUPTI's
 * host library, which needs no GPU. Skipped where there is none, and with the address sanitizer. */
#include "counters/counter_list.h"

#include "need_cupti.h"

#include <string.h>

#define OWN "gpuprof__sass_ops_tensor_src_bf16.sum"

static void has_check_counters(const char *chip, const char *const *names, size_t count)
{
    struct gp_counter_list list;
    struct gp_reason why = GP_NO_REASON;
    if (!gp_counter_list_make(&list, chip, names, count, &why))
        fail_msg("%s: %s", chip, why.text);
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

/* Where the name is counted there is no reason. */
static void tries(const char *const *names, size_t count, const bool *counted)
{
    struct gp_reason unavailable[8], why = GP_NO_REASON;
    if (!gp_counters_try("GH100", names, count, unavailable, &why))
        fail_msg("%s", why.text);
    for (size_t i = 0; i < count; i++)
        if (!unavailable[i].cause != counted[i])
            fail_msg("%s, of %zu names: %s", names[i], count,
                     unavailable[i].cause ? unavailable[i].text : "counted");
}

static void each_name_that_the_chip_does_not_count_is_found(void **state)
{
    (void)state;
    static const char *const good[] = {"smsp__inst_executed.sum", "dram__bytes_read.sum",
                                       "l1tex__t_sectors.sum", OWN, "lts__t_bytes.sum"};
    need_cupti();
    for (unsigned bad = 0; bad < 1u << 5; bad++) {
        const char *names[5];
        bool counted[5];
        for (unsigned i = 0; i < 5; i++) {
            counted[i] = !(bad & 1u << i);
            names[i] = counted[i] ? good[i] : "no__such_counter.sum";
        }
        tries(names, 5, counted);
    }
    tries(NULL, 0, NULL);
}

/* CUPTI counts NVLink's with no others: the names before it are kept. */
static void of_names_that_do_not_go_together_the_first_are_kept(void **state)
{
    (void)state;
    need_cupti();
    tries((const char *const[]){"smsp__inst_executed.sum", "nvlrx__bytes.sum", "lts__t_bytes.sum"},
          3, (const bool[]){true, false, true});
    tries((const char *const[]){"nvlrx__bytes.sum", "smsp__inst_executed.sum", "lts__t_bytes.sum"},
          3, (const bool[]){true, false, false});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_counters_have_check_counters),
        cmocka_unit_test(each_name_that_the_chip_does_not_count_is_found),
        cmocka_unit_test(of_names_that_do_not_go_together_the_first_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
