/* counters/measured_rows: the few launches whose counters the others take. */
#include "counters/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static void add(struct gp_measured_rows *rows, double value)
{
    measured_add(rows, &value, 1);
}

static void none_of_none(void **state)
{
    (void)state;
    struct gp_measured_rows rows = {0};
    assert_null(measured_take(&rows, 1));
    assert_int_equal(measured_count(&rows), 0);
    measured_free(&rows);
}

static void in_turn(void **state)
{
    (void)state;
    struct gp_measured_rows rows = {0};
    for (int i = 0; i < GP_LEAST_MEASURED; i++) {
        assert_int_equal(measured_count(&rows), i);
        add(&rows, i);
    }
    for (int i = 0; i < 2 * GP_LEAST_MEASURED; i++)
        assert_true(*measured_take(&rows, 1) == i % GP_LEAST_MEASURED);
    measured_free(&rows);
}

/* Launches until one more is to be measured. */
static unsigned taken_until_more(struct gp_measured_rows *rows)
{
    unsigned taken = 0;
    for (; measured_count(rows) == GP_LEAST_MEASURED; taken++)
        measured_take(rows, 1);
    assert_int_equal(measured_count(rows), GP_LEAST_MEASURED - 1);
    return taken;
}

static void one_more_ever_more_rarely(void **state)
{
    (void)state;
    const unsigned wanted[] = {64, 128, 256, 512, 1024, 1024};
    struct gp_measured_rows rows = {0};
    for (int i = 0; i < GP_LEAST_MEASURED; i++)
        add(&rows, i);
    for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        assert_int_equal(taken_until_more(&rows), wanted[i]);
        add(&rows, 100 + i); /* in place of the oldest */
    }
    double sum = 0;
    for (int i = 0; i < GP_LEAST_MEASURED; i++)
        sum += *measured_take(&rows, 1);
    assert_true(sum == 102 + 103 + 104 + 105);
    measured_free(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_of_none),
        cmocka_unit_test(in_turn),
        cmocka_unit_test(one_more_ever_more_rarely),
    };
    (void)alarm(60); /* a test that fails may measure for ever */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
