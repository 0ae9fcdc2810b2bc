/* profile/kinds: how a launch was measured, by the values that its record has. */
#include "profile/kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TIME                                       \
    {                                              \
        .name = GP_DURATION_COUNTER, .value = 1000 \
    }
#define HARDWARE                                       \
    {                                                  \
        .name = "smsp__inst_executed.sum", .value = 22 \
    }
#define NO_HARDWARE                                                                  \
    {                                                                                \
        .name = "smsp__inst_executed.sum", .absent = {.cause = GP_CAUSE_NOT_COPIED } \
    }
#define SASS                                                        \
    {                                                               \
        .name = "smsp__sass_thread_inst_executed.sum", .value = 704 \
    }

static struct gp_kinds kinds_of(struct gp_counter *counters, size_t count, enum gp_cause skipped)
{
    const struct gp_record launch = {
        .counters = counters, .counter_count = count, .skipped = {.cause = skipped}};
    return gp_launch_kinds(&launch);
}

static void a_launch_with_counters_is_measured(void **state)
{
    (void)state;
    struct gp_counter counters[] = {TIME, HARDWARE, SASS};
    const struct gp_kinds k = kinds_of(counters, 3, 0);
    assert_true(k.measured && k.hardware && k.instrumented);
}

static void so_is_one_with_some(void **state)
{
    (void)state;
    struct gp_counter with[] = {TIME, HARDWARE}, without[] = {SASS, NO_HARDWARE};
    assert_true(kinds_of(with, 2, GP_CAUSE_NOT_COPIED).measured);
    const struct gp_kinds k = kinds_of(without, 2, GP_CAUSE_NOT_COPIED);
    assert_true(k.measured && k.instrumented && !k.hardware);
}

static void a_time_is_enough_where_nothing_else_was_asked(void **state)
{
    (void)state;
    struct gp_counter counters[] = {TIME};
    assert_true(kinds_of(counters, 1, 0).measured);
    assert_true(kinds_of(counters, 1, GP_CAUSE_NOT_COPIED).hardware);
}

static void a_launch_that_was_passed_over_is_not_measured_by_its_time(void **state)
{
    (void)state;
    struct gp_counter counters[] = {TIME, NO_HARDWARE};
    assert_false(kinds_of(counters, 2, GP_CAUSE_NOT_COPIED).measured);
    assert_false(kinds_of(counters, 1, GP_CAUSE_ADDED_LIMIT).measured);
    assert_false(kinds_of(counters, 1, GP_CAUSE_NOT_READ).measured);
    /* It was not passed over: a counter alone is absent. */
    assert_true(kinds_of(counters, 2, 0).measured);
}

static void no_counter_is_enough_where_none_was_asked(void **state)
{
    (void)state;
    assert_true(kinds_of(NULL, 0, 0).measured);
    assert_false(kinds_of(NULL, 0, GP_CAUSE_NOT_COPIED).measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_with_counters_is_measured),
        cmocka_unit_test(so_is_one_with_some),
        cmocka_unit_test(a_time_is_enough_where_nothing_else_was_asked),
        cmocka_unit_test(a_launch_that_was_passed_over_is_not_measured_by_its_time),
        cmocka_unit_test(no_counter_is_enough_where_none_was_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
