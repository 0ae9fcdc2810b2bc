/* code/addresses: kernels that read addresses from memory, and kernels that do not. */
#include "code/addresses.h"

#include "code/instruction.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* As ptxas writes them for compute capability 9.0. */
#define I(low, high) \
    {                \
        low, high    \
    }
#define EXIT I(0x000000000000794d, 0x000fea0003800000)
#define CALL I(0x0000000000007943, 0x001fea0003c00000)         /* CALL.REL, to another function */
#define BARRIER I(0x0000000000007b1d, 0x000fec0000010000)      /* BAR.SYNC 0x0 */
#define LOAD I(0x0000000402037981, 0x000ea2000c1e1900)         /* LDG.E R3, [R2] */
#define LOAD_AT_4 I(0x0000040402047981, 0x000ea8000c1e1900)    /* LDG.E R4, [R2+0x4] */
#define LOAD_AT_8 I(0x0000080402057981, 0x000ea2000c1e1900)    /* LDG.E R5, [R2+0x8] */
#define LOAD_OTHER I(0x0000040404047981, 0x000ea2000c1e1900)   /* LDG.E R4, [R4+0x4] */
#define LOAD_8 I(0x0000000402047981, 0x000ea4000c1e1b00)       /* LDG.E.64 */
#define LOAD_1 I(0x0000000402047981, 0x000ea4000c1e1100)       /* LDG.E.U8 */
#define LOAD_LOCAL_8 I(0x0000000004027983, 0x000ea20000100a00) /* LDL.64 */
#define LOAD_GENERIC I(0x0000000402037980, 0x000ea8000c101900) /* LD.E R3, desc[UR4][R2.64] */
#define LOAD_GENERIC_AT_4 I(0x0000040402047980, 0x000ea8000c101900)
#define EXCHANGE I(0x000000ff020879a8, 0x000eae000c1ee1c4) /* ATOMG.E.EXCH PT, R8, [R2.64], RZ */
#define EXCHANGE_TO_4 I(0x000000ff020479a8, 0x000eae000c1ee1c4)
#define EXCHANGE_AT_4 I(0x000004ff020979a8, 0x000ea8000c1ee1c4)
/* Instructions for compute capability 7.5, where their numbers stand in other bits. */
#define LOAD_GENERIC_OLD I(0x0000000004087980, 0x0001620000116900)      /* LD.E R8, [R4] */
#define LOAD_GENERIC_AT_4_OLD I(0x0000000404097980, 0x0001680000116900) /* LD.E R9, [R4+0x4] */
#define LOAD_GENERIC_AT_8_OLD I(0x0000000804067980, 0x000ea80000116900) /* LD.E R6, [R4+0x8] */
#define MOVE I(0x0000000000047202, 0x000fe20000000f00)                  /* MOV R4, R0 */
#define MOVE_TO_ITSELF I(0x0000000400047202, 0x000fe20000000f00)        /* MOV R4, R4 */
#define LOAD_SHARED I(0x00000000000b7984, 0x000e280000000800)           /* LDS */
#define ADD_CONSTANT \
    I(0x00c0200000007a10, 0x000fc80007f1e0ff) /* IADD3 R0, P0, R0, c[0x3][0x80], RZ */
#define ADD_CONSTANT_TO_5 I(0x00c0200000057a10, 0x000fc80007f1e0ff)
#define MULTIPLY_CONSTANT                                                  \
    I(0x00c01a0002077a20, 0x004fe20000400000) /* FMUL R7, R2, c[0x3][0x68] \
                                               */
#define ADD_PARAMETER \
    I(0x0000590000007a10, 0x000fc80007f1e0ff)              /* IADD3 R0, P0, R0, c[0x0][0x164] */
#define CONSTANT I(0x00c01100ff037b82, 0x000e220000000800) /* LDC R3, c[0x3][0x44] */
#define CONSTANT_AT_48 I(0x00c01200ff047b82, 0x000e220000000800)   /* LDC R4, c[0x3][0x48] */
#define CONSTANT_8 I(0x00c00200ff047b82, 0x000e620000000a00)       /* LDC.64 R4, c[0x3][0x8] */
#define PARAMETER_8 I(0x00008400ff047b82, 0x000e620000000a00)      /* LDC.64 R4, c[0x0][0x210] */
#define PARAMETER_8_TO_6 I(0x00008400ff067b82, 0x000e620000000a00) /* LDC.64 R6, c[0x0][0x210] */
#define BACK_TO_FIRST I(0xfffffffc00d40947, 0x000fea000383ffff)    /* @P0 BRA -0x30 */
#define VARIABLE I(0x01000000ff027b82, 0x000e220000000a00)         /* LDC.64 R2, c[0x4][RZ] */

#define CLOCK_TO_UNIFORM_5 I(0x00000000000578cb, 0x000fe20000005000) /* CS2UR UR5 */

/* LDG.E RZ, desc[UR4][Rr.64] */
#define AT(r) I(0x0000000400ff7981 | (uint64_t)(r) << 24, 0x000ea2000c1e1900)
#define LOAD_1_TO_3 I(0x0000000404037981, 0x000ea4000c1e1100)   /* LDG.E.U8 R3, [R4] */
#define LOAD_16_TO_4 I(0x0000000402047981, 0x000ea4000c1e1d00)  /* LDG.E.128 R4, [R2] */
#define STORE_LOCAL_8 I(0x0000000400007387, 0x000fe20000100a00) /* STL.64 [R0], R4 */
#define LOAD_LOCAL_8_TO_6 I(0x0000000004067983, 0x000ea20000100a00)
#define ADD_FLOATS I(0x0000000504057221, 0x004fca0000000000)      /* FADD R5, R4, R5 */
#define INDEX I(0x0000000404067825, 0x000fca00078e0206)           /* IMAD.WIDE R6, R4, 0x4, R6 */
#define INDEX_OF_LOADED I(0x0000000406087825, 0x000fca00078e0204) /* IMAD.WIDE R8, R6, 0x4, R4 */

#define MAY(...)                            \
    may((const uint64_t[][2]){__VA_ARGS__}, \
        sizeof((const uint64_t[][2]){__VA_ARGS__}) / GP_INSTRUCTION_BYTES)

static bool may(const uint64_t (*code)[2], size_t count)
{
    return gp_code_may_load_addresses(code, count * GP_INSTRUCTION_BYTES, 90);
}

static void four_bytes_are_no_address(void **state)
{
    (void)state;
    assert_false(MAY(PARAMETER_8, LOAD, LOAD_SHARED, BARRIER, EXIT));
    assert_true(MAY(PARAMETER_8, LOAD_8, AT(4), EXIT));
    assert_true(MAY(PARAMETER_8, LOAD_8, CLOCK_TO_UNIFORM_5, AT(4), EXIT)); /* not to R5 */
    assert_true(MAY(LOAD_8, STORE_LOCAL_8, LOAD_LOCAL_8_TO_6, AT(6), EXIT));
    assert_false(MAY(LOAD_8, LOAD_LOCAL_8_TO_6, AT(6), EXIT));
}

static void numbers_that_become_no_address(void **state)
{
    (void)state;
    assert_false(MAY(PARAMETER_8, LOAD_8, EXIT));
    assert_true(MAY(LOAD_16_TO_4, AT(4), EXIT));
    assert_true(MAY(LOAD_16_TO_4, AT(6), EXIT));
    assert_false(MAY(LOAD_16_TO_4, ADD_FLOATS, AT(4), EXIT));
    /* An index times its size, and an offset from an address that was loaded. */
    assert_false(MAY(LOAD_16_TO_4, PARAMETER_8_TO_6, INDEX, AT(6), EXIT));
    assert_true(MAY(LOAD_16_TO_4, INDEX_OF_LOADED, AT(8), EXIT));
}

static void in_a_loop(void **state)
{
    (void)state;
    /* The address of one round is loaded in the round before. */
    assert_true(MAY(AT(4), LOAD_16_TO_4, BACK_TO_FIRST, EXIT));
}

static void parts_of_an_address_that_is_not_aligned(void **state)
{
    (void)state;
    assert_true(MAY(LOAD_AT_4, LOAD_AT_8, AT(4), EXIT));
    assert_true(MAY(LOAD_AT_8, LOAD_SHARED, LOAD_AT_4, AT(4), EXIT));
    assert_false(MAY(LOAD, LOAD_AT_8, EXIT));
    assert_false(MAY(LOAD, LOAD_OTHER, EXIT));
    assert_true(MAY(LOAD_1_TO_3, AT(2), EXIT));
    assert_false(MAY(LOAD_1, EXIT));
    assert_true(MAY(LOAD_GENERIC, LOAD_GENERIC_AT_4, AT(3), EXIT));
    assert_true(MAY(LOAD_GENERIC_AT_4_OLD, LOAD_GENERIC_OLD, AT(8), EXIT));
    assert_false(MAY(LOAD_GENERIC_AT_8_OLD, LOAD_GENERIC_OLD, AT(8), EXIT));
    assert_true(MAY(EXCHANGE, EXCHANGE_AT_4, AT(8), EXIT));
    assert_false(MAY(EXCHANGE, EXIT));
}

#define ADD_SHARED I(0x000000050404738c, 0x000e220000000000)            /* ATOMS.ADD R4, [R4], R5 */
#define COUNT_SHARED I(0x0000000504ff738c, 0x000e220000000000)          /* ATOMS.ADD RZ, [R4], R5 */
#define THREAD_TO_4 I(0x0000000000047919, 0x000e220000002100)           /* S2R R4, SR_TID.X */
#define BLOCK_OF_CLUSTER_TO_4 I(0x0000000000047919, 0x000e220000008800) /* SR_CgaCtaId */
#define MULTIPROCESSOR_TO_4 I(0x0000000000047919, 0x000e220000004300)   /* SR_VIRTUALSMID */
#define CLOCK_TO_4 I(0x0000000000047805, 0x000fcc0000015000)            /* CS2R R4, SR_CLOCKLO */
#define STORE_TO_6 I(0x0000000406007986, 0x004fe2000c101904)            /* STG.E [R6], R4 */
#define WRITES(...)                                             \
    gp_code_write_addresses((const uint64_t[][2]){__VA_ARGS__}, \
                            sizeof((const uint64_t[][2]){__VA_ARGS__}), 90)

static void addresses_that_are_written(void **state)
{
    (void)state;
    assert_int_equal(WRITES(LOAD, PARAMETER_8_TO_6, STORE_TO_6, EXIT), GP_WRITES_BY_PARAMETERS);
    assert_int_equal(WRITES(LOAD_AT_4, PARAMETER_8_TO_6, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_INPUT);
    assert_int_equal(WRITES(PARAMETER_8_TO_6, EXCHANGE_TO_4, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_ORDER);
    /* The number may be the one that another thread has exchanged before. */
    assert_int_equal(WRITES(EXCHANGE, LOAD_AT_4, PARAMETER_8_TO_6, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_ORDER);
    assert_int_equal(WRITES(CALL, EXIT), GP_WRITES_ANYWHERE);
}

static void writes_that_threads_make_or_not(void **state)
{
    (void)state;
    /* The answer is no part of the address, but may say which thread writes. */
    assert_int_equal(WRITES(PARAMETER_8_TO_6, EXCHANGE, STORE_TO_6, EXIT), GP_WRITES_SOME_BY_ORDER);
    assert_int_equal(WRITES(PARAMETER_8_TO_6, ADD_SHARED, STORE_TO_6, EXIT),
                     GP_WRITES_SOME_BY_ORDER);
    assert_int_equal(WRITES(LOAD_AT_4, PARAMETER_8_TO_6, INDEX, ADD_SHARED, STORE_TO_6, EXIT),
                     GP_WRITES_BY_ORDER);
    assert_int_equal(WRITES(PARAMETER_8_TO_6, COUNT_SHARED, STORE_TO_6, EXIT),
                     GP_WRITES_BY_PARAMETERS);
}

static void writes_where_threads_run(void **state)
{
    (void)state;
    assert_int_equal(WRITES(THREAD_TO_4, PARAMETER_8_TO_6, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_PARAMETERS);
    assert_int_equal(WRITES(BLOCK_OF_CLUSTER_TO_4, PARAMETER_8_TO_6, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_PARAMETERS);
    assert_int_equal(WRITES(MULTIPROCESSOR_TO_4, PARAMETER_8_TO_6, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_ORDER);
    assert_int_equal(WRITES(CLOCK_TO_4, PARAMETER_8_TO_6, INDEX, STORE_TO_6, EXIT),
                     GP_WRITES_BY_ORDER);
}

static void any_two_parts_in_code_that_is_not_optimized(void **state)
{
    (void)state;
    assert_true(MAY(LOAD, MOVE_TO_ITSELF, LOAD_OTHER, AT(3), EXIT));
    assert_true(MAY(LOAD, LOAD_OTHER, MOVE_TO_ITSELF, AT(3), EXIT));
    assert_false(MAY(LOAD, MOVE, LOAD_OTHER, AT(3), EXIT));
    assert_false(MAY(LOAD, MOVE_TO_ITSELF, EXIT));
}

static void constants_of_the_module_but_not_parameters(void **state)
{
    (void)state;
    assert_true(MAY(CONSTANT_8, AT(4), EXIT));
    assert_true(MAY(ADD_CONSTANT_TO_5, AT(4), EXIT));
    assert_true(MAY(CONSTANT, CONSTANT_AT_48, AT(3), EXIT));
    assert_false(MAY(CONSTANT, MULTIPLY_CONSTANT, ADD_PARAMETER, VARIABLE, EXIT));
}

static void other_code_is_not_known(void **state)
{
    (void)state;
    assert_true(MAY(LOAD, CALL, EXIT));
    assert_true(MAY(LOAD, I(~UINT64_C(0) >> 12 << 12 | 0x1ff, 0), EXIT));
}

static void too_many_loads_to_compare(void **state)
{
    static uint64_t code[300][2];
    (void)state;
    for (unsigned i = 0; i < 300; i++) { /* each 64 bytes behind the one before */
        code[i][0] = 0x0000000402037981 + ((uint64_t)i << 46);
        code[i][1] = 0x000ea2000c1e1900;
    }
    assert_false(may((const uint64_t(*)[2])code, 100));
    assert_true(may((const uint64_t(*)[2])code, 300));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_bytes_are_no_address),
        cmocka_unit_test(numbers_that_become_no_address),
        cmocka_unit_test(in_a_loop),
        cmocka_unit_test(parts_of_an_address_that_is_not_aligned),
        cmocka_unit_test(addresses_that_are_written),
        cmocka_unit_test(writes_that_threads_make_or_not),
        cmocka_unit_test(writes_where_threads_run),
        cmocka_unit_test(any_two_parts_in_code_that_is_not_optimized),
        cmocka_unit_test(constants_of_the_module_but_not_parameters),
        cmocka_unit_test(other_code_is_not_known),
        cmocka_unit_test(too_many_loads_to_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
