/* code/instruction: the decoder against NVIDIA's disassembler. */
#include "../sass/expect.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* Lines "CC LOW HIGH MNEMONIC", as tests/sass/disassemble writes them. */
static void read_corpus(const char *name, unsigned at_least)
{
    char path[4096], line[512];
    snprintf(path, sizeof(path), "%.*s/../sass/%s", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__, name);
    FILE *file = fopen(path, "r");
    unsigned count = 0, wrong = 0;
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        int cc, at = 0;
        uint64_t word[2];
        assert_int_equal(
            sscanf(line, "%d %" SCNx64 " %" SCNx64 " %n", &cc, &word[0], &word[1], &at), 3);
        const struct gp_instruction is = gp_instruction_decode(word, cc);
        const struct gp_instruction should = expect_from_text(line + at);
        count++;
        if (expect_same(&is, &should))
            continue;
        char text[128];
        expect_describe(text, sizeof(text), &is);
        print_message("%s    is not %s\n", line, text);
        wrong++;
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_true(count >= at_least);
}

static void the_decoder_agrees_with_the_disassembler(void **state)
{
    (void)state;
    read_corpus("corpus.txt", 1000);
}

/* Of Volta, which current disassemblers do not know. */
static void and_with_an_older_one(void **state)
{
    (void)state;
    read_corpus("corpus-70.txt", 70);
}

static void an_opcode_that_is_not_listed_is_unknown(void **state)
{
    (void)state;
    const uint64_t free_opcode[2] = {0x7018, 0}, fadd[2] = {0x7221, 0};
    struct gp_instruction i = gp_instruction_decode(free_opcode, 90);
    assert_int_equal(i.op, GP_OP_UNKNOWN);
    assert_int_equal(i.opcode, 0x018);
    assert_int_equal(gp_instruction_decode(fadd, 90).op, GP_OP_FADD);
    assert_int_equal(gp_instruction_decode(fadd, 61).op, GP_OP_UNKNOWN);
    assert_int_equal(gp_instruction_decode(fadd, 130).op, GP_OP_UNKNOWN);
}

/* 0x035 was a way of HFMA2 up to 9.0, and is an integer addition since; 0x049 depends on the chip.
 */
static void opcodes_change_their_meaning(void **state)
{
    (void)state;
    const uint64_t moved[2] = {0x7435, 0}, packed[2] = {0x7249, 0};
    assert_int_equal(gp_instruction_decode(moved, 90).op, GP_OP_HFMA2);
    assert_int_equal(gp_instruction_decode(moved, 120).op, GP_OP_OTHER);
    assert_int_equal(gp_instruction_decode(packed, 90).op, GP_OP_UNKNOWN);
    assert_int_equal(gp_instruction_decode(packed, 100).op, GP_OP_FFMA2);
    assert_int_equal(gp_instruction_decode(packed, 120).op, GP_OP_OTHER);
}

static void code_need_not_be_aligned(void **state)
{
    (void)state;
    char bytes[17] = {0, 0x21, 0x72};
    assert_int_equal(gp_instruction_decode(bytes + 1, 80).op, GP_OP_FADD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_decoder_agrees_with_the_disassembler),
        cmocka_unit_test(and_with_an_older_one),
        cmocka_unit_test(an_opcode_that_is_not_listed_is_unknown),
        cmocka_unit_test(opcodes_change_their_meaning),
        cmocka_unit_test(code_need_not_be_aligned),
    };
    return cmocka_run_group_tests_name("instruction", tests, NULL, NULL);
}
