/* The laws that values of a kernel follow over its blocks. */
#include "report/laws.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST 64

static struct gp_law_point points[MOST];

static struct gp_law law_of(double (*value)(double blocks), size_t count, double first, double step)
{
    for (size_t i = 0; i < count; i++) {
        const double blocks = first + step * (double)((i * 7) % count); /* in no order */
        points[i] = (struct gp_law_point){blocks, value(blocks)};
    }
    return gp_law_find(points, count);
}

static double amount(double blocks)
{
    return 2e-6 + 3e-8 * blocks;
}

static double ratio(double blocks)
{
    return 80 - 120 / blocks;
}

static double alike(double blocks)
{
    (void)blocks;
    return 0.25;
}

static double in_waves(double blocks)
{
    return ceil(blocks / 132);
}

static double full(double blocks)
{
    return fmin(blocks, 32);
}

static double chance(double blocks)
{
    return 100 + 30 * sin(1e4 * blocks * blocks);
}

static double zero(double blocks)
{
    (void)blocks;
    return 0;
}

static void assert_near(double value, double right, double part)
{
    assert_true(fabs(value - right) <= part * fabs(right));
}

static void test_kinds(void **state)
{
    (void)state;
    struct gp_law law = law_of(amount, 11, 5, 13);
    assert_int_equal(law.kind, GP_LAW_LINEAR);
    assert_near(gp_law_value(&law, 1000), amount(1000), 1e-9);
    assert_true(gp_law_error(&law, 100) == 0);
    assert_true(gp_law_error(&law, 1000) > 0.4);
    law = law_of(ratio, 11, 5, 13);
    assert_int_equal(law.kind, GP_LAW_INVERSE);
    assert_near(gp_law_value(&law, 1000), ratio(1000), 1e-9);
    law = law_of(alike, 11, 5, 13);
    assert_int_equal(law.kind, GP_LAW_CONSTANT);
    assert_true(gp_law_value(&law, 1000) == 0.25 && gp_law_error(&law, 135) == 0);
    law = law_of(zero, 11, 5, 13);
    assert_true(gp_law_value(&law, 7) == 0 && gp_law_error(&law, 7) == 0);
}

static void test_between(void **state)
{
    (void)state;
    struct gp_law law = law_of(full, 43, 2, 3);
    assert_int_equal(law.kind, GP_LAW_BETWEEN);
    assert_near(gp_law_value(&law, 300), 32, 1e-9);
    assert_near(gp_law_value(&law, 1), 1, gp_law_error(&law, 1));
    assert_true(gp_law_error(&law, 100) < 0.05);
    assert_true(gp_law_error(&law, 1) >= 0.5); /* there it grows with the blocks */
}

/* The error is as large as the distances of grids that were not measured. */
static void test_waves(void **state)
{
    (void)state;
    const struct gp_law law = law_of(in_waves, 31, 10, 30);
    double squares = 0;
    for (int blocks = 10; blocks <= 910; blocks++)
        squares += pow(gp_law_value(&law, blocks) / in_waves(blocks) - 1, 2);
    const double right = sqrt(squares / 901);
    assert_true(law.error > right / 1.5 && law.error < right * 1.5);
}

/* Where values have nothing to do with the blocks their spread is the error, not more. */
static void test_chance(void **state)
{
    (void)state;
    const struct gp_law law = law_of(chance, 43, 5, 13);
    assert_int_equal(law.kind, GP_LAW_CONSTANT);
    assert_true(law.error > 0.1 && law.error < 0.4);
}

/* The error is that of grids that did not make the law. */
static void test_error_is_of_others(void **state)
{
    (void)state;
    points[0] = (struct gp_law_point){1, 10};
    points[1] = (struct gp_law_point){2, 20};
    struct gp_law law = gp_law_find(points, 2);
    assert_int_equal(law.kind, GP_LAW_CONSTANT);
    assert_true(gp_law_error(&law, 1) > 0.5);
    points[2] = (struct gp_law_point){3, 45};
    law = gp_law_find(points, 3);
    assert_true(law.error > 0.15);
}

/* A number from 0 to 1. */
static double random_part(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* A number whose square is 1 in the mean, normal for a test's purpose. */
static double random_normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += random_part(state);
    return sum;
}

/* How many of `times` grids inside of the measured ones lie within the error of their law, where
 * the values scatter round one. */
static int within_error(double (*value)(double blocks), size_t grids, int times, uint64_t *state)
{
    int within = 0;
    for (int k = 0; k < times; k++) {
        for (size_t i = 0; i < grids; i++) {
            const double blocks = 100 + 900 * (double)i / (double)(grids - 1);
            points[i] =
                (struct gp_law_point){blocks, value(blocks) * (1 + 0.02 * random_normal(state))};
        }
        const struct gp_law law = gp_law_find(points, grids);
        const double blocks = 200 + 700 * random_part(state);
        const double right = value(blocks) * (1 + 0.02 * random_normal(state));
        const double found = gp_law_value(&law, blocks);
        within += fabs(found - right) <= gp_law_error(&law, blocks) * fabs(found);
    }
    return within;
}

/* The kind is chosen by the same values, so that up to 10 of 100 lie outside, not 5. */
static void test_error_holds_in_general(void **state)
{
    enum { TIMES = 4000 };
    uint64_t random = 1;
    (void)state;
    for (size_t grids = 2; grids <= 12; grids++) {
        assert_in_range(within_error(alike, grids, TIMES, &random), 0.9 * TIMES, 0.98 * TIMES);
        if (grids > 2)
            assert_in_range(within_error(amount, grids, TIMES, &random), 0.9 * TIMES, 0.98 * TIMES);
    }
}

static void test_too_few(void **state)
{
    (void)state;
    struct gp_law law = gp_law_find(points, 0);
    assert_true(isnan(gp_law_value(&law, 1)) && isnan(gp_law_error(&law, 1)));
    points[0] = (struct gp_law_point){8, 1};
    law = gp_law_find(points, 1);
    assert_int_equal(law.kind, GP_LAW_NONE);
    /* Grids of as many blocks, in other shapes. */
    for (int i = 0; i < 4; i++)
        points[i] = (struct gp_law_point){8, 1 + i % 2};
    law = gp_law_find(points, 4);
    assert_true(isfinite(gp_law_value(&law, 8)) && law.error > 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_between),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_chance),
        cmocka_unit_test(test_error_is_of_others),
        cmocka_unit_test(test_error_holds_in_general),
        cmocka_unit_test(test_too_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
