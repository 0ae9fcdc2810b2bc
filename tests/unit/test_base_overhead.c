/* base/overhead: "3%", and the most time that may be added. base/duration: lengths of time. */
#include "base/duration.h"
#include "base/overhead.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct gp_overhead_reached not_reached;

static void limits_are_read(void **state)
{
    struct gp_overhead o;
    (void)state;
    assert_true(gp_overhead_parse("3%", &o));
    assert_int_equal(o.kind, GP_OVERHEAD_SHARE);
    assert_float_equal(o.amount, 0.03, 1e-12);
    assert_true(gp_overhead_parse("0.5%", &o));
    assert_float_equal(o.amount, 0.005, 1e-12);
    assert_true(gp_overhead_parse("2s", &o));
    assert_int_equal(o.kind, GP_OVERHEAD_SECONDS);
    assert_float_equal(o.amount, 2, 1e-12);
    assert_true(gp_overhead_parse("500ms", &o));
    assert_float_equal(o.amount, 0.5, 1e-12);
    assert_true(gp_overhead_parse("none", &o));
    assert_int_equal(o.kind, GP_OVERHEAD_NONE);
}

static void other_texts_are_refused(void **state)
{
    const char *const texts[] = {"",   "%",   "3 %", "3%%", "-3%", "0%",   "0",  "0s",
                                 "3x", "all", "1,5", "nan", "inf", "1e3%", "s3", "99999999%"};
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct gp_overhead o = {.amount = 7};
        assert_false(gp_overhead_parse(texts[i], &o));
        assert_float_equal(o.amount, 7, 0);
    }
}

static void a_share_grows_with_the_program_and_a_time_does_not(void **state)
{
    (void)state;
    const struct gp_overhead share = {GP_OVERHEAD_SHARE, 0.03}, time = {GP_OVERHEAD_SECONDS, 2},
                             none = {.kind = GP_OVERHEAD_NONE};
    assert_float_equal(gp_overhead_most(&share, &not_reached, 100), 3, 1e-9);
    assert_float_equal(gp_overhead_most(&time, &not_reached, 100), 2, 1e-9);
    assert_true(isinf(gp_overhead_most(&none, &not_reached, 100)));
}

static void the_default_is_the_larger_of_5_s_and_the_programs_own_time(void **state)
{
    (void)state;
    const struct gp_overhead o = {0};
    assert_float_equal(gp_overhead_most(&o, &not_reached, 1), 5, 1e-9);
    assert_float_equal(gp_overhead_most(&o, &not_reached, 8), 8, 1e-9);
    /* Behind that, 3 % of the time from there on. */
    const struct gp_overhead_reached reached = {true, 5, 2};
    assert_float_equal(gp_overhead_most(&o, &reached, 2), 5, 1e-9);
    assert_float_equal(gp_overhead_most(&o, &reached, 102), 8, 1e-9);
}

static void no_more_overlap_is_lost_than_there_was_work_beside(void **state)
{
    (void)state;
    assert_float_equal(gp_overhead_lost(1, 10, false), 1, 1e-12);
    /* The program itself did something for one second only. */
    assert_float_equal(gp_overhead_lost(9, 10, false), 1, 1e-12);
    assert_float_equal(gp_overhead_lost(9, 10, true), 9, 1e-12);
    assert_float_equal(gp_overhead_lost(0, 10, false), 0, 1e-12);
}

static void durations_have_units(void **state)
{
    double seconds;
    (void)state;
    assert_true(gp_duration_parse("5", &seconds) && seconds == 5);
    assert_true(gp_duration_parse("0.5s", &seconds) && seconds == 0.5);
    assert_true(gp_duration_parse("2m", &seconds) && seconds == 120);
    assert_false(gp_duration_parse("5h", &seconds));
    assert_false(gp_duration_parse("5.", &seconds));
    assert_false(gp_duration_parse(".5", &seconds));
    assert_false(gp_duration_parse("999999999", &seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_read),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(a_share_grows_with_the_program_and_a_time_does_not),
        cmocka_unit_test(the_default_is_the_larger_of_5_s_and_the_programs_own_time),
        cmocka_unit_test(no_more_overlap_is_lost_than_there_was_work_beside),
        cmocka_unit_test(durations_have_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
