/* counters/own: counters made of single instructions' counts. The code is for compute capability
 * 9.0. */
#include "counters/inside.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CC 90
#define AT(i) ((i) * (uint32_t)GP_INSTRUCTION_BYTES)

static const uint64_t hmma[2] = {0x00000008040c723c, 0x000ff000000018ff};  /* 16816.F32 */
static const uint64_t bf16[2] = {0x000000141004723c, 0x000fde0000041804};  /* 16816.F32.BF16 */
static const uint64_t hgmma[2] = {0x04000000041879f0, 0x000fe20008702818}; /* 64x8x8.F32.TF32 */
static const uint64_t iadd[2] = {0x0000000502057210, 0x001fca0007ffe0ff};
static const uint64_t ldg[2] = {0x0000000402047981, 0x000ea2000c1e1900}; /* 4 bytes */
static const uint64_t leave[2] = {0x000000000000794d, 0x000fea0003800000};
static const uint64_t table[2] = {0x0000000000007949, 0x000fea0003800000}; /* BRX */
static const uint64_t utcmma[2] = {0x00000000000075ea, 0x000fea0003800000};

static unsigned char code[64 * GP_INSTRUCTION_BYTES];
static size_t code_size;
static struct gp_own *own;

static const void *find_code(void *data, const char *function, size_t *size, struct gp_reason *why)
{
    (void)data;
    *size = code_size;
    *why = GP_REASON_TEXT(CODE_UNKNOWN, "there is no code");
    return strcmp(function, "kernel") == 0 ? code : NULL;
}

static const struct gp_run run = {.kernel = "kernel", .find_code = find_code};

static void put(const uint64_t word[2])
{
    memcpy(code + code_size, word, GP_INSTRUCTION_BYTES);
    code_size += GP_INSTRUCTION_BYTES;
}

/* A branch to the instruction of that number. */
static void put_branch(int to)
{
    int64_t words = (to - (int64_t)(code_size / GP_INSTRUCTION_BYTES) - 1) * 4;
    const uint64_t high = (uint64_t)(words >> 8);
    const uint64_t word[2] = {0x0000000000000947 | (uint64_t)(words & 0xff) << 16 | high << 34,
                              0x000fea0003800000 | (high >> 30 & 0x3ffff)};
    put(word);
}

static int open_own(void **state)
{
    (void)state;
    own = own_open();
    code_size = 0;
    return own ? 0 : -1;
}

static int close_own(void **state)
{
    (void)state;
    own_close(own);
    return 0;
}

static const bool tells[GP_OWN_RECORDS] = {
    [GP_OWN_BRANCHES] = true, [GP_OWN_GROUPS] = true, [GP_OWN_GLOBAL_THREADS] = true};
static double values[GP_OWN_COUNT];
static struct gp_reason absent[GP_OWN_COUNT];

static void add(enum gp_own_record record, uint32_t instruction, uint64_t value)
{
    own_add(own, record, "kernel", AT(instruction), value);
}

static void is(enum gp_own_counter counter, double expected)
{
    if (absent[counter].cause)
        fail_msg("absent: %s", absent[counter].text);
    assert_true(values[counter] == expected);
}

static void a_loop_ran_as_often_as_its_branch(void **state)
{
    (void)state;
    put(iadd);
    put(hmma); /* 1 */
    put(iadd);
    put(hmma);
    put_branch(1); /* 4 */
    put(leave);
    for (int launch = 0; launch < 2; launch++) {
        own_begin(own, &run, CC, tells);
        add(GP_OWN_BRANCHES, 4, 100);
        own_end(own, values, absent);
        is(GP_OWN_FP16, 100.0 * 2 * 2 * 16 * 8 * 16);
        is(GP_OWN_BF16, 0);
    }
    own_begin(own, &run, CC, tells);
    own_end(own, values, absent);
    is(GP_OWN_FP16, 0); /* it never came to the loop */
}

/* A loop that the compiler has unrolled wholly: nothing but the kernel's begin and its end. */
static void each_warp_runs_the_begin_once(void **state)
{
    (void)state;
    struct gp_run whole = run;
    whole.warps = 30;
    put(hmma);
    put(iadd);
    put(hmma);
    put(leave);
    put(bf16); /* behind an exit: its branch is never reached */
    put_branch(4);
    own_begin(own, &whole, CC, tells);
    own_end(own, values, absent);
    is(GP_OWN_FP16, 30.0 * 2 * 2 * 16 * 8 * 16);
    is(GP_OWN_BF16, 0);
    own_begin(own, &run, CC, tells); /* the number of warps is not known */
    own_end(own, values, absent);
    assert_non_null(absent[GP_OWN_FP16].text);
}

/* A warp comes to the first instruction more than once. */
static void a_loop_at_the_begin_is_unknown(void **state)
{
    (void)state;
    struct gp_run whole = run;
    whole.warps = 30;
    put(hmma);
    put(leave);
    put_branch(0);
    own_begin(own, &whole, CC, tells);
    own_end(own, values, absent);
    assert_non_null(absent[GP_OWN_FP16].text);
}

static void a_label_in_between_leaves_it_unknown(void **state)
{
    (void)state;
    put(hmma);
    put(iadd); /* 1 */
    put_branch(1);
    put(leave);
    own_begin(own, &run, CC, tells);
    add(GP_OWN_BRANCHES, 2, 100);
    own_end(own, values, absent);
    assert_string_equal(
        absent[GP_OWN_FP16].text,
        "how often the kernel multiplied matrices does not follow from its branches");
    assert_true(isnan(values[GP_OWN_FP16]));
}

static void code_behind_a_branch_is_not_the_loops(void **state)
{
    (void)state;
    put(bf16);
    put_branch(0);
    put(hmma);
    put(leave); /* is not counted */
    own_begin(own, &run, CC, tells);
    add(GP_OWN_BRANCHES, 1, 7);
    own_end(own, values, absent);
    assert_non_null(absent[GP_OWN_FP16].text);
}

static void groups_of_warps_are_counted_themselves(void **state)
{
    (void)state;
    put(hgmma);
    put(hgmma);
    put(leave);
    own_begin(own, &run, CC, tells);
    add(GP_OWN_GROUPS, 0, 40);
    add(GP_OWN_GROUPS, 1, 40);
    own_end(own, values, absent);
    is(GP_OWN_TF32, 40.0 * 2 * 2 * 16 * 8 * 8);
    own_begin(own, &run, CC, tells);
    add(GP_OWN_GROUPS, 0, 40);
    add(GP_OWN_GROUPS, 1, 41);
    own_end(own, values, absent);
    assert_non_null(strstr(absent[GP_OWN_TF32].text, "were not counted alike"));
}

static void shapes_that_the_code_does_not_show_are_not_guessed(void **state)
{
    (void)state;
    put(hmma);
    put_branch(0);
    put(table);
    put(leave);
    own_begin(own, &run, CC, tells);
    add(GP_OWN_BRANCHES, 1, 5);
    own_end(own, values, absent);
    assert_non_null(strstr(absent[GP_OWN_FP16].text, "branches by a table"));
    assert_false(own_has_no_matrices(own, &run, CC));

    code_size = 0;
    put(utcmma);
    put(leave);
    own_begin(own, &run, 100, tells);
    own_end(own, values, absent);
    assert_non_null(strstr(absent[GP_OWN_FP16].text, "of a shape that its code does not show"));

    const struct gp_run elsewhere = {.kernel = "other", .find_code = find_code};
    own_begin(own, &elsewhere, CC, tells);
    own_end(own, values, absent);
    assert_string_equal(absent[GP_OWN_FP16].text, "there is no code");
    assert_false(own_has_no_matrices(own, &elsewhere, CC));
}

static void code_without_matrices_is_known_beforehand(void **state)
{
    (void)state;
    put(ldg);
    put_branch(0);
    put(leave);
    assert_true(own_has_no_matrices(own, &run, CC));
    put(hmma);
    assert_false(own_has_no_matrices(own, &run, CC));
    code_size = 0;
    const uint64_t call[2] = {0x0000000000007943, 0x000fea0003c00000}; /* CALL.ABS */
    put(call);
    put(leave);
    assert_false(own_has_no_matrices(own, &run, CC));
}

static void bytes_are_those_of_each_thread(void **state)
{
    (void)state;
    put(ldg);
    put(leave);
    own_begin(own, &run, CC, tells);
    add(GP_OWN_GLOBAL_THREADS, 0, 320);
    own_end(own, values, absent);
    is(GP_OWN_LOADED, 1280);
    is(GP_OWN_STORED, 0);
}

static void threads_at_every_instruction_need_no_branches(void **state)
{
    (void)state;
    static const bool counts[GP_OWN_RECORDS] = {[GP_OWN_THREADS] = true};
    put(hmma);
    put(ldg);
    put(leave);
    own_begin(own, &run, CC, counts);
    add(GP_OWN_THREADS, 0, 64);
    add(GP_OWN_THREADS, 1, 64);
    add(GP_OWN_THREADS, 2, 64);
    own_end(own, values, absent);
    is(GP_OWN_FP16, 2.0 * 2 * 16 * 8 * 16);
    is(GP_OWN_LOADED, 256);
}

static void names_are_found(void **state)
{
    (void)state;
    assert_int_equal(own_find("gpuprof__sass_ops_tensor_src_bf16.sum"), GP_OWN_BF16);
    assert_int_equal(own_find("smsp__sass_inst_executed.sum"), GP_OWN_COUNT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_own, close_own)
    const struct CMUnitTest tests[] = {
        TEST(a_loop_ran_as_often_as_its_branch),
        TEST(each_warp_runs_the_begin_once),
        TEST(a_loop_at_the_begin_is_unknown),
        TEST(a_label_in_between_leaves_it_unknown),
        TEST(code_behind_a_branch_is_not_the_loops),
        TEST(groups_of_warps_are_counted_themselves),
        TEST(shapes_that_the_code_does_not_show_are_not_guessed),
        TEST(code_without_matrices_is_known_beforehand),
        TEST(bytes_are_those_of_each_thread),
        TEST(threads_at_every_instruction_need_no_branches),
        TEST(names_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
