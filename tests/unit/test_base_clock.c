/* base/clock: the time that a reading of the clock takes. */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define READINGS 100000

static void test_many_readings_take_as_long_as_is_said(void **state)
{
    const uint64_t cost = gp_clock_cost_ns(), began = gp_clock_ns();
    (void)state;
    for (int i = 0; i < READINGS; i++)
        (void)gp_clock_ns();
    const uint64_t all = gp_clock_ns() - began;
    assert_true(cost > 0);
    assert_true(cost * READINGS < 3 * all); /* the quickest of some, and all of these */
    assert_int_equal(gp_clock_cost_ns(), cost);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_readings_take_as_long_as_is_said),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
