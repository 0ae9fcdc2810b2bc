/* launch/stays: how long a GPU's session stays with a context, and how often it moves. */
#include "launch/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_stay_lasts_a_second_or_until_launches_are_read(void **state)
{
    (void)state;
    struct gp_stays s = {0};
    stays_begin(&s, 100);
    stays_came(&s, 103);
    assert_float_equal(stays_end(&s, 0), 104, 1e-9);
    s.read = true;
    assert_float_equal(stays_end(&s, 0), 103, 1e-9);
    stays_came(&s, 110);
    assert_float_equal(stays_end(&s, 0), 111, 1e-9);
}

static void a_stay_ends_where_only_others_launch(void **state)
{
    (void)state;
    struct gp_stays s = {0};
    stays_begin(&s, 100);
    stays_came(&s, 103);
    assert_float_equal(stays_end(&s, 102.5), 104, 1e-9);
    assert_float_equal(stays_end(&s, 103.2), 103, 1e-9);
    stays_used(&s, 103.3);
    assert_float_equal(stays_end(&s, 103.2), 104, 1e-9);
}

/* The next one is expected to take as long as the last. */
static void switches_take_a_tenth_of_the_time(void **state)
{
    (void)state;
    struct gp_stays s = {0};
    stays_begin(&s, 100);
    stays_switched(&s, 0.5);
    assert_float_equal(stays_permit(&s, false), 110, 1e-9);
    stays_switched(&s, 0.25);
    assert_float_equal(stays_permit(&s, false), 110, 1e-9);
    stays_switched(&s, 0.25);
    assert_float_equal(stays_permit(&s, false), 112.5, 1e-9);
}

static void a_switch_that_is_due_in_any_case_is_permitted_and_counted(void **state)
{
    (void)state;
    struct gp_stays s = {0};
    stays_begin(&s, 100);
    stays_switched(&s, 5);
    assert_float_equal(stays_permit(&s, true), 100, 1e-9);
    assert_float_equal(stays_permit(&s, false), 200, 1e-9);
}

static void in_a_long_run_no_more_than_a_tenth_is_spent(void **state)
{
    (void)state;
    const double takes[] = {0.3, 0.05, 1.2, 0.3};
    struct gp_stays s = {0};
    double now = 0;
    unsigned switches = 0;
    stays_begin(&s, now);
    stays_switched(&s, takes[3]);
    while (now < 1000) {
        now += 0.01;
        if (now < stays_permit(&s, false))
            continue;
        const double took = takes[switches++ % 4];
        now += took;
        stays_switched(&s, took);
    }
    /* One that takes longer than the last is over the limit by the difference, once. */
    assert_true(s.spent <= 0.1 * now + 1.2);
    assert_true(s.spent >= 0.1 * now - 2.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stay_lasts_a_second_or_until_launches_are_read),
        cmocka_unit_test(a_stay_ends_where_only_others_launch),
        cmocka_unit_test(switches_take_a_tenth_of_the_time),
        cmocka_unit_test(a_switch_that_is_due_in_any_case_is_permitted_and_counted),
        cmocka_unit_test(in_a_long_run_no_more_than_a_tenth_is_spent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
