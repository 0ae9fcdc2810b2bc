/* code/scoreboards, paths, address_origins, divisions: the instructions that one waits for, on all
 * ways that lead to it. The words have the fields that ptxas gives them. */
#include "code/address_origins.h"
#include "code/divisions.h"
#include "code/halves.h"
#include "code/instruction.h"
#include "code/scoreboards.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NONE 7u /* no scoreboard; no predicate */
#define RZ 255u

/* An instruction of a result and two operands; it counts its result by a scoreboard, and waits for
 * those of the mask. */
#define INSTRUCTION(opcode, d, a, b, third, result, mask)                             \
    {                                                                                 \
        (opcode) | (uint64_t)NONE << 12 | (uint64_t)(d) << 16 | (uint64_t)(a) << 24 | \
            (uint64_t)(b) << 32,                                                      \
            (uint64_t)(third) | (uint64_t)(result) << 46 | (uint64_t)NONE << 49 |     \
                (uint64_t)(mask) << 52                                                \
    }
#define LDG(d, a, result) INSTRUCTION(0x981, d, a, 0, 4u << 9, result, 0)
#define LDS(d, a, result) INSTRUCTION(0x984, d, a, 0, 4u << 9, result, 0)
#define FADD(d, a, b, mask) INSTRUCTION(0x221, d, a, b, 0, NONE, mask)
#define IMAD(d, a, b, c, mask) INSTRUCTION(0x224, d, a, b, c, NONE, mask)
#define PLAIN INSTRUCTION(0x221, 90, 91, 92, 0, NONE, 0)
#define EXIT_ INSTRUCTION(0x94d, 0, 0, 0, (uint64_t)NONE << 23, NONE, 0)
#define BSYNC_ INSTRUCTION(0x941, 0, 0, 0, (uint64_t)NONE << 23, NONE, 0)
#define RET_ INSTRUCTION(0x950, 0, 2, 0, (uint64_t)NONE << 23, NONE, 0)
#define BRX_ INSTRUCTION(0x949, 0, 2, 0, (uint64_t)NONE << 23, NONE, 0)
/* To the instruction so many behind. */
#define BSSY_(by) INSTRUCTION(0x945, 0, 0, 16 * ((by)-1), 0, NONE, 0)
#define DISTANCE(by) ((uint64_t)((by)*4 - 4))
#define JUMP(opcode, condition, by)                                                        \
    {                                                                                      \
        (opcode) | (uint64_t)(condition) << 12 | (DISTANCE(by) & 0xff) << 16 |             \
            (DISTANCE(by) >> 8) << 34,                                                     \
            (uint64_t)NONE << 23 | (DISTANCE(by) >> 38 & 0x3ffff) | (uint64_t)NONE << 46 | \
                (uint64_t)NONE << 49                                                       \
    }
#define GO(by) JUMP(0x947, NONE, by)
#define IF_GO(by) JUMP(0x947, 0u, by)
#define CALL(by) JUMP(0x944, NONE, by)
#define LDGSTS_ INSTRUCTION(0xfae, 8, 10, 0, 0, NONE, 0)
#define LDGDEPBAR_(result) INSTRUCTION(0x9af, 0, 0, 0, 0, result, 0)
#define DEPBAR_(scoreboard) \
    INSTRUCTION(0x91a, 0, 0, (uint64_t)(scoreboard) << 12 | 1u << 15, 0, NONE, 0)

/* The numbers of the instructions that number n waits for, in the order of the code. */
static void waits_for(const uint64_t (*code)[2], size_t count, size_t n, enum gp_queue queue,
                      const char *wanted)
{
    uint32_t found[16];
    char text[64] = "";
    struct gp_paths *p = gp_paths_open(code, count * GP_INSTRUCTION_BYTES, 90);
    assert_non_null(p);
    const size_t producers = gp_producers_find(p, n, queue, found, 16);
    for (size_t at = 0; at < count; at++)
        for (size_t i = 0; i < producers; i++)
            if (found[i] == at)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu ", at);
    gp_paths_close(p);
    assert_string_equal(text, wanted);
}
#define WAITS_FOR(n, queue, wanted, ...)                                                 \
    do {                                                                                 \
        const uint64_t code_[][2] = {__VA_ARGS__};                                       \
        waits_for(code_, sizeof(code_) / sizeof(code_[0]), n, GP_QUEUE_##queue, wanted); \
    } while (0)

static void fields_of_the_compiler(void **state)
{
    (void)state;
    /* LDG.E R4, desc[UR4][R4.64] with W5 R0; IADD3 that waits for 0 and 5; LDGDEPBAR with W0. */
    const uint64_t load[2] = {0x0000000404047981, 0x000162000c1e1900},
                   add[2] = {0x0000001504057810, 0x021fe20007ffe0ff},
                   depbar[2] = {0x000080400000791a, 0x000fc80000000000};
    assert_int_equal(gp_scoreboards_set(load), 1u << 5 | 1u << 0);
    assert_int_equal(gp_scoreboards_awaited(load), 0);
    assert_int_equal(gp_scoreboards_awaited(add), 1u << 5 | 1u << 0);
    assert_int_equal(gp_scoreboards_set(add), 0);
    assert_int_equal(gp_scoreboards_awaited(depbar), 1u << 0);
}

static void all_since_the_last_wait(void **state)
{
    (void)state;
    WAITS_FOR(3, LONG, "0 1 ", LDG(4, 10, 2), LDG(5, 10, 2), LDG(6, 10, 3), FADD(7, 4, 5, 1u << 2));
    /* The first is done when the second is waited for. */
    WAITS_FOR(4, LONG, "2 ", LDG(4, 10, 2), FADD(7, 4, 4, 1u << 2), LDG(5, 10, 2), PLAIN,
              FADD(7, 5, 5, 1u << 2));
    WAITS_FOR(2, LONG, "", LDG(4, 10, 2), PLAIN, FADD(7, 4, 4, 0));
}

static void of_the_queue_that_the_reason_names(void **state)
{
    (void)state;
    WAITS_FOR(2, LONG, "0 ", LDG(4, 10, 0), LDS(5, 10, 1), FADD(7, 4, 5, 3));
    WAITS_FOR(2, SHORT, "1 ", LDG(4, 10, 0), LDS(5, 10, 1), FADD(7, 4, 5, 3));
    WAITS_FOR(1, SHORT, "0 ", LDG(4, 10, 0), FADD(7, 4, 5, 1));
}

static void on_all_ways(void **state)
{
    (void)state;
    /* Both sides of a branch; a third one ends. */
    WAITS_FOR(5, LONG, "1 4 ", IF_GO(4), LDG(4, 10, 0), GO(3), EXIT_, LDG(4, 12, 0),
              FADD(7, 4, 4, 1));
    /* Behind an end, nothing comes from before it. */
    WAITS_FOR(2, LONG, "", LDG(4, 10, 0), EXIT_, FADD(7, 4, 4, 1));
    /* Threads meet behind the BSSY's part, and do not go on behind their BSYNC. */
    WAITS_FOR(4, LONG, "", BSSY_(6), IF_GO(3), LDG(4, 10, 0), BSYNC_, FADD(7, 4, 4, 1), BSYNC_,
              PLAIN);
    WAITS_FOR(6, LONG, "4 ", BSSY_(6), IF_GO(3), LDG(4, 10, 1), BSYNC_, LDG(4, 10, 0), BSYNC_,
              FADD(7, 4, 4, 1));
    WAITS_FOR(6, LONG, "2 4 ", BSSY_(6), IF_GO(3), LDG(4, 10, 0), BSYNC_, LDG(4, 10, 0), BSYNC_,
              FADD(7, 4, 4, 1));
}

static void in_loops(void **state)
{
    (void)state;
    /* A load behind the wait, of the iteration before; the one before the loop is waited for once.
     */
    WAITS_FOR(1, LONG, "2 ", LDG(4, 10, 0), FADD(7, 4, 4, 1), LDG(4, 10, 0), IF_GO(-2), EXIT_);
    /* An instruction that waits for itself. */
    const uint64_t chase[][2] = {{0x0000000404047981, 0x001162000c1e1900}, IF_GO(-1), EXIT_};
    waits_for(chase, 3, 0, GP_QUEUE_LONG, "0 ");
}

static void through_calls_and_tables(void **state)
{
    (void)state;
    /* The subroutine's load is waited for behind the call. */
    WAITS_FOR(1, LONG, "3 ", CALL(3), FADD(7, 4, 4, 1), EXIT_, LDG(4, 10, 0), RET_);
    /* Nothing else leads to 3. */
    WAITS_FOR(3, LONG, "0 ", LDG(4, 10, 0), BRX_, EXIT_, FADD(7, 4, 4, 1));
}

static void copies_are_named_for_their_barrier(void **state)
{
    (void)state;
    WAITS_FOR(5, LONG, "2 3 ", LDGSTS_, LDGDEPBAR_(1), LDGSTS_, LDGSTS_, LDGDEPBAR_(0), DEPBAR_(0));
}

/* A warp goes past the DEPBAR, and stands at the next instruction until the copies are there. */
static void behind_a_depbar_its_copies_are_waited_for(void **state)
{
    (void)state;
    WAITS_FOR(3, LONG, "0 ", LDGSTS_, LDGDEPBAR_(0), DEPBAR_(0), LDS(4, 10, 1));
    /* In a loop, and beside a result of its own. */
    WAITS_FOR(4, LONG, "0 1 ", LDGSTS_, LDG(5, 10, 2), LDGDEPBAR_(0), DEPBAR_(0),
              FADD(6, 5, 5, 1u << 2), IF_GO(-5), EXIT_);
    /* One instruction further the copies are there. */
    WAITS_FOR(4, LONG, "", LDGSTS_, LDGDEPBAR_(0), DEPBAR_(0), PLAIN, FADD(6, 5, 5, 0));
}

/* ---- addresses ------------------------------------------------------------------------------- */

static struct gp_address_origins origins(const uint64_t (*code)[2], size_t count, size_t n)
{
    struct gp_paths *p = gp_paths_open(code, count * GP_INSTRUCTION_BYTES, 90);
    assert_non_null(p);
    const struct gp_address_origins found = gp_address_origins_of(p, n);
    gp_paths_close(p);
    return found;
}
#define ORIGINS(n, ...)                                      \
    ({                                                       \
        const uint64_t code_[][2] = {__VA_ARGS__};           \
        origins(code_, sizeof(code_) / sizeof(code_[0]), n); \
    })
/* S2R R, SR_TID.X and SR_CTAID.X; LDC R, c[3][R] */
#define THREAD(d) INSTRUCTION(0x919, d, 0, 0, 0x21u << 8, 0, 0)
#define BLOCK(d) INSTRUCTION(0x919, d, 0, 0, 0x25u << 8, 0, 0)
#define LDC_BY(d, a) INSTRUCTION(0xb82, d, a, 3u << 22, 4u << 9, 1, 0)

static void addresses_that_loads_brought(void **state)
{
    (void)state;
    assert_true(ORIGINS(2, LDG(4, 10, 0), IMAD(6, 4, 20, 21, 1), LDG(8, 6, 1)).is_loaded);
    assert_false(ORIGINS(2, LDG(4, 10, 0), IMAD(6, 30, 20, 21, 1), LDG(8, 6, 1)).is_loaded);
    /* It was written anew, or under a condition alone. */
    assert_false(ORIGINS(2, LDG(6, 10, 0), IMAD(6, 30, 20, 21, 1), LDG(8, 6, 1)).is_loaded);
    const uint64_t maybe[][2] = {
        LDG(6, 10, 0), {0x0000002014060221 & ~UINT64_C(0xf000), 0}, LDG(8, 6, 1)};
    assert_true(origins(maybe, 3, 2).is_loaded);
    /* A pointer that is loaded before the loop is no chain; an index in it is one. */
    assert_false(ORIGINS(1, LDG(6, 10, 0), LDG(8, 6, 1), IF_GO(-1), EXIT_).is_loaded);
    assert_true(ORIGINS(1, LDG(6, 10, 0), LDG(8, 6, 1), LDG(6, 12, 0), IF_GO(-2)).is_loaded);
    assert_true(ORIGINS(0, LDG(6, 6, 1), IF_GO(-1), EXIT_).is_loaded);
}

static void addresses_that_differ_between_lanes(void **state)
{
    (void)state;
    assert_true(ORIGINS(1, THREAD(4), LDC_BY(6, 4)).differs_in_lanes);
    assert_false(ORIGINS(1, BLOCK(4), LDC_BY(6, 4)).differs_in_lanes);
    assert_true(ORIGINS(2, LDS(4, 10, 0), IMAD(5, 4, 20, RZ, 1), LDC_BY(6, 5)).differs_in_lanes);
    assert_false(ORIGINS(2, LDC_BY(4, 10), IMAD(5, 4, 20, RZ, 2), LDC_BY(6, 5)).differs_in_lanes);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void one_half_at_a_time(void **state)
{
    (void)state;
    static const struct {
        uint64_t word[2];
        bool is_scalar;
    } cases[] = {
        {{0x2000000607077231, 0x020fe20000040807}, true},  /* HFMA2 R7, R7.H0_H0, R6.H0_H0, ... */
        {{0x2000000706067230, 0x000fe20000000800}, true},  /* HADD2 R6, R6.H0_H0, R7.H0_H0 */
        {{0x2000000607067232, 0x020fe20000000800}, true},  /* HMUL2 */
        {{0x0000000706067231, 0x020fe20000000006}, false}, /* HFMA2 R6, R6, R7, R6 */
        {{0x2000000706067230, 0x000fe20000000000}, false}, /* HADD2 R6, R6, R7.H0_H0 */
        {{0x3c003c0007077835, 0x000fd00000000006}, false}, /* HFMA2.MMA R7, R7, 1, 1, R6 */
        {{0x00000000ff077435, 0x000fe200000001ff}, false}, /* HFMA2.MMA R7, -RZ, RZ, 0, 0 */
        {{0x0000000502057210, 0x001fca0007ffe0ff}, false}, /* IADD3 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(gp_is_scalar_half_arithmetic(cases[i].word, 0, 90), cases[i].is_scalar);
}

static void subroutines_that_divide_have_names(void **state)
{
    (void)state;
    assert_true(gp_is_division("$__internal_1_$__cuda_sm20_div_s64"));
    assert_true(gp_is_division("$__internal_0_$__cuda_sm20_rem_u64"));
    assert_false(gp_is_division("$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath"));
    assert_false(gp_is_division("_Z6my_divPi"));
}

/* Any bytes are code to these. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    static unsigned char code[64 * GP_INSTRUCTION_BYTES];
    bool marks[64];
    uint32_t seed = 1;
    for (unsigned round = 0; round < 500; round++) {
        for (size_t i = 0; i < sizeof(code); i++)
            code[i] = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
        /* Some known opcodes among them. */
        for (size_t n = 0; n < 64; n += 3) {
            static const uint16_t opcodes[] = {0x947, 0x944, 0x945, 0x941, 0x950, 0x949,
                                               0x981, 0x227, 0x305, 0xb82, 0x91a, 0x9af};
            memcpy(code + n * GP_INSTRUCTION_BYTES, &opcodes[(n + round) % 12], 2);
        }
        const int cc = round % 2 ? 90 : 75;
        struct gp_paths *p = gp_paths_open(code, sizeof(code), cc);
        assert_non_null(p);
        for (size_t n = 0; n <= 64; n++) {
            uint32_t found[4];
            assert_true(gp_producers_find(p, n, n % 2 ? GP_QUEUE_LONG : GP_QUEUE_SHORT, found, 4) <=
                        4);
            gp_address_origins_of(p, n);
        }
        gp_paths_close(p);
        memset(marks, 0, sizeof(marks));
        gp_divisions_mark(code, sizeof(code), cc, marks);
    }
    assert_null(gp_paths_open(code, GP_LONGEST_CODE + 1, 90));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_the_compiler),
        cmocka_unit_test(all_since_the_last_wait),
        cmocka_unit_test(of_the_queue_that_the_reason_names),
        cmocka_unit_test(on_all_ways),
        cmocka_unit_test(in_loops),
        cmocka_unit_test(through_calls_and_tables),
        cmocka_unit_test(copies_are_named_for_their_barrier),
        cmocka_unit_test(behind_a_depbar_its_copies_are_waited_for),
        cmocka_unit_test(addresses_that_loads_brought),
        cmocka_unit_test(addresses_that_differ_between_lanes),
        cmocka_unit_test(one_half_at_a_time),
        cmocka_unit_test(subroutines_that_divide_have_names),
        cmocka_unit_test(damage_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
