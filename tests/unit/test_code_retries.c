/* code/retries: branches that run as often as time has it. */
#include "code/retries.h"
#include "code/swaps.h"

#include "code/instruction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* As ptxas writes them for compute capability 9.0. */
#define ASK                                    \
    {                                          \
        0x00000005ff0075a7, 0x000e640008000144 \
    } /* SYNCS.PHASECHK.TRANS64.TRYWAIT P0 */
#define NAP                                    \
    {                                          \
        0x009896800000895d, 0x001fea0003900000 \
    } /* @!P0 NANOSLEEP.SYNCS */
#define POOL                                   \
    {                                          \
        0x000000b8000079c8, 0x000ea40008020600 \
    } /* USETMAXREG.TRY_ALLOC.CTAPOOL */
#define ADD                                    \
    {                                          \
        0x0000000502057210, 0x001fca0007ffe0ff \
    } /* IADD3 */
#define LOAD                                   \
    {                                          \
        0x0000000402047981, 0x000ea2000c1e1900 \
    } /* LDG.E */
#define STORE                                  \
    {                                          \
        0x0000000502007986, 0x000fe2000c101906 \
    } /* STG.E */
#define ARRIVE                                 \
    {                                          \
        0x000000ff04ff79a7, 0x000fe20008100004 \
    } /* SYNCS.ARRIVE.TRANS64 */
/* A branch over so many instructions, its own the first; IF: @!P0. */
#define FIELDS(by) (uint64_t)((by)*4 - 4)
#define GO_AS(by, condition)                                                             \
    {                                                                                    \
        0x947 | (condition) << 12 | (FIELDS(by) & 0xff) << 16 | (FIELDS(by) >> 8) << 34, \
            0x000fea0003800000 | (FIELDS(by) >> 38 & 0x3ffff)                            \
    }
#define GO(by) GO_AS(by, UINT64_C(7))
#define IF_GO(by) GO_AS(by, UINT64_C(8))
#define IF_GO_P1(by) GO_AS(by, UINT64_C(9))

/* The branches that retry, in the order of the code, are these. */
static void retries_are_at(const uint64_t (*code)[2], size_t count, int cc, const char *wanted)
{
    char found[256] = "";
    for (size_t i = 0; i < count; i++)
        if (gp_code_retries(code, count * GP_INSTRUCTION_BYTES, i * GP_INSTRUCTION_BYTES, cc))
            snprintf(found + strlen(found), sizeof(found) - strlen(found), "%zu ", i);
    assert_string_equal(found, wanted);
}
#define RETRIES(cc, wanted, ...)                                             \
    do {                                                                     \
        const uint64_t code_[][2] = {__VA_ARGS__};                           \
        retries_are_at(code_, sizeof(code_) / sizeof(code_[0]), cc, wanted); \
    } while (0)

static void the_encoding_is_the_compilers(void **state)
{
    (void)state;
    const uint64_t back[2] = IF_GO(-1);
    assert_int_equal(gp_instruction_jump(back, 90), -GP_INSTRUCTION_BYTES);
}

static void a_loop_that_only_asks(void **state)
{
    (void)state;
    RETRIES(90, "2 ", ADD, ASK, IF_GO(-1), LOAD, IF_GO(-4));
    RETRIES(90, "4 ", ASK, NAP, ASK, ADD, IF_GO(-4), LOAD);
    RETRIES(90, "2 ", POOL, ADD, IF_GO(-2), LOAD);
    /* The answer leads out of it, and the end goes back. */
    RETRIES(90, "3 4 ", ASK, NAP, ASK, IF_GO(20), GO(-4), LOAD);
    RETRIES(100, "1 ", ASK, IF_GO(-1));
}

static void a_loop_that_works(void **state)
{
    (void)state;
    RETRIES(90, "", ADD, ADD, IF_GO(-2));
    RETRIES(90, "", ASK, LOAD, IF_GO(-2));
    RETRIES(90, "", ASK, ARRIVE, IF_GO(-2));
    /* It is run as often as there is work, and asks once each time. */
    RETRIES(90, "", ASK, ADD, ADD, ADD, ADD, ADD, ADD, ADD, IF_GO(-8));
    RETRIES(90, "1 ", ASK, IF_GO(-1), LOAD, ADD, IF_GO(-4));
}

static void behind_the_first_question(void **state)
{
    (void)state;
    /* Where the first answer was no, the second question is asked, and then those that stand apart.
     */
    RETRIES(90, "1 3 8 9 ", ASK, IF_GO(3), ASK, IF_GO(3), LOAD, ADD, ASK, NAP, IF_GO(-2), GO(-6));
    /* Other code behind a loop is run as often as the loop. */
    RETRIES(90, "1 ", ASK, IF_GO(-1), IF_GO(5), ADD);
    RETRIES(90, "", ASK, ADD, IF_GO(5), ADD);
}

/* ---- swaps ----------------------------------------------------------------------------------- */

static void swaps_are_at(const uint64_t (*code)[2], size_t count, int cc, size_t first, size_t last)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            gp_code_retries_swap(code, count * GP_INSTRUCTION_BYTES, i * GP_INSTRUCTION_BYTES, cc),
            first <= i && i <= last);
}
#define SWAPS(cc, first, last, ...)                                             \
    do {                                                                        \
        const uint64_t code_[][2] = {__VA_ARGS__};                              \
        swaps_are_at(code_, sizeof(code_) / sizeof(code_[0]), cc, first, last); \
    } while (0)
#define NO_SWAPS(cc, ...) SWAPS(cc, 1, 0, __VA_ARGS__)

#define LDS_R2_R6                              \
    {                                          \
        0x0000000006027984, 0x000e240000000800 \
    } /* LDS R2, [R6] */
#define FADD_R3                                \
    {                                          \
        0x000000020b037221, 0x021fcc0000000000 \
    } /* FADD R3, R11, R2 */
#define CAST_R3                                \
    {                                          \
        0x000000020603738d, 0x000e240001800003 \
    } /* ATOMS.CAST.SPIN R3, [R6], R2, R3 */
#define IS_R3_1                                \
    {                                          \
        0x000000010300780c, 0x001fda0003f22070 \
    } /* ISETP.EQ.U32.AND P1, PT, R3, 0x1, PT */
#define IS_R5_R2                               \
    {                                          \
        0x000000020500720c, 0x001fda0003f22070 \
    } /* ISETP of R5, R2 */
#define IS_R5_R2_P0                            \
    {                                          \
        0x000000020500720c, 0x001fda0003f02070 \
    } /* ISETP P0 of R5, R2 */
#define CAST_P0                                \
    {                                          \
        0x000000020600758d, 0x000e240001800003 \
    } /* ATOMS.CAST.SPIN P0, [R6], R2, R3 */
#define MOVE_R6                                \
    {                                          \
        0x0000000600067202, 0x000fe40000000f00 \
    } /* MOV R6, R6 */
#define ADD_R5                                 \
    {                                          \
        0x0000000502057210, 0x001fca0007ffe0ff \
    } /* IADD3 R5 */

static void an_addition_to_shared_memory(void **state)
{
    (void)state;
    SWAPS(90, 1, 5, ADD_R5, LDS_R2_R6, FADD_R3, CAST_R3, IS_R3_1, IF_GO_P1(-4), ADD_R5);
    SWAPS(80, 0, 4, LDS_R2_R6, FADD_R3, CAST_R3, IS_R3_1, {0xffffffb000009947, 0x000fea000383ffff});
    SWAPS(100, 0, 3, LDS_R2_R6, FADD_R3, CAST_P0, IF_GO(-3));
    /* The loop around it runs as often as there is work. */
    SWAPS(90, 1, 5, ADD_R5, LDS_R2_R6, FADD_R3, CAST_R3, IS_R3_1, IF_GO_P1(-4), IS_R5_R2,
          IF_GO_P1(-7));
}

static void a_product_in_global_memory_is_none(void **state)
{
    (void)state;
    NO_SWAPS(90, {0x0000000602067981, 0x000ea2000c1e1b00}, /* LDG.E.64 R6, desc[UR6][R2.64] */
             {0x0000000000007946, 0x000fea0003800000},     /* YIELD */
             {0x0000000406067228, 0x024fd40000000000},     /* DMUL R6, R6, R4 */
             {0x00000004080673a9, 0x000ea400001ee506},     /* ATOMG.E.CAS.64 PT, R6, [R8], R4, R6 */
             {0x000000060400720c, 0x084fe40003f05070},     /* ISETP.NE.U32.AND P0, PT, R4, R6, PT */
             {0x0000000600047202, 0x000fe40000000f00},     /* MOV R4, R6 */
             {0x000000070500720c, 0x000fe20003f05300},  /* ISETP.NE.AND.EX P0, PT, R5, R7, PT, P0 */
             {0x000000ffff057224, 0x000fd800078e0007},  /* IMAD.MOV.U32 R5, RZ, RZ, R7 */
             {0xfffffffc00dc0947, 0x000fea000383ffff}); /* @P0 BRA */
}

static void a_swap_that_is_no_retry(void **state)
{
    (void)state;
    /* Another address in each round, as a table of hashes is filled. */
    NO_SWAPS(90, LDS_R2_R6, MOVE_R6, CAST_R3, IS_R3_1, IF_GO_P1(-4));
    /* As often as there is work. */
    NO_SWAPS(90, LDS_R2_R6, FADD_R3, CAST_R3, IS_R5_R2, IF_GO_P1(-4));
    NO_SWAPS(90, IS_R3_1, LDS_R2_R6, FADD_R3, CAST_R3, IF_GO_P1(-4));
    NO_SWAPS(90, CAST_R3, IS_R3_1, ADD_R5, IS_R5_R2, IF_GO_P1(-4));
    NO_SWAPS(100, LDS_R2_R6, CAST_P0, IS_R5_R2_P0, IF_GO(-3));
    NO_SWAPS(90, LDS_R2_R6, FADD_R3, CAST_R3, IS_R3_1, GO(-4), STORE);
    /* Two of them, other writes, no swap at all, a loop that is too long. */
    NO_SWAPS(90, LDS_R2_R6, CAST_R3, CAST_R3, IS_R3_1, IF_GO_P1(-4));
    NO_SWAPS(90, LDS_R2_R6, ARRIVE, CAST_R3, IS_R3_1, GO(-4), STORE);
    NO_SWAPS(90, LDS_R2_R6, STORE, CAST_R3, IS_R3_1, IF_GO_P1(-4));
    NO_SWAPS(90, LDS_R2_R6, FADD_R3, IS_R3_1, IF_GO_P1(-3));
    NO_SWAPS(90, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5,
             ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5, ADD_R5,
             LDS_R2_R6, CAST_R3, IS_R3_1, IF_GO_P1(-24));
}

static void elsewhere_there_is_none(void **state)
{
    (void)state;
    RETRIES(80, "", ASK, IF_GO(-1));
    RETRIES(90, "", GO(-1), GO(1), IF_GO(-3));
    const uint64_t one[][2] = {IF_GO(-1)};
    assert_false(gp_code_retries(one, 8, 0, 90));
    assert_false(gp_code_retries(one, sizeof(one), GP_INSTRUCTION_BYTES, 90));
    assert_false(gp_code_retries(one, 0, 0, 90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_encoding_is_the_compilers),
        cmocka_unit_test(a_loop_that_only_asks),
        cmocka_unit_test(a_loop_that_works),
        cmocka_unit_test(behind_the_first_question),
        cmocka_unit_test(an_addition_to_shared_memory),
        cmocka_unit_test(a_product_in_global_memory_is_none),
        cmocka_unit_test(a_swap_that_is_no_retry),
        cmocka_unit_test(elsewhere_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
