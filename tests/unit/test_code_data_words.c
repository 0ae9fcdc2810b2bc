/* code/data_words: the word of the parameters that a kernel takes as data only, or uses, in the
 * cubins that nvcc made of tests/words/words.cu. */
#include "code/data_words.h"
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

#define WORD 2 /* behind an address */

static bool check(const char *name, int cc, const char *code, size_t size)
{
    const bool data = begins(name, "data_");
    if (!data && !begins(name, "used_"))
        return false;
    const uint64_t words = gp_code_data_words(code, size, cc);
    if ((words >> WORD & 1) != data || words & 3)
        fail_msg("%s of %d: %llx", name, cc, (unsigned long long)words);
    return true;
}

static void words_that_are_data_only(void **state)
{
    (void)state;
    check_cubins("words", check, 28);
}

/* As ptxas writes them for compute capability 9.0. */
static const uint64_t load_parameter[2] = {0x00008600ff057b82, 0x000e620000000800}; /* LDC R5 */
static const uint64_t call[2] = {0x0000000000007943, 0x001fea0003c00000};
static const uint64_t nothing_known[2] = {0x1ff, 0};
static const uint64_t by_a_register[2] = {0x0000840005057b82, 0x000e620000000800};

static uint64_t words_with(const uint64_t *word)
{
    uint64_t code[2][2];
    memcpy(code[0], load_parameter, sizeof(code[0]));
    memcpy(code[1], word, sizeof(code[1]));
    return gp_code_data_words(code, sizeof(code), 90);
}

static void nothing_is_known(void **state)
{
    (void)state;
    assert_int_not_equal(gp_code_data_words(load_parameter, sizeof(load_parameter), 90), 0);
    assert_int_equal(words_with(call), 0);
    assert_int_equal(words_with(nothing_known), 0);
    assert_int_equal(words_with(by_a_register), 0);
    assert_int_equal(gp_code_data_words(load_parameter, 0, 90), 0);
    assert_int_equal(gp_code_data_words(nothing_known, 0, 90), 0);
}

/* A function that loops ends in a call of the instructions behind the loop, from where it returns.
 * The store behind its own call is reached. */
static void a_call_that_is_a_branch(void **state)
{
    static const uint64_t code[][2] = {
        {0x0000580000147a02, 0x000fe20000000f00}, /* MOV R20, c[0x0][0x160] */
        {0x0000590000157a02, 0x000fe20000000f00}, /* MOV R21, c[0x0][0x164] */
        {0x0000004000067802, 0x000fe20000000f00}, /* MOV R6, 0x40 */
        {0x0000002000007944, 0x000fea0003c00000}, /* CALL.REL.NOINC 0x60 */
        {0x0000000414007986, 0x0003e4000c101b04}, /* STG.E.64 [R20.64], R4 */
        {0x000000000000794d, 0x000fea0003800000}, /* EXIT */
        {0x0000001000000944, 0x000fe20003c00000}, /* @P0 CALL.REL.NOINC 0x80 */
        {0xffffffe000007947, 0x000fea000383ffff}, /* BRA 0x60 */
        {0xffffff7006007950, 0x000fec0003c3ffff}, /* RET.REL.NODEC R6 0x0 */
    };
    (void)state;
    const uint64_t words = gp_code_data_words(code, sizeof(code), 80);
    assert_int_equal(words & 7, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_is_a_branch),
        cmocka_unit_test(words_that_are_data_only),
        cmocka_unit_test(nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
