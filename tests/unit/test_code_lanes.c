/* code/lanes: kernels whose counts of instructions say in how many lanes each of them ran. */
#include "code/lanes.h"

#include "code/instruction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* As ptxas writes them for compute capability 9.0; IF: the same under @!P0. */
#define UNDER_P0(low) (((low) & ~UINT64_C(0xf000)) | 0x8000)
#define ADD                                    \
    {                                          \
        0x0000000502057210, 0x001fca0007ffe0ff \
    } /* IADD3 */
#define IF_ADD                                           \
    {                                                    \
        UNDER_P0(0x0000000502057210), 0x001fca0007ffe0ff \
    }
#define LOAD                                   \
    {                                          \
        0x0000000402047981, 0x000ea2000c1e1900 \
    } /* LDG.E */
#define IF_LOAD                                          \
    {                                                    \
        UNDER_P0(0x0000000402047981), 0x000ea2000c1e1900 \
    }
#define EXIT                                   \
    {                                          \
        0x000000000000794d, 0x000fea0003800000 \
    }
#define IF_EXIT                                          \
    {                                                    \
        UNDER_P0(0x000000000000794d), 0x000fea0003800000 \
    }

#define IF_OVER_ONE                            \
    {                                          \
        0x0000000000048947, 0x002fea0003800000 \
    } /* @!P0 BRA */
#define IF_OVER_TWO                            \
    {                                          \
        0x0000000000088947, 0x002fea0003800000 \
    } /* @!P0 BRA */
#define IF_BACK_ONE                            \
    {                                          \
        0xfffffffc00f88947, 0x002fea000383ffff \
    } /* @!P0 BRA */
#define STORE                                  \
    {                                          \
        0x0000000402007986, 0x000fe2000c101904 \
    } /* STG.E */

#define TELLS(...)                            \
    tells((const uint64_t[][2]){__VA_ARGS__}, \
          sizeof((const uint64_t[][2]){__VA_ARGS__}) / GP_INSTRUCTION_BYTES)

static bool tells(const uint64_t (*code)[2], size_t count)
{
    return gp_code_tells_lanes(code, count * GP_INSTRUCTION_BYTES, 90);
}

static void without_predicates(void **state)
{
    (void)state;
    assert_true(TELLS(LOAD, ADD, EXIT));
}

/* How many lanes add, no counter of instrumented code says. */
static void arithmetic_under_a_predicate(void **state)
{
    (void)state;
    assert_false(TELLS(LOAD, IF_ADD, EXIT));
    assert_false(TELLS(LOAD, ADD, IF_ADD, EXIT));
}

/* The lanes of accesses and of branches are counted. */
static void accesses_and_branches_under_a_predicate(void **state)
{
    (void)state;
    assert_true(TELLS(IF_EXIT, LOAD, ADD, IF_LOAD, EXIT));
}

/* A branch is counted in as many lanes, whether a whole warp takes it or not. */
static void arithmetic_behind_a_branch(void **state)
{
    (void)state;
    assert_false(TELLS(LOAD, IF_OVER_ONE, ADD, STORE, EXIT));
    assert_false(TELLS(LOAD, IF_OVER_ONE, ADD, EXIT));
    assert_true(TELLS(LOAD, IF_OVER_ONE, LOAD, ADD, STORE, EXIT));
    assert_true(TELLS(LOAD, IF_OVER_ONE, STORE, EXIT));
    assert_false(TELLS(LOAD, IF_EXIT, ADD, EXIT));
    assert_true(TELLS(LOAD, IF_EXIT, ADD, STORE, EXIT));
    /* An access under a predicate does not tell how often it was come by. */
    assert_false(TELLS(LOAD, IF_OVER_TWO, ADD, IF_LOAD, STORE, EXIT));
    assert_true(TELLS(LOAD, IF_OVER_TWO, ADD, LOAD, STORE, EXIT));
}

/* A loop ends in a branch; behind it all threads go on. */
static void a_loop(void **state)
{
    (void)state;
    assert_true(TELLS(LOAD, ADD, IF_BACK_ONE, EXIT));
    assert_true(TELLS(LOAD, ADD, IF_BACK_ONE, STORE, EXIT));
}

#define CALLS 1100u /* and returns: too many to know which leads where */

static void call(uint64_t word[2], size_t from, size_t to)
{
    const uint64_t words = 4 * (to - from - 1);
    word[0] = 0x7944 | (words & 0xff) << 16 | words >> 8 << 34;
    word[1] = 0x000fea0003c00000;
}

/* Each call is counted with the arithmetic before it; behind the last one nothing is. */
static void very_many_calls(void **state)
{
    (void)state;
    static const uint64_t add[2] = ADD, load[2] = LOAD, leave[2] = EXIT;
    static const uint64_t back[2] = {0xffffff7006007950, 0x000fec0003c3ffff}; /* RET */
    for (unsigned computes = 0; computes < 2; computes++) {
        static uint64_t code[3 * CALLS + 3][2];
        size_t n = 0;
        memcpy(code[n++], load, sizeof(load));
        for (unsigned i = 0; i < CALLS; i++, n++) {
            call(code[n], n, 2 * CALLS + 2);
            memcpy(code[++n], i + 1 < CALLS || computes ? add : load, sizeof(add));
        }
        memcpy(code[n++], leave, sizeof(leave));
        for (unsigned i = 0; i < CALLS; i++)
            memcpy(code[n++], back, sizeof(back));
        assert_int_equal(tells(code, n), !computes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_predicates),
        cmocka_unit_test(arithmetic_under_a_predicate),
        cmocka_unit_test(accesses_and_branches_under_a_predicate),
        cmocka_unit_test(arithmetic_behind_a_branch),
        cmocka_unit_test(a_loop),
        cmocka_unit_test(very_many_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
