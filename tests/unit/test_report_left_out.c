/* Launches that were left out, of kernels made up by their groups. */
#include "report/left_out.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#define MOST 40

static struct gp_stat stats[MOST];
static struct gp_group of[MOST];
static const struct gp_group *groups[MOST];
static size_t count;

static int start(void **state)
{
    (void)state;
    count = 0;
    return 0;
}

static struct gp_stat *add(unsigned blocks, uint64_t launches)
{
    stats[count] = (struct gp_stat){0};
    of[count] = (struct gp_group){.launches = launches, .stats = &stats[count]};
    of[count].launch.grid[0] = blocks;
    of[count].launch.grid[1] = of[count].launch.grid[2] = 1;
    groups[count] = &of[count];
    return &stats[count++];
}

/* A ratio of two amounts, of one launch that was measured. */
static void add_measured(unsigned blocks, uint64_t launches, double upper, double lower)
{
    *add(blocks, launches) = (struct gp_stat){.count = 1,
                                              .sum = upper / lower,
                                              .min = upper / lower,
                                              .max = upper / lower,
                                              .weighted = upper,
                                              .weight = lower};
}

static struct gp_stat sum_up(void)
{
    struct gp_stat all = {0};
    for (size_t i = 0; i < count; i++)
        if (stats[i].count > 0)
            gp_stat_merge(&all, &stats[i], (double)of[i].launches);
    assert_true(gp_left_out_add(&all, 1, groups, count));
    return all;
}

static double mean_of(const struct gp_stat *stat)
{
    double mean;
    assert_true(gp_stat_mean(stat, &mean));
    return mean;
}

static void test_amount(void **state)
{
    (void)state;
    for (unsigned blocks = 10; blocks <= 100; blocks += 10)
        add_measured(blocks, 2, 5.0 * blocks, 1);
    add(55, 80);
    const struct gp_stat all = sum_up();
    assert_float_equal(mean_of(&all), (2 * 5.0 * 550 + 80 * 5.0 * 55) / 100, 1e-6);
    assert_float_equal(all.weight, 100, 1e-6);
    assert_float_equal(gp_stat_error(&all), 0, 1e-6);
}

/* Bytes are as many from 32 blocks on, time grows: their ratio follows no law, the amounts do. */
static void test_ratio(void **state)
{
    (void)state;
    double bytes = 0, time = 0;
    for (unsigned blocks = 4; blocks <= 100; blocks += 4) {
        add_measured(blocks, 1, fmin(blocks, 32), 2 + 0.1 * blocks);
        bytes += fmin(blocks, 32);
        time += 2 + 0.1 * blocks;
    }
    add(120, 50);
    const struct gp_stat all = sum_up();
    assert_float_equal(mean_of(&all), (bytes + 50 * 32) / (time + 50 * 14), 1e-3);
}

/* Far outside of the grids that were measured the doubt is large. */
static void test_far(void **state)
{
    (void)state;
    for (unsigned blocks = 10; blocks <= 100; blocks += 10)
        add_measured(blocks, 1, 5.0 * blocks, 1);
    add(10000, 100);
    const struct gp_stat all = sum_up();
    assert_true(gp_stat_error(&all) > 0.4 * mean_of(&all));
}

static void test_below_zero(void **state)
{
    (void)state;
    for (unsigned blocks = 10; blocks <= 100; blocks += 10)
        add_measured(blocks, 1, blocks % 20 ? -5 : -6, 1);
    add(55, 10);
    struct gp_stat all = sum_up();
    assert_float_equal(mean_of(&all), -5.5, 0.1);
    assert_true(gp_stat_error(&all) > 0);
    /* Amounts that are not below 0 anywhere: the law is wrong there. */
    count = 0;
    for (unsigned blocks = 10; blocks <= 100; blocks += 10)
        add_measured(blocks, 1, blocks - 9.0, 1);
    add(1, 10);
    all = sum_up();
    assert_true(isnan(all.doubt));
}

/* One grid says nothing of others. */
static void test_one(void **state)
{
    (void)state;
    add_measured(10, 5, 50, 1);
    add(20, 5);
    const struct gp_stat all = sum_up();
    assert_float_equal(mean_of(&all), 50, 1e-6);
    assert_true(isnan(all.doubt));
}

/* A launch that has no value for another reason is not guessed at. */
static void test_reasons(void **state)
{
    (void)state;
    for (unsigned blocks = 10; blocks <= 100; blocks += 10)
        add_measured(blocks, 1, 5.0 * blocks, 1);
    struct gp_stat *absent = add(55, 1000);
    absent->absent = GP_REASON(RUNS_ONCE);
    absent->absent_count = 1000;
    assert_float_equal(sum_up().weight, 10, 1e-6);
    absent->absent = GP_REASON(ADDED_LIMIT);
    assert_float_equal(sum_up().weight, 1010, 1e-6);
    *absent = (struct gp_stat){0}; /* it has no record */
    of[count - 1].passed_over = 1000;
    assert_float_equal(sum_up().weight, 10, 1e-6);
    of[count - 1].passed_over = 999;
    assert_float_equal(sum_up().weight, 1010, 1e-6);
}

static void test_nearest(void **state)
{
    (void)state;
    static const struct {
        unsigned blocks, measured;
    } grids[] = {{10, 1}, {100, 1}, {90, 0}, {30, 0}, {12, 0}, {1000, 0}, {200, 1}};
    static const size_t right[] = {0, 1, 1, 3, 0, 5, 6};
    for (size_t i = 0; i < 7; i++) {
        add(grids[i].blocks, 1);
        of[i].hardware = grids[i].measured;
    }
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(gp_left_out_stands_for(groups, count, i), right[i]);
    of[2].passed_over = 1; /* it has a reason of its own */
    assert_int_equal(gp_left_out_stands_for(groups, count, 2), 2);
}

static void add_timed(unsigned blocks, double seconds, bool in_doubt)
{
    *add(blocks, 100) = (struct gp_stat){.count = 1, .sum = seconds};
    of[count - 1].only_doubtful = in_doubt;
}

static void test_doubt(void **state)
{
    double means[6];
    (void)state;
    add_timed(1, 2e-6, true);
    add_timed(10, 5e-3, true);
    add(20, 100);
    add_timed(11, 3e-6, false);
    assert_true(gp_left_out_times(means, groups, count, 0));
    assert_true(isnan(means[0]) && isnan(means[1])); /* one grid says nothing of others */
    add_timed(12, 3e-6, false);
    assert_true(gp_left_out_times(means, groups, count, 0));
    assert_in_range(1e9 * means[0], 1999, 2001); /* it took no longer */
    assert_in_range(1e9 * means[1], 2999, 3001);
    assert_in_range(1e9 * means[2], 2999, 3001);
    assert_true(isnan(means[3]) && isnan(means[4]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_amount, start),  cmocka_unit_test_setup(test_ratio, start),
        cmocka_unit_test_setup(test_far, start),     cmocka_unit_test_setup(test_below_zero, start),
        cmocka_unit_test_setup(test_one, start),     cmocka_unit_test_setup(test_reasons, start),
        cmocka_unit_test_setup(test_nearest, start), cmocka_unit_test_setup(test_doubt, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
