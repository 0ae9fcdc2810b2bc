/* memory/near: the near part of divided memory. */
#include "memory/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_nothing_is_near_at_first(void **state)
{
    struct gp_near near;
    uint64_t from = 0, to;
    (void)state;
    near_begin(&near, 1000);
    assert_false(near_next(&near, &from, &to));
    assert_false(near_holds(&near, 0, 1));
    assert_true(near_holds(&near, 5, 5));
}

static void test_a_block_and_the_next_are_near(void **state)
{
    struct gp_near near;
    uint64_t from = 0, to;
    (void)state;
    near_begin(&near, 1600); /* a block is 128 units: a 16th, in whole words of bits */
    assert_true(near_add(&near, 300));
    assert_false(near_add(&near, 383));
    assert_true(near_next(&near, &from, &to));
    assert_int_equal(from, 256);
    assert_int_equal(to, 512);
    assert_true(near_holds(&near, 256, 512));
    assert_false(near_holds(&near, 255, 257));
    assert_false(near_holds(&near, 511, 513));
    assert_true(near_add(&near, 384)); /* the block behind is new */
    assert_true(near_holds(&near, 256, 640));
}

static void test_a_stretch_begins_where_it_is_asked_for(void **state)
{
    struct gp_near near;
    uint64_t from = 300, to;
    (void)state;
    near_begin(&near, 1600);
    near_add(&near, 256);
    near_add_changed(&near, 1500);
    assert_true(near_next(&near, &from, &to));
    assert_int_equal(from, 300);
    assert_int_equal(to, 512);
    from = to;
    assert_true(near_next(&near, &from, &to));
    assert_int_equal(from, 1408);
    assert_int_equal(to, 1536);
    from = to;
    assert_false(near_next(&near, &from, &to));
}

static void test_the_end_need_not_be_a_whole_block(void **state)
{
    struct gp_near near;
    uint64_t from = 1590, to;
    (void)state;
    near_begin(&near, 1600);
    assert_true(near_add(&near, 1599));
    assert_true(near_next(&near, &from, &to));
    assert_int_equal(to, 1600);
    from = to;
    assert_false(near_next(&near, &from, &to));
    assert_true(near_holds(&near, 1536, 1600));
}

static void test_no_block_is_larger_than_256_megabytes(void **state)
{
    const uint64_t units = ((uint64_t)100 << 30) / GP_UNIT_BYTES,
                   block = ((uint64_t)256 << 20) / GP_UNIT_BYTES;
    struct gp_near near;
    uint64_t from = 0, to;
    (void)state;
    near_begin(&near, units);
    near_add(&near, units / 2);
    assert_true(near_next(&near, &from, &to));
    assert_int_equal(to - from, 2 * block);
    near_begin(&near, (uint64_t)1 << 40);
    assert_true(near.block * GP_NEAR_BLOCKS >= (uint64_t)1 << 40);
    near_add(&near, ((uint64_t)1 << 40) - 1);
    assert_true(near_holds(&near, ((uint64_t)1 << 40) - 1, (uint64_t)1 << 40));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_near_at_first),
        cmocka_unit_test(test_a_block_and_the_next_are_near),
        cmocka_unit_test(test_a_stretch_begins_where_it_is_asked_for),
        cmocka_unit_test(test_the_end_need_not_be_a_whole_block),
        cmocka_unit_test(test_no_block_is_larger_than_256_megabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
