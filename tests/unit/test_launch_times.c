/* launch/times: which launches are timed again. */
#include "launch/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void first_of_a_configuration_is_not_doubted(void **state)
{
    (void)state;
    struct gp_times times = {0};
    assert_false(times_doubt(&times, 1, 5));
    times_count(&times, 1, 5, 5);
    assert_false(times_doubt(&times, 2, 50));
    assert_true(times_doubt(&times, 1, 50));
}

static void a_launch_may_take_a_microsecond_or_a_twentieth_more(void **state)
{
    (void)state;
    struct gp_times times = {0};
    times_count(&times, 1, 0.006, 0.006);
    times_count(&times, 2, 1.0, 1.0);
    assert_false(times_doubt(&times, 1, 0.00699));
    assert_true(times_doubt(&times, 1, 0.00701));
    assert_false(times_doubt(&times, 2, 1.0499));
    assert_true(times_doubt(&times, 2, 1.0501));
}

static void the_least_time_counts(void **state)
{
    (void)state;
    struct gp_times times = {0};
    times_count(&times, 1, 0.020, 0.010);
    assert_true(times_doubt(&times, 1, 0.012));
    times_count(&times, 1, 0.008, 0.008);
    assert_true(times_doubt(&times, 1, 0.010));
    times_count(&times, 1, 0.009, 0.009);
    assert_true(times_least(&times, 1) == 0.008);
    assert_true(times_least(&times, 2) == 0);
}

/* Launches whose work varies cost four runs more, not one each. */
static void times_are_believed_after_four_runs_in_vain(void **state)
{
    (void)state;
    struct gp_times times = {0};
    times_count(&times, 1, 0.010, 0.010);
    times_count(&times, 2, 0.010, 0.010);
    for (int i = 0; i < 4; i++) {
        /* One that was held up, and so not in vain. */
        assert_true(times_doubt(&times, 1, 0.030));
        times_count(&times, 1, 0.030, 0.0105);
        assert_true(times_doubt(&times, 1, 0.020));
        times_count(&times, 1, 0.020, 0.020);
    }
    assert_false(times_doubt(&times, 1, 0.020));
    times_count(&times, 1, 0.020, 0.020);
    assert_false(times_doubt(&times, 1, 0.020));
    assert_true(times_doubt(&times, 2, 0.020));
}

static void more_configurations_than_are_known_are_not_doubted(void **state)
{
    (void)state;
    struct gp_times times = {0};
    for (uint64_t shape = 0; shape <= GP_TIMED_SHAPES; shape++)
        times_count(&times, shape, 1, 1);
    assert_true(times_doubt(&times, GP_TIMED_SHAPES - 1, 2));
    assert_false(times_doubt(&times, GP_TIMED_SHAPES, 2));
    times_count(&times, GP_TIMED_SHAPES - 1, 0.5, 0.5);
    assert_true(times_doubt(&times, GP_TIMED_SHAPES - 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_of_a_configuration_is_not_doubted),
        cmocka_unit_test(a_launch_may_take_a_microsecond_or_a_twentieth_more),
        cmocka_unit_test(the_least_time_counts),
        cmocka_unit_test(times_are_believed_after_four_runs_in_vain),
        cmocka_unit_test(more_configurations_than_are_known_are_not_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
