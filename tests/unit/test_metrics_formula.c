/* metrics/formula: grammar, precedence, values, reasons for an absent value, printing back. */
#include "metrics/formula.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Operands of these tests: a__sum is 6, b__sum 4, zero__sum 0, large__sum 1e308, none__sum absent.
 */
static bool value_of(void *user, const struct gp_node *operand, double *value, char *why,
                     size_t why_size)
{
    (void)user;
    static const struct {
        const char *name;
        double value;
    } values[] = {{"a__sum", 6}, {"b__sum", 4}, {"zero__sum", 0}, {"large__sum", 1e308}};
    if (operand->kind == GP_NODE_COUNTER)
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            if (strcmp(values[i].name, operand->name) == 0) {
                *value = values[i].value;
                return true;
            }
    snprintf(why, why_size, "no %s", operand->name ? operand->name : operand->fact->name);
    return false;
}

static const struct gp_operands operands = {.value_of = value_of};

static struct gp_node *parsed(const char *text)
{
    char why[256] = "";
    struct gp_node *node = gp_formula_parse(text, why, sizeof(why));
    if (!node)
        fail_msg("'%s' was not parsed: %s", text, why);
    return node;
}

static void gives(const char *text, double expected)
{
    char why[256];
    double value = NAN;
    struct gp_node *node = parsed(text);
    assert_true(gp_formula_evaluate(node, &operands, &value, why, sizeof(why)));
    assert_true(value == expected);
    gp_formula_free(node);
}

static void is_absent(const char *text, const char *reason)
{
    char why[256] = "";
    double value;
    struct gp_node *node = parsed(text);
    assert_false(gp_formula_evaluate(node, &operands, &value, why, sizeof(why)));
    assert_string_equal(why, reason);
    gp_formula_free(node);
}

static void is_wrong(const char *text, const char *reason)
{
    char why[256] = "";
    struct gp_node *node = gp_formula_parse(text, why, sizeof(why));
    if (node)
        fail_msg("'%s' was parsed", text);
    assert_string_equal(why, reason);
}

static void prints_as(const char *text, const char *expected)
{
    struct gp_text once = {0}, twice = {0};
    struct gp_node *node = parsed(text);
    gp_formula_print(node, &once);
    gp_formula_free(node);
    assert_string_equal(gp_text_string(&once), expected);
    node = parsed(gp_text_string(&once));
    gp_formula_print(node, &twice);
    gp_formula_free(node);
    assert_string_equal(gp_text_string(&twice), expected);
    gp_text_free(&once);
    gp_text_free(&twice);
}

static void numbers(void **state)
{
    (void)state;
    gives("1", 1);
    gives(" 1e9 ", 1e9);
    gives("2.5e-3", 2.5e-3);
    gives(".5", .5);
    gives("0.1", 0.1);
    is_wrong("1e999", "column 1: '1e999' is no number");
    is_wrong("12abc", "column 1: '12abc' is no number");
    is_wrong("1.2.3", "column 1: '1.2.3' is no number");
}

/* A locale with a decimal comma: the system's, or one that is made for this test. */
static bool has_a_decimal_comma(void)
{
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return true;
    char folder[] = "/tmp/gpuprof-locale-XXXXXX", command[256];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof(command),
             "localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", folder);
    bool made = system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 &&
                setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
    return made;
}

static void numbers_have_a_point_in_every_locale(void **state)
{
    (void)state;
    if (!has_a_decimal_comma()) {
        print_message("skipped: there is no locale with a decimal comma\n");
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    gives("0.25 * 4", 1);
    setlocale(LC_ALL, "C");
}

static void precedence_and_associativity(void **state)
{
    (void)state;
    gives("1 + 2 * 3", 7);
    gives("(1 + 2) * 3", 9);
    gives("10 - 4 - 3", 3);
    gives("10 - (4 - 3)", 9);
    gives("100 / 10 / 5", 2);
    gives("100 / (10 / 5)", 50);
    gives("2 * 3 / 4", 1.5);
    gives("-2 * 3", -6);
    gives("2 * -3", -6);
    gives("2 - -3", 5);
    gives("--3", 3);
    gives("-(1 + 2)", -3);
    gives("1+2*3-4/2", 5);
}

static void functions_and_operands(void **state)
{
    (void)state;
    gives("a__sum / b__sum", 1.5);
    gives("min(a__sum, b__sum)", 4);
    gives("max(a__sum, b__sum) * 2", 12);
    gives("min(1, max(2, 3))", 1);
    gives("100 * min ( a__sum , 3 ) / 3", 100);
}

static void absence_propagates(void **state)
{
    (void)state;
    is_absent("none__sum", "no none__sum");
    is_absent("a__sum + 0 * none__sum", "no none__sum");
    is_absent("max(a__sum, -none__sum)", "no none__sum");
    is_absent("some_metric", "no some_metric");
    is_absent("device.sm_count", "no device.sm_count");
}

static void division_by_zero_names_the_denominator(void **state)
{
    (void)state;
    is_absent("a__sum / zero__sum", "division by zero: zero__sum is 0");
    is_absent("0 / 0", "division by zero: 0 is 0");
    is_absent("1 / (a__sum - 6)", "division by zero: a__sum - 6 is 0");
    is_absent("1 + 5 / (zero__sum * 32) + 1", "division by zero: zero__sum * 32 is 0");
    gives("zero__sum / a__sum", 0);
}

static void a_value_that_is_not_finite_is_absent(void **state)
{
    (void)state;
    is_absent("large__sum * large__sum", "the result is no finite number");
    is_absent("large__sum * large__sum - large__sum", "the result is no finite number");
}

static void wrong_formulas_are_explained(void **state)
{
    (void)state;
    is_wrong("",
             "column 1: expected a number, a counter, a fact or a metric, the formula ends here");
    is_wrong("1 +",
             "column 4: expected a number, a counter, a fact or a metric, the formula ends here");
    is_wrong("(1 + 2", "column 7: expected ')' to close '(', the formula ends here");
    is_wrong("1 + 2)", "column 6: expected + - * / or the end, found ')'");
    is_wrong("1 2", "column 3: expected + - * / or the end, found '2'");
    is_wrong("1 $ 2", "column 3: expected + - * / or the end, found '$ 2'");
    is_wrong("$", "column 1: expected a number, a counter, a fact or a metric, found '$'");
    is_wrong("sqrt(2)", "column 1: there is no function sqrt, only min(a, b) and max(a, b)");
    is_wrong("min(1)", "column 6: expected ',' between the arguments of min, found ')'");
    is_wrong("max(1, 2",
             "column 9: expected ')' after the arguments of max, the formula ends here");
    is_wrong("min(1, 2, 3)", "column 9: expected ')' after the arguments of min, found ', 3)'");
    is_wrong("2 * device.sm_cuont",
             "column 5: there is no fact device.sm_cuont; did you mean device.sm_count?");
    is_wrong("launch.nothing_like_it", "column 1: there is no fact launch.nothing_like_it");
    is_wrong("gpu.time",
             "column 1: 'gpu.time' is no counter (they have '__' in their names), no fact and no "
             "metric");
}

static void trees_that_are_too_high_are_refused(void **state)
{
    (void)state;
    struct gp_text t = {0};
    char why[256];
    for (int i = 0; i < 100000; i++)
        gp_text_add(&t, "(");
    assert_null(gp_formula_parse(t.data, why, sizeof(why)));
    gp_text_clear(&t);
    for (int i = 0; i < 100000; i++)
        gp_text_add(&t, "1+");
    gp_text_add(&t, "1");
    assert_null(gp_formula_parse(t.data, why, sizeof(why)));
    gp_text_clear(&t);
    for (int i = 0; i < 150; i++)
        gp_text_add(&t, "1+");
    gp_text_add(&t, "1");
    gives(t.data, 151);
    gp_text_free(&t);
}

static void printing_gives_the_same_tree(void **state)
{
    (void)state;
    prints_as("1+2*3", "1 + 2 * 3");
    prints_as("(1+2)*3", "(1 + 2) * 3");
    prints_as("1-(2-3)", "1 - (2 - 3)");
    prints_as("(1-2)-3", "1 - 2 - 3");
    prints_as("1/(2*3)", "1 / (2 * 3)");
    prints_as("-(1+2)", "-(1 + 2)");
    prints_as("-1*2", "-1 * 2");
    prints_as("min(1,2)/max(a__sum,device.sm_count)", "min(1, 2) / max(a__sum, device.sm_count)");
    prints_as("1e9*0.1*1e-300", "1e+09 * 0.1 * 1e-300");
    prints_as("100*1024+0+1e6", "100 * 1024 + 0 + 1e+06");
    prints_as("0.30000000000000004", "0.30000000000000004");
    prints_as("launch.theoretical_occupancy", "launch.theoretical_occupancy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(precedence_and_associativity),
        cmocka_unit_test(functions_and_operands),
        cmocka_unit_test(absence_propagates),
        cmocka_unit_test(division_by_zero_names_the_denominator),
        cmocka_unit_test(a_value_that_is_not_finite_is_absent),
        cmocka_unit_test(wrong_formulas_are_explained),
        cmocka_unit_test(trees_that_are_too_high_are_refused),
        cmocka_unit_test(printing_gives_the_same_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
