/* code/products: the products of matrices in the cubins that nvcc made of
 * tests/products/products.cu, and the kernels full of multiply-adds that are none.
 * code/parameter_uses: the parameters through which some of them read and write.
 * code/thread_parts: parts of a thread's numbers. code/registers: those of conversions. */
#include "code/instruction.h"
#include "code/parameter_uses.h"
#include "code/products.h"
#include "code/registers.h"
#include "code/thread_parts.h"
#include "cubins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TILES "product_"
#define PLAIN "plain_"
#define NONE "none_"

struct counts {
    unsigned multiply_adds, of[GP_PLAIN_PRODUCT + 1];
};

static struct counts count_in(const char *code, size_t size, int cc)
{
    struct counts counts = {0};
    struct gp_products *found = gp_products_find(code, size, cc);
    assert_non_null(found);
    for (size_t at = 0; at + GP_INSTRUCTION_BYTES <= size; at += GP_INSTRUCTION_BYTES) {
        counts.multiply_adds += gp_is_multiply_add(code, at, cc);
        counts.of[gp_products_at(found, at)]++;
    }
    gp_products_free(found);
    return counts;
}

static bool is_right(const char *name, const struct counts *c)
{
    const unsigned tiles = c->of[GP_PRODUCT], plain = c->of[GP_PLAIN_PRODUCT];
    const unsigned least = begins(name, TILES "in_") ? 9 : 3; /* tenths; in registers, nearly all */
    const bool most = 10 * (tiles + plain) > least * c->multiply_adds;
    return begins(name, NONE)    ? tiles + plain == 0
           : begins(name, PLAIN) ? most && plain > tiles
                                 : most && plain == 0;
}

#define KERNELS 88

static unsigned wrong;

static bool check_product(const char *name, int cc, const char *code, size_t size)
{
    if (!begins(name, TILES) && !begins(name, PLAIN) && !begins(name, NONE))
        return false;
    const struct counts counts = count_in(code, size, cc);
    if (is_right(name, &counts))
        return true;
    print_message("%s of %d: of %u multiply-adds %u and %u\n", name, cc, counts.multiply_adds,
                  counts.of[GP_PRODUCT], counts.of[GP_PLAIN_PRODUCT]);
    wrong++;
    return true;
}

static void products_of_matrices_and_others(void **state)
{
    (void)state;
    check_cubins("products", check_product, KERNELS);
    assert_int_equal(wrong, 0);
}

/* The parameters that are addresses, of eight bytes each, as bits by their numbers. */
static unsigned addresses(uint64_t words, unsigned count)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found |= (words >> 2 * i & 1) << i;
    return found;
}

static bool check_parameters(const char *name, int cc, const char *code, size_t size)
{
    static const struct {
        const char *name;
        unsigned count, read, written;
    } kernels[] = {{"plain_product", 3, 6, 1},        {"product_of_tiles", 3, 6, 1},
                   {"product_in_registers", 3, 6, 1}, {"none_element_by_element", 3, 7, 1},
                   {"none_a_dot_product", 3, 7, 1},   {"none_a_sparse_matrix", 5, 30, 1},
                   {"none_an_orbit", 1, 0, 1},        {"none_a_transform", 2, 3, 1}};
    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
        if (strcmp(name, kernels[k].name) != 0)
            continue;
        const struct gp_parameter_uses uses = gp_code_parameter_uses(code, size, cc);
        const unsigned read = addresses(uses.reads, kernels[k].count),
                       written = addresses(uses.writes, kernels[k].count);
        if (!uses.known || read != kernels[k].read || written != kernels[k].written)
            fail_msg("%s of %d: %d, %x, %x", name, cc, uses.known, read, written);
        return true;
    }
    return false;
}

static void parameters_that_are_read_and_written(void **state)
{
    (void)state;
    check_cubins("products", check_parameters, 8);
}

#define ALL UINT32_MAX

static void parts_follow_from_their_whole_alone(void **state)
{
    (void)state;
    struct gp_thread_parts p = {.given = 2};
    const uint32_t thread = 1, block = 2, both = thread | block;
    const uint32_t quotient = gp_thread_part(&p, both, 1, ALL);
    const uint32_t rest = gp_thread_part(&p, both, 2, ALL);
    assert_int_equal(quotient, 4);
    assert_int_equal(rest, 8);
    assert_int_equal(gp_thread_part(&p, both, 1, ALL), quotient);
    assert_int_equal(gp_thread_parts_implied(&p, both), both | quotient | rest);
    assert_int_equal(gp_thread_parts_implied(&p, thread), thread);
    assert_int_equal(gp_thread_parts_implied(&p, quotient), quotient);
    /* A part of a part follows from both. */
    const uint32_t upper = gp_thread_part(&p, quotient, 3, ALL << 3);
    assert_int_equal(gp_thread_parts_implied(&p, quotient), quotient | upper);
    assert_true(gp_thread_parts_implied(&p, both) & upper);
    /* Bits follow from more of the same bits. */
    const uint32_t more = gp_thread_part(&p, quotient, 3, ALL << 1);
    const uint32_t lower = gp_thread_part(&p, quotient, 3, 7);
    assert_int_equal(gp_thread_parts_implied(&p, more), more | upper);
    assert_int_equal(gp_thread_parts_implied(&p, upper), upper);
    assert_int_equal(gp_thread_parts_implied(&p, lower), lower);
}

/* As a loop makes them: a number that is halved in each round. */
static void parts_that_are_made_again_are_one(void **state)
{
    (void)state;
    struct gp_thread_parts p = {.given = 1};
    const uint32_t half = gp_thread_part(&p, 1, 1, ALL << 1);
    assert_int_equal(gp_thread_part(&p, 1 | half, 1, ALL << 1), half);
    assert_int_equal(p.count, 2);
}

static void more_parts_than_there_is_room_for_are_the_whole(void **state)
{
    (void)state;
    struct gp_thread_parts p = {.given = 1};
    assert_int_equal(gp_thread_part(&p, 0, 1, ALL), 0);
    for (uint64_t how = 1; how < GP_MOST_NUMBERS; how++)
        assert_int_equal(gp_thread_part(&p, 1, how, ALL), 1u << how);
    assert_int_equal(gp_thread_part(&p, 1, GP_MOST_NUMBERS, ALL), 1);
}

static void conversions_have_pairs_where_they_have_64_bits(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t word[2];
        unsigned read, written;
    } conversions[] = {{"F2F.F64.F32", {0x0000000a000a7310, 0x010e300000201800}, 1, 2},
                       {"F2F.F32.F64", {0x0000000800137310, 0x020e620000301000}, 2, 1},
                       {"F2I.S64.F64.TRUNC", {0x0000000c000c7311, 0x010e68000030d900}, 2, 2},
                       {"F2I.S64.TRUNC", {0x0000000e000e7311, 0x004ea4000020d900}, 1, 2},
                       {"F2I.F64.TRUNC", {0x0000001000117311, 0x008ef0000030d100}, 2, 1},
                       {"I2F.F64", {0x0000001200127312, 0x001e220000201c00}, 1, 2},
                       {"I2F.F64.S64", {0x0000000c000c7312, 0x010e240000301c00}, 2, 2},
                       {"I2F.S64", {0x0000001400157312, 0x010ea40000301400}, 2, 1},
                       {"F2I.TRUNC.NTZ", {0x0000001000117305, 0x008ee2000020f100}, 1, 1},
                       {"F2I.U32.TRUNC.NTZ", {0x0000000c000d7305, 0x010e24000020f000}, 1, 1},
                       {"I2F.S16", {0x0000000000137306, 0x010e700000101400}, 1, 1},
                       {"FRND.F64", {0x0000000800087313, 0x004e640000301800}, 2, 2},
                       {"FRND", {0x0000000f000f7307, 0x004e640000201000}, 1, 1},
                       {"I2F.F64.U16", {0x0000000c000c7312, 0x001e240000101800}, 1, 2}};
    for (size_t i = 0; i < sizeof(conversions) / sizeof(conversions[0]); i++) {
        struct gp_register_range operands[GP_MOST_OPERANDS];
        const uint64_t *word = conversions[i].word;
        if (gp_registers_read(word, 90, operands) != 1 ||
            operands[0].count != conversions[i].read ||
            gp_registers_written(word, 90).count != conversions[i].written)
            fail_msg("%s: %u to %u", conversions[i].name, operands[0].count,
                     gp_registers_written(word, 90).count);
    }
}

static void code_without_multiply_adds_has_none(void **state)
{
    (void)state;
    const uint64_t nothing[2][2] = {{0x1ff, 0}, {0x1ff, 0}};
    struct gp_products *found = gp_products_find(nothing, sizeof(nothing), 90);
    assert_non_null(found);
    assert_int_equal(gp_products_at(found, 0), GP_NO_PRODUCT);
    assert_int_equal(gp_products_at(found, 1 << 20), GP_NO_PRODUCT);
    gp_products_free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_matrices_and_others),
        cmocka_unit_test(parameters_that_are_read_and_written),
        cmocka_unit_test(code_without_multiply_adds_has_none),
        cmocka_unit_test(parts_follow_from_their_whole_alone),
        cmocka_unit_test(parts_that_are_made_again_are_one),
        cmocka_unit_test(more_parts_than_there_is_room_for_are_the_whole),
        cmocka_unit_test(conversions_have_pairs_where_they_have_64_bits),
    };
    return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
