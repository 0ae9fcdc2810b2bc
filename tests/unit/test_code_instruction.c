/* code/instruction: the decoder against NVIDIA's disassembler. */
#include "../sass/expect.h"
#include "code/halves.h"
#include "code/mnemonic.h"
#include "code/two_sides.h"

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

/* The corpus of Volta is of an older disassembler: current ones do not know that chip. */
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

static void branches_have_names(void **state)
{
    (void)state;
    const uint64_t branch[2] = {0xfffffffc00fc7947, 0x000fc0000383ffff},
                   end[2] = {0x000000000000794d, 0x000fea0003800000},
                   add[2] = {0x0000000502057210, 0x001fca0007ffe0ff};
    assert_string_equal(gp_mnemonic(branch, 90), "BRA");
    assert_string_equal(gp_mnemonic(end, 90), "EXIT");
    assert_string_equal(gp_mnemonic(add, 90), "IADD3");
}

/* Modifiers decide between these, or one is a way to write the other. */
static bool is_variant(const char *name, const char *written)
{
    static const char *const pairs[][2] = {
        {"IADD3", "IADD"},           {"IMAD", "IMUL"},        {"FADD", "FHADD"},
        {"FFMA", "FHFMA"},           {"UFADD", "UFHADD"},     {"UFFMA", "UFHFMA"},
        {"MOV64IUR", "RPCMOV"},      {"ERRBAR", "CGAERRBAR"}, {"UCGABAR", "UCGABAR_ARV"},
        {"UCGABAR", "UCGABAR_WAIT"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (strcmp(name, pairs[i][0]) == 0 && strcmp(written, pairs[i][1]) == 0)
            return true;
    return false;
}

/* Each line of the corpus: the name up to the first modifier. */
static void check_names(const char *corpus)
{
    char path[4096], line[512], written[64];
    snprintf(path, sizeof(path), "%.*s/../sass/%s", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__, corpus);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        int cc;
        uint64_t word[2];
        assert_int_equal(sscanf(line, "%d %" SCNx64 " %" SCNx64 " %63[A-Z0-9_]", &cc, &word[0],
                                &word[1], written),
                         4);
        const char *name = gp_mnemonic(word, cc);
        assert_non_null(name);
        if (!is_variant(name, written))
            assert_string_equal(name, written);
    }
    fclose(file);
}

static void every_opcode_has_its_name(void **state)
{
    (void)state;
    check_names("corpus.txt");
    check_names("corpus-70.txt");
}

static void predicates_are_written_out(void **state)
{
    (void)state;
    static const struct {
        uint64_t low;
        const char *text;
    } cases[] = {
        {0x7223, ""}, {0x0223, "@P0 "}, {0x9223, "@!P1 "}, {0xf223, "@!PT "}, {0x8890, "@!UP0 "}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const uint64_t word[2] = {cases[i].low, 0};
        char text[GP_PREDICATE_SIZE];
        gp_predicate_text(word, 90, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void code_need_not_be_aligned(void **state)
{
    (void)state;
    char bytes[17] = {0, 0x21, 0x72};
    assert_int_equal(gp_instruction_decode(bytes + 1, 80).op, GP_OP_FADD);
}

/* Code of instructions with these lowest bits: an operation, and a predicate above it. */
static size_t two_sided(const uint16_t *low, size_t count)
{
    char code[32 * GP_INSTRUCTION_BYTES] = {0};
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        memcpy(code + i * GP_INSTRUCTION_BYTES, &low[i], sizeof(low[i]));
    for (size_t i = 0; i < count; i++)
        found += gp_is_of_two_sides(code, count * GP_INSTRUCTION_BYTES, i * GP_INSTRUCTION_BYTES);
    return found;
}

#define FFMA 0x223
#define LDS 0x984
#define EXIT 0x94d
#define P(n) (uint16_t)((n) << 12)
#define NOT_P(n) (uint16_t)(((n) | 8) << 12)

static void sides_of_a_branch_have_opposite_predicates(void **state)
{
    (void)state;
    const uint16_t both[] = {FFMA | P(0), FFMA | NOT_P(0), FFMA | P(7), FFMA | P(0)};
    assert_int_equal(two_sided(both, 4), 3);
    /* A step of a reduction: its lanes are on or off. */
    const uint16_t one[] = {LDS | NOT_P(0), LDS | NOT_P(0), FFMA | P(7), LDS | NOT_P(0),
                            EXIT | P(0)};
    assert_int_equal(two_sided(one, 5), 0);
    /* Instructions of two predicates, and ones too far apart, are no sides of one branch. */
    const uint16_t other[] = {FFMA | P(0), FFMA | NOT_P(1)};
    assert_int_equal(two_sided(other, 2), 0);
    uint16_t far[20];
    for (size_t i = 0; i < 20; i++)
        far[i] = FFMA | P(7);
    far[0] = FFMA | P(0);
    far[19] = FFMA | NOT_P(0);
    assert_int_equal(two_sided(far, 20), 0);
}

/* As ptxas writes them. */
static void constants_and_widening_are_no_half_arithmetic(void **state)
{
    (void)state;
    static const struct {
        uint64_t word[2];
        int cc;
        bool is_arithmetic;
    } cases[] = {
        {{0x0000000702077231, 0x000fca0000000000}, 80, true},   /* HFMA2 R7, R2, R7, R0 */
        {{0x0000000707007235, 0x004fd40000000002}, 90, true},   /* HFMA2.MMA R0, R7, R7, R2 */
        {{0x3f803f8002007831, 0x008fc80000200000}, 80, true},   /* HFMA2.BF16_V2 R0, R2, 1, 1, R0 */
        {{0x0000000007007231, 0x004fc800003400ff}, 80, true},   /* HFMA2.BF16_V2 R0, R7, R0, -RZ */
        {{0x0000000004057230, 0x002fd00000000000}, 75, true},   /* HADD2 */
        {{0x0000000f02037230, 0x001fcc0000000000}, 80, true},   /* HADD2 R3, R2, R15 */
        {{0x0000000e0d0d7232, 0x008fc80000000000}, 100, true},  /* HMUL2 */
        {{0x40000000ff057435, 0x000fe200000001ff}, 80, false},  /* HFMA2.MMA R5, -RZ, RZ, 2, 0 */
        {{0x40400000ff097431, 0x000fe400000001ff}, 100, false}, /* HFMA2 R9, -RZ, RZ, 2.125, 0 */
        {{0x20000002ff007230, 0x004fca0000004100}, 90, false},  /* HADD2.F32 R0, -RZ, R2.H0_H0 */
        {{0xa00000ff02077230, 0x004fca0000000100}, 90, false},  /* HADD2 R7, -R2, -RZ.H0_H0 */
        {{0x200000ff02077240, 0x004fca0007800000}, 90, false},  /* HMNMX2 R7, R2, RZ.H0_H0, !PT */
        {{0x0000000502057210, 0x001fca0007ffe0ff}, 90, false},  /* IADD3 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (gp_is_half_arithmetic(cases[i].word, 0, cases[i].cc) != cases[i].is_arithmetic)
            fail_msg("%016" PRIx64 " of %d", cases[i].word[0], cases[i].cc);
    /* Wherever it stands. */
    const uint64_t code[][2] = {{0x0000000502057210, 0x001fca0007ffe0ff},
                                {0x0000000702077231, 0x000fca0000000000}};
    assert_false(gp_is_half_arithmetic(code, 0, 90));
    assert_true(gp_is_half_arithmetic(code, GP_INSTRUCTION_BYTES, 90));
}

/* A kernel of 9.0 as nvcc writes y[i] += 2.125f: it moves a constant, and widens a number. */
static const uint64_t single[][2] = {
    {0x40400000ff097431, 0x000fe400000001ff}, /* HFMA2 R9, -RZ, RZ, 2.125, 0 */
    {0x20000002ff007230, 0x004fca0000004100}, /* HADD2.F32 R0, -RZ, R2.H0_H0 */
    {0x0000000504047221, 0x004fca0000000000}, /* FADD */
    {0x000000484404723c, 0x002fe20000001804}, /* HMMA.16816.F32: on tensor cores */
    {0x000000000000794d, 0x000fea0003800000}, /* EXIT */
    {0xfffffffc00fc7947, 0x000fc0000383ffff}, /* BRA to itself */
};
#define SINGLE (sizeof(single) / sizeof(single[0]))

static bool may_compute_halves_with(const uint64_t word[2], size_t at, int cc)
{
    uint64_t code[SINGLE][2];
    memcpy(code, single, sizeof(code));
    memcpy(code[at], word, sizeof(code[at]));
    return gp_code_may_compute_halves(code, sizeof(code), cc);
}

static void code_without_half_arithmetic_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t word[2];
        bool may;
    } rows[] = {
        {"HFMA2.MMA R0, R7, R7, R2", {0x0000000707007235, 0x004fd40000000002}, true},
        {"HADD2 R3, R2, R15", {0x0000000f02037230, 0x001fcc0000000000}, true},
        {"HFMA2.MMA R5, -RZ, RZ, 2, 0", {0x40000000ff057435, 0x000fe200000001ff}, false},
        {"an opcode that nobody knows", {0x7018, 0}, true},
        {"BRA far", {0x0000010000fc7947, 0x000fc00003800000}, true},
        {"CALL.REL.NOINC within", {0xfffffffc00f47944, 0x023fea0003c3ffff}, false},
        {"CALL.REL.NOINC by a register", {0xfffffffc02f47344, 0x023fea0003c3ffff}, true},
        {"CALL.ABS.NOINC", {0x0000000002007343, 0x004fea0003c00000}, true},
        {"BRX", {0xfffffffc02dc7949, 0x000fea000383ffff}, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t at = 2; at < SINGLE; at++)
            if (may_compute_halves_with(rows[i].word, at, 90) != rows[i].may)
                fail_msg("%s at %zu", rows[i].name, at);
    assert_false(gp_code_may_compute_halves(single, sizeof(single), 90));
    /* Before 7.0 instructions are others. */
    assert_true(gp_code_may_compute_halves(single, sizeof(single), 62));
}

static void the_drivers_functions_compute_no_halves(void **state)
{
    (void)state;
    uint64_t code[][2] = {
        {0x0100000000027b82, 0x000e640000000a00}, /* LDC.64 R2, c[0x4][R0] */
        {0x0000000002007343, 0x004fea0003c00000}, /* CALL.ABS.NOINC R2 */
    };
    assert_false(gp_code_may_compute_halves(code, sizeof(code), 90));
    code[0][0] = 0x00c0000000027b82; /* LDC.64 R2, c[0x3][R0]: of the program */
    assert_true(gp_code_may_compute_halves(code, sizeof(code), 90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_decoder_agrees_with_the_disassembler),
        cmocka_unit_test(and_with_an_older_one),
        cmocka_unit_test(an_opcode_that_is_not_listed_is_unknown),
        cmocka_unit_test(sides_of_a_branch_have_opposite_predicates),
        cmocka_unit_test(opcodes_change_their_meaning),
        cmocka_unit_test(branches_have_names),
        cmocka_unit_test(every_opcode_has_its_name),
        cmocka_unit_test(predicates_are_written_out),
        cmocka_unit_test(code_need_not_be_aligned),
        cmocka_unit_test(constants_and_widening_are_no_half_arithmetic),
        cmocka_unit_test(code_without_half_arithmetic_is_known),
        cmocka_unit_test(the_drivers_functions_compute_no_halves),
    };
    return cmocka_run_group_tests_name("instruction", tests, NULL, NULL);
}
