/* code/products: the products of matrices in the cubins that nvcc made of
 * tests/products/products.cu, and the kernels full of multiply-adds that are none.
 * code/parameter_uses: the parameters through which some of them read and write. */
#include "beside.h"
#include "code/cubin.h"
#include "code/instruction.h"
#include "code/parameter_uses.h"
#include "code/products.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TILES ".text.product_"
#define PLAIN ".text.plain_"
#define NONE ".text.none_"

static const int capabilities[] = {75, 80, 90, 100, 120};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

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
    const bool most = 10 * (tiles + plain) > 3 * c->multiply_adds;
    return begins(name, NONE)    ? tiles + plain == 0
           : begins(name, PLAIN) ? most && plain > tiles
                                 : most && plain == 0;
}

/* All kernels of a cubin; how many they are. */
static unsigned check(const char *image, size_t size, int cc)
{
    struct gp_cubin cubin;
    unsigned kernels = 0, wrong = 0;
    assert_true(gp_cubin_open(&cubin, image, size));
    for (unsigned i = 1; i < cubin.count; i++) {
        const char *name = gp_cubin_section_name(&cubin, i);
        if (!begins(name, TILES) && !begins(name, PLAIN) && !begins(name, NONE))
            continue;
        const Elf64_Shdr section = gp_cubin_section(&cubin, i);
        const struct counts counts = count_in(image + section.sh_offset, section.sh_size, cc);
        kernels++;
        if (is_right(name, &counts))
            continue;
        print_message("%s of %d: of %u multiply-adds %u and %u\n", name, cc, counts.multiply_adds,
                      counts.of[GP_PRODUCT], counts.of[GP_PLAIN_PRODUCT]);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    return kernels;
}

static void products_of_matrices_and_others(void **state)
{
    unsigned cubins = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
        char name[32];
        size_t size;
        snprintf(name, sizeof(name), "products.%d.cubin", capabilities[i]);
        char *image = read_beside(name, &size);
        if (!image)
            continue;
        assert_int_equal(check(image, size, capabilities[i]), 35);
        free(image);
        cubins++;
    }
    assert_true(cubins >= 2);
}

/* The parameters that are addresses, of eight bytes each, as bits by their numbers. */
static unsigned addresses(uint64_t words, unsigned count)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found |= (words >> 2 * i & 1) << i;
    return found;
}

static void parameters_that_are_read_and_written(void **state)
{
    static const struct {
        const char *name;
        unsigned count, read, written;
    } kernels[] = {
        {".text.plain_product", 3, 6, 1},        {".text.product_of_tiles", 3, 6, 1},
        {".text.product_in_registers", 3, 6, 1}, {".text.none_element_by_element", 3, 7, 1},
        {".text.none_a_dot_product", 3, 7, 1},   {".text.none_a_sparse_matrix", 5, 30, 1},
        {".text.none_an_orbit", 1, 0, 1},        {".text.none_a_transform", 2, 3, 1}};
    unsigned cubins = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++) {
        char name[32];
        size_t size;
        struct gp_cubin cubin;
        snprintf(name, sizeof(name), "products.%d.cubin", capabilities[i]);
        char *image = read_beside(name, &size);
        if (!image)
            continue;
        assert_true(gp_cubin_open(&cubin, image, size));
        for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++) {
            Elf64_Shdr section;
            assert_true(gp_cubin_find(&cubin, kernels[k].name, &section));
            const struct gp_parameter_uses uses =
                gp_code_parameter_uses(image + section.sh_offset, section.sh_size, capabilities[i]);
            const unsigned read = addresses(uses.reads, kernels[k].count),
                           written = addresses(uses.writes, kernels[k].count);
            if (!uses.known || read != kernels[k].read || written != kernels[k].written)
                fail_msg("%s of %d: %d, %x, %x", kernels[k].name, capabilities[i], uses.known, read,
                         written);
        }
        free(image);
        cubins++;
    }
    assert_true(cubins >= 2);
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
    };
    return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
