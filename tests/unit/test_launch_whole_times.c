/* launch/whole_times: sums of the launches of graphs that are timed as a whole. */
#include "launch/inside.h"
#include "launch/timed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned given;
static struct gp_whole_times last;

static void take(void *user, const struct gp_whole_times *t)
{
    (void)user;
    given++;
    last = *t;
}

static void list(void)
{
    given = 0;
    whole_times_visit(take, NULL);
}

static void launches_are_summed_and_those_without_a_time_are_counted(void **state)
{
    (void)state;
    struct gp_whole_times *t = gp_whole_times_of(7, "_Z5firstv", 3, 1);
    whole_times_add(t, 2e-3);
    whole_times_add(t, 0);
    whole_times_add(gp_whole_times_of(7, "_Z5otherv", 9, 0), 1e-3);
    list();
    assert_int_equal(given, 1);
    assert_string_equal(last.kernel, "_Z5firstv");
    assert_int_equal(last.kernels, 3);
    assert_int_equal(last.device, 1);
    assert_int_equal(last.launches, 3);
    assert_int_equal(last.timed, 2);
    assert_true(last.seconds > 2.99e-3 && last.seconds < 3.01e-3);
    assert_true(last.shortest == 1e-3 && last.longest == 2e-3);
}

/* A program that makes a new graph for each step. */
static void there_are_so_many_and_not_more(void **state)
{
    (void)state;
    unsigned made = 0;
    for (uint64_t key = 100; key < 10100; key++)
        made += gp_whole_times_of(key, "_Z1kv", 1, 0) != NULL;
    assert_in_range(made, 500, 2000);
    assert_non_null(gp_whole_times_of(7, "_Z5firstv", 3, 1)); /* one of before */
    list();
    assert_int_equal(given, made + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_summed_and_those_without_a_time_are_counted),
        cmocka_unit_test(there_are_so_many_and_not_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
