/* The period of samples, by the length of a launch. */
#include "counters/pc_samples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void long_launches_have_some_ten_thousand_samples(void **state)
{
    (void)state;
    for (double cycles = 1e4; cycles < 1e11; cycles *= 1.7) {
        const unsigned period = gp_pc_samples_period(cycles, 132);
        const double samples = 132 * cycles / (double)(1ull << period);
        assert_in_range(period, 12, 24);
        assert_float_equal(gp_pc_samples_of_run(cycles, 132), samples, 1e-6 * samples);
        if (period > 12 && period < 24)
            assert_in_range(samples, 13000, 30000);
    }
}

static void short_launches_have_the_shortest_period_that_does_not_disturb_them(void **state)
{
    (void)state;
    assert_int_equal(gp_pc_samples_period(0, 132), 12);
    assert_int_equal(gp_pc_samples_period(5000, 1), 12);
    assert_int_equal(gp_pc_samples_period(1e300, 132), 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_launches_have_some_ten_thousand_samples),
        cmocka_unit_test(short_launches_have_the_shortest_period_that_does_not_disturb_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
