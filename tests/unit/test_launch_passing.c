/* launch/passing: the host's time of launches that pass unmeasured. */
#include "base/added_time.h"
#include "base/clock.h"
#include "launch/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LAUNCHES 61000
#define DRIVER_NS 1000

/* A launch of which only the driver's part takes time. */
static void pass(void)
{
    passing_begins();
    if (passing_is_timed()) {
        const uint64_t began = gp_clock_ns();
        uint64_t now = began;
        while (now - began < DRIVER_NS)
            now = gp_clock_ns();
        passing_driver_took(gp_clock_ns() - began);
    }
    passing_ends();
}

static void test_clocks_are_no_time_of_launches_that_read_none(void **state)
{
    const double before = gp_added_parts().beside;
    (void)state;
    for (int i = 0; i < LAUNCHES; i++)
        pass();
    const double each_ns = 1e9 * (gp_added_parts().beside - before) / LAUNCHES;
    print_message("%.1f ns a launch, %lu a reading\n", each_ns, (unsigned long)gp_clock_cost_ns());
    assert_true(each_ns < 1.2 * (double)gp_clock_cost_ns());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_are_no_time_of_launches_that_read_none),
    };
    return cmocka_run_group_tests_name("launch/passing", tests, NULL, NULL);
}
