/* The users' words for launches and views, and values as nvprof prints them. */
#include "base/kernel_filter.h"
#include "base/launch_choice.h"
#include "report/nvprof_values.h"
#include "report/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void filters(const char *text, const char *name, uint64_t context, uint64_t stream,
                    uint64_t invocation)
{
    struct gp_kernel_filter f;
    char why[256] = "";
    if (!gp_kernel_filter_parse(text, &f, why, sizeof(why)))
        fail_msg("%s: %s", text, why);
    assert_string_equal(f.name, name);
    assert_int_equal(f.context, context);
    assert_int_equal(f.stream, stream);
    assert_int_equal(f.invocation, invocation);
    gp_kernel_filter_free(&f);
}

static void a_filter_is_an_expression_or_a_path(void **state)
{
    (void)state;
    filters("foo", "foo", GP_ANY, GP_ANY, GP_ANY);
    filters("regex:^foo$", "^foo$", GP_ANY, GP_ANY, GP_ANY);
    filters("1:2:foo:3", "foo", 1, 2, 3);
    filters(":0:foo:", "foo", GP_ANY, 0, GP_ANY);
    filters("::foo:2", "foo", GP_ANY, GP_ANY, 2);
    filters(":::4", "", GP_ANY, GP_ANY, 4);
    filters("::regex:a|b:2", "a|b", GP_ANY, GP_ANY, 2);
    /* Names of C++ have colons. */
    filters("at::native", "at::native", GP_ANY, GP_ANY, GP_ANY);
    filters("a::b::c", "a::b::c", GP_ANY, GP_ANY, GP_ANY);
    filters("::at::native::add:2", "at::native::add", GP_ANY, GP_ANY, 2);
    filters("::at::native", "::at::native", GP_ANY, GP_ANY, GP_ANY);
    filters("::~foo(?:a|b)::operator():2", "~foo(?:a|b)::operator()", GP_ANY, GP_ANY, 2);
    filters("[[:alpha:]]_(?i-s:x)", "[[:alpha:]]_(?i-s:x)", GP_ANY, GP_ANY, GP_ANY);
    struct gp_kernel_filter f;
    char why[256];
    assert_false(gp_kernel_filter_parse("::foo:0", &f, why, sizeof(why)));
    assert_string_equal(why, "'::foo:0': launches of a kernel count from 1");
    assert_false(gp_kernel_filter_parse("1::(:2", &f, why, sizeof(why)));
    assert_non_null(strstr(why, "'('"));
    filters("f<(([a-z:, ]+)+)+$", "f<(([a-z:, ]+)+)+$", GP_ANY, GP_ANY, GP_ANY);
    filters("[]:]at:{2}native", "[]:]at:{2}native", GP_ANY, GP_ANY, GP_ANY);
    /* No name has a single colon. */
    const char *const mistyped[] = {"x:1:foo:2", "1:2:3:4:5", "::foo:1|3",
                                    "foo:2",     "::foo::2",  "[x]:1"};
    for (size_t i = 0; i < sizeof(mistyped) / sizeof(mistyped[0]); i++) {
        assert_false(gp_kernel_filter_parse(mistyped[i], &f, why, sizeof(why)));
        assert_non_null(strstr(why, "is neither a name nor CONTEXT:STREAM:NAME:INVOCATION"));
    }
}

static void launches_are_numbers(void **state)
{
    (void)state;
    struct gp_launch_choice c;
    uint64_t n;
    assert_true(gp_launches_parse("skip:2,count:3", &c));
    assert_true(c.skip == 2 && c.count == 3);
    assert_true(gp_launches_parse("count:0", &c));
    assert_true(c.skip == 0 && c.count == 0);
    assert_true(gp_launches_parse("skip:7", &c));
    assert_true(c.skip == 7 && c.count == UINT64_MAX);
    const char *wrong[] = {"",        "skip",     "skip:",
                           "skip:-1", "skip:1,",  "skip:1,skip:2",
                           "x:1",     "count:1x", "count:1234567890123456789"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(gp_launches_parse(wrong[i], &c));
    assert_true(gp_devices_parse("0,63", &n) && n == (UINT64_C(1) << 63 | 1));
    assert_true(gp_devices_parse("all", &n) && n == UINT64_MAX);
    assert_false(gp_devices_parse("64", &n));
    assert_false(gp_devices_parse("", &n));
    assert_false(gp_devices_parse("1,,2", &n));
    assert_true(gp_whole_parse("12", &n) && n == 12);
    assert_false(gp_whole_parse("12 ", &n));
}

static void views_are_words(void **state)
{
    (void)state;
    struct gp_view v;
    char why[256];
    assert_true(gp_view_parse(NULL, &v, why, sizeof(why)) && v.report && !v.csv);
    assert_true(gp_view_parse("csv", &v, why, sizeof(why)) && v.report && v.csv);
    assert_true(gp_view_parse("trace,metrics,unit=us", &v, why, sizeof(why)));
    assert_true(v.trace && v.metrics && !v.report);
    assert_string_equal(v.unit, "us");
    assert_false(gp_view_parse("unit=h", &v, why, sizeof(why)));
    assert_false(gp_view_parse("times,page", &v, why, sizeof(why)));
    assert_string_equal(why, "'page' is none of " GP_VIEW_SYNTAX);
}

static void assert_value(double value, const char *unit, bool exact, const char *expected)
{
    char text[64];
    gp_nvprof_value(value, unit, exact, NULL, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void values_are_printed_as_in_nvprof(void **state)
{
    (void)state;
    char text[32];
    assert_value(49.807, "%", false, "49.81%");
    assert_value(49.807, "%", true, "49.807000%");
    assert_value(9.5367e9, "bytes/s", false, "9.5367GB/s");
    assert_value(999999999, "bytes/s", false, "1.0000GB/s");
    assert_value(0, "bytes/s", false, "0.0000B/s");
    assert_value(0.93661234, "ratio", false, "0.936612");
    assert_value(2097152, "count", false, "2097152");
    assert_value(1.5, "count", false, "1.5");
    static const struct {
        double value;
        const char *expected;
    } levels[] = {{0, "Idle (0)"},    {0.123124, "Low (1)"}, {1, "Low (1)"},    {2.01, "Low (3)"},
                  {3.5, "Mid (4)"},   {4.2, "Mid (5)"},      {6.1, "High (7)"}, {8.5, "High (9)"},
                  {9.01, "Max (10)"}, {12, "Max (10)"},      {-1, "Idle (0)"}};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        assert_value(levels[i].value, "level", false, levels[i].expected);
    assert_value(0.123124, "level", true, "\"Low (1)\"");
    gp_nvprof_time(0.0027301, NULL, text, sizeof(text));
    assert_string_equal(text, "2.7301ms");
    gp_nvprof_time(89.441e-6, NULL, text, sizeof(text));
    assert_string_equal(text, "89.441us");
    gp_nvprof_time(0.14399, "us", text, sizeof(text));
    assert_string_equal(text, "143990us");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_is_an_expression_or_a_path),
        cmocka_unit_test(launches_are_numbers),
        cmocka_unit_test(views_are_words),
        cmocka_unit_test(values_are_printed_as_in_nvprof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
