/* code/address_words: the words of the parameters that kernels use as upper halves of addresses, in
 * the cubins that nvcc made of tests/words/words.cu. */
#include "code/address_words.h"
#include "cubins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FIRST 8 /* offsets of the addresses in `struct mixed`, */
#define SECOND 24
#define BYTES 40  /* and all of its bytes */
#define STRIDE 16 /* offset */

/* No two numbers beside the addresses are an address, aligned or not. */
static void check_mixed(const char *name, int cc, const struct gp_address_words *words)
{
    for (size_t at = 0; at + 8 <= BYTES; at++) {
        const bool address = at == FIRST || at == SECOND;
        /* An array's stride is shifted, in two words; numbers lie beside addresses in memory. */
        const bool near = begins(name, "near_") && (at % 4 || (at >= STRIDE - 4 && at <= SECOND));
        if (gp_address_words_may(words, at) != address && (address || (cc < 100 && !near)))
            fail_msg("%s of %d at %zu", name, cc, at);
    }
}

static void check_packed(const char *name, int cc, const struct gp_address_words *words)
{
    if (!gp_address_words_may(words, begins(name, "packed_beside") ? 1 : 2))
        fail_msg("%s of %d", name, cc);
}

static bool check_kept(const char *name, int cc, const char *code, size_t size)
{
    struct gp_address_words words;
    const size_t at = begins(name, "kept_4_") ? 4 : 0;
    if (!begins(name, "kept_"))
        return false;
    if (gp_code_address_words(code, size, cc, 4, &words) && !gp_address_words_may(&words, at))
        fail_msg("%s of %d", name, cc);
    return true;
}

/* Returns whether it is one of these kernels. */
static bool check_kernel(const char *name, int cc, const char *code, size_t size)
{
    struct gp_address_words words;
    const bool any = begins(name, "any_"), packed = begins(name, "packed_");
    if (!any && !packed && !begins(name, "exact_") && !begins(name, "near_"))
        return false;
    assert_int_equal(gp_code_address_words(code, size, cc, (any ? BYTES + 4 : BYTES) / 4, &words),
                     !any);
    if (packed)
        check_packed(name, cc, &words);
    else if (!any)
        check_mixed(name, cc, &words);
    return true;
}

static bool check(const char *name, int cc, const char *code, size_t size)
{
    return check_kernel(name, cc, code, size) || check_kept(name, cc, code, size);
}

static void words_of_addresses(void **state)
{
    (void)state;
    check_cubins("words", check, 17);
}

/* As ptxas writes them for compute capability 9.0. */
#define CODE(...) ((const uint64_t[][2]){__VA_ARGS__})
#define FIND(words, ...) \
    gp_code_address_words(CODE(__VA_ARGS__), sizeof(CODE(__VA_ARGS__)), 90, 8, words)
#define LOAD_PARAMETER                         \
    {                                          \
        0x00008400ff047b82, 0x000e620000000a00 \
    } /* LDC.64 R4, c[0x0][0x210] */
#define STORE                                  \
    {                                          \
        0x0000000004007986, 0x000fe2000c101904 \
    } /* STG [R4.64], R0 */
#define EXIT                                   \
    {                                          \
        0x000000000000794d, 0x000fea0003800000 \
    }
#define CALL                                   \
    {                                          \
        0x0000000000007943, 0x001fea0003c00000 \
    }
#define UNKNOWN  \
    {            \
        0x1ff, 0 \
    }
#define BY_A_REGISTER                          \
    {                                          \
        0x0000840005057b82, 0x000e620000000800 \
    } /* LDC R5, c[0x0][R5+0x210] */
/* ULDC.64 UR4, c[0x0][0x198]: where parameters have generic addresses */
#define OF_DRIVER                              \
    {                                          \
        0x0000660000047ab9, 0x000fe20000000a00 \
    }
#define MOVE_UPPER                             \
    {                                          \
        0x0000000500057c02, 0x000fe20008000f00 \
    } /* MOV R5, UR5 */
#define LOAD_GENERIC                           \
    {                                          \
        0x0000000004037980, 0x000ea8000c101900 \
    } /* LD.E R3, [R4.64] */

static void words_that_are_not_known(void **state)
{
    struct gp_address_words words;
    (void)state;
    assert_true(FIND(&words, LOAD_PARAMETER, STORE, EXIT));
    assert_true(gp_address_words_may(&words, 0));
    assert_false(gp_address_words_may(&words, 4));
    assert_true(gp_address_words_may(&words, 4 * 8)); /* behind all that were asked for, */
    assert_true(gp_address_words_may(&words, 4 * GP_ADDRESS_WORDS)); /* and all that can be */
    assert_false(FIND(&words, LOAD_PARAMETER, CALL, EXIT));
    assert_false(FIND(&words, LOAD_PARAMETER, UNKNOWN, EXIT));
    assert_false(FIND(&words, LOAD_PARAMETER, BY_A_REGISTER, EXIT));
    assert_false(FIND(&words, OF_DRIVER, MOVE_UPPER, LOAD_GENERIC, EXIT));
    assert_true(FIND(&words, LOAD_PARAMETER, LOAD_GENERIC, EXIT));
    assert_false(
        gp_code_address_words(CODE(EXIT), sizeof(CODE(EXIT)), 90, GP_ADDRESS_WORDS + 1, &words));
}

/* The number of a uniform register is that of another register. */
static void uniform_registers(void **state)
{
    static const uint64_t others[][2] = {
        {0x0000000000007918, 0x000fc00000000000}, /* NOP */
        {0x00000000000578cb, 0x000fe20000005000}, /* CS2UR UR5 */
        {0x000000ffff057251, 0x000fe20008000100}, /* UFSEL UR5 */
        {0x0000000606057249, 0x000fe20008000006}, /* UVIADD UR5 */
        {0x0000000606057254, 0x000fe20008000006}, /* UFADD UR5 */
        {0x000000060605725a, 0x000fe20008000006}, /* UI2F UR5 */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const uint64_t code[][2] = {
            {0x0000e000ff047b82, 0x000e220000000a00}, /* LDC.64 R4, c[0x0][0x380] */
            {others[i][0], others[i][1]},
            {0x0000040004007986, 0x001fe2000c101904}, /* STG.E [R4.64] */
            {0x000000000000794d, 0x000fea0003800000}, /* EXIT */
        };
        struct gp_address_words words;
        assert_true(gp_code_address_words(code, sizeof(code), 120, 4, &words));
        assert_true(gp_address_words_may(&words, 0));
        assert_false(gp_address_words_may(&words, 4));
    }
}

static void low_addresses(void **state)
{
    (void)state;
    assert_true(gp_is_low_address(0x1000ffffff));
    assert_false(gp_is_low_address(0x7f6518800020));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_addresses),
        cmocka_unit_test(words_that_are_not_known),
        cmocka_unit_test(uniform_registers),
        cmocka_unit_test(low_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
