/* profile/: which launches keep a line of their own in a profile with a limit, and their sums. */
#include "profile/thinning.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct gp_counter counters[] = {
    {GP_DURATION_COUNTER, 2000, GP_NO_REASON},
    {"dram__bytes_read.sum", 7, GP_NO_REASON},
    {"smsp__sass_x.sum", 8, GP_NO_REASON},
};

static struct gp_record launch_of(const char *kernel, uint64_t index)
{
    return (struct gp_record){.index = index,
                              .kernel = kernel,
                              .grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .passes = 3,
                              .recalled = GP_RECALLED_ALL,
                              .graph = 1,
                              .overhead_ms = 0.5,
                              .counters = counters,
                              .counter_count = 3};
}

/* As a writer does. Returns whether it has a line. */
static bool write_launch(struct gp_thinning *t, const char *kernel, uint64_t index)
{
    const struct gp_record launch = launch_of(kernel, index);
    const bool kept = gp_thinning_keeps(t, &launch, 0);
    if (kept)
        gp_thinning_line(t, &launch);
    else
        gp_thinning_leave_out(t, &launch);
    return kept;
}

static bool keeps(struct gp_thinning *t, const char *kernel, uint64_t index)
{
    const struct gp_record launch = launch_of(kernel, index);
    return gp_thinning_keeps(t, &launch, 0);
}

static unsigned kept_of(struct gp_thinning *t, const char *kernel, uint64_t from, uint64_t to)
{
    unsigned kept = 0;
    for (uint64_t i = from; i < to; i++)
        kept += keeps(t, kernel, i);
    return kept;
}

static void frequent_kernels_are_halved_first(void **state)
{
    (void)state;
    struct gp_thinning *t = gp_thinning_new();
    for (uint64_t i = 0; i < 10000; i++)
        assert_true(write_launch(t, "often", i));
    for (uint64_t i = 10000; i < 10100; i++)
        assert_true(write_launch(t, "seldom", i));
    assert_true(write_launch(t, "once", 10100));
    gp_thinning_halve(t);
    assert_in_range(kept_of(t, "often", 0, 10000), 4900, 5100);
    assert_int_equal(kept_of(t, "seldom", 10000, 10100), 100);
    unsigned further = 0, further_seldom = 0;
    for (uint64_t i = 0; i < 10100; i++) {
        const struct gp_record launch = launch_of(i < 10000 ? "often" : "seldom", i);
        *(i < 10000 ? &further : &further_seldom) += gp_thinning_keeps(t, &launch, 2);
    }
    assert_in_range(further, 1200, 1300);
    assert_int_equal(further_seldom, 100);
    assert_true(keeps(t, "once", 10100));
    assert_true(keeps(t, "new", 123));
    gp_thinning_free(t);
}

static void many_kernels_alike_are_halved_alike(void **state)
{
    (void)state;
    struct gp_thinning *t = gp_thinning_new();
    char name[8];
    for (uint64_t i = 0; i < 10000; i++) {
        snprintf(name, sizeof(name), "k%d", (int)(i % 10));
        write_launch(t, name, i);
    }
    gp_thinning_halve(t);
    for (int k = 0; k < 10; k++) {
        snprintf(name, sizeof(name), "k%d", k);
        unsigned kept = 0;
        for (uint64_t i = (uint64_t)k; i < 10000; i += 10)
            kept += keeps(t, name, i);
        assert_in_range(kept, 400, 600);
    }
    gp_thinning_free(t);
}

/* However often: each part of the run has its share, at any period of the launches. */
static void kept_launches_lie_evenly(void **state)
{
    (void)state;
    for (unsigned period = 1; period <= 64; period = period < 4 ? period + 1 : 2 * period) {
        struct gp_thinning *t = gp_thinning_new();
        for (int halvings = 0; halvings < 4; halvings++) {
            struct gp_thinning *again = gp_thinning_again(t);
            for (uint64_t i = 0; i < 16000; i++)
                write_launch(again, "k", i * period);
            gp_thinning_halve(again);
            gp_thinning_free(t);
            t = again;
        }
        for (uint64_t part = 0; part < 4; part++) {
            unsigned kept = 0;
            for (uint64_t i = part * 4000; i < (part + 1) * 4000; i++)
                kept += keeps(t, "k", i * period);
            assert_in_range(kept, 200, 300); /* 4000 / 16 */
        }
        gp_thinning_free(t);
    }
}

/* A line that was kept with fewer lines was kept with more. */
static void a_choice_stays(void **state)
{
    (void)state;
    struct gp_thinning *t = gp_thinning_new();
    for (uint64_t i = 0; i < 1000; i++)
        write_launch(t, "k", i);
    gp_thinning_halve(t);
    struct gp_thinning *again = gp_thinning_again(t);
    for (uint64_t i = 0; i < 1000; i++)
        write_launch(again, "k", i);
    gp_thinning_halve(again);
    for (uint64_t i = 1; i < 1000; i++)
        assert_true(!keeps(again, "k", i) || keeps(t, "k", i));
    gp_thinning_free(again);
    gp_thinning_free(t);
}

struct sums {
    struct gp_sum list[4];
    size_t count;
};

static void keep_sum(void *user, const struct gp_sum *sum)
{
    struct sums *s = user;
    assert_in_range(s->count, 0, 3);
    s->list[s->count++] = *sum;
}

static void sums_have_number_and_times(void **state)
{
    (void)state;
    struct gp_thinning *t = gp_thinning_new();
    struct sums sums = {.count = 0};
    struct gp_counter other[] = {{GP_DURATION_COUNTER, 500, GP_NO_REASON}};
    struct gp_record launch = launch_of("k", 1);
    gp_thinning_leave_out(t, &launch);
    launch.counters = other;
    launch.counter_count = 1;
    launch.passes = 1;
    launch.graph = launch.recalled = 0;
    gp_thinning_leave_out(t, &launch);
    other[0].absent = GP_REASON(NO_TIME); /* a time that is not known is none of 0 */
    gp_thinning_leave_out(t, &launch);
    const struct gp_sum launched = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .launched = 9};
    gp_thinning_sum(t, &launched);
    gp_thinning_take(t, keep_sum, &sums);
    assert_int_equal(sums.count, 1);
    const struct gp_sum *s = &sums.list[0];
    assert_string_equal(s->kernel, "k");
    assert_int_equal(s->block[0], 32);
    assert_int_equal(s->launched, 9);
    assert_int_equal(s->left_out, 3);
    assert_int_equal(s->measured, 2);
    assert_int_equal(s->hardware, 2);
    assert_int_equal(s->instrumented, 1);
    assert_int_equal(s->recalled, 1);
    assert_int_equal(s->recalled_all, 1);
    assert_int_equal(s->of_graphs, 1);
    assert_int_equal(s->replays, 2);
    assert_true(s->overhead_ms == 1.5);
    assert_int_equal(s->timed, 2);
    assert_true(s->time_ns == 2500 && s->shortest_ns == 500 && s->longest_ns == 2000);
    sums.count = 0;
    gp_thinning_take(t, keep_sum, &sums); /* each once */
    assert_int_equal(sums.count, 0);
    assert_int_equal(gp_thinning_left_out(t), 3);
    gp_thinning_free(t);
}

static void the_number_of_sums_is_bounded(void **state)
{
    (void)state;
    struct gp_thinning *t = gp_thinning_new();
    struct gp_record launch = launch_of("k", 0);
    for (unsigned i = 0; i < 3 * GP_MOST_SUMS; i++) {
        launch.grid[0] = i;
        launch.index = i;
        assert_true(gp_thinning_keeps(t, &launch, 0));
        gp_thinning_line(t, &launch);
    }
    gp_thinning_halve(t);
    unsigned kept = 0;
    for (unsigned i = 0; i < 3 * GP_MOST_SUMS; i++) {
        launch.grid[0] = i;
        launch.index = i;
        kept += gp_thinning_keeps(t, &launch, 0);
    }
    /* The first ones keep their only lines, the others are thinned as one. */
    assert_in_range(kept, GP_MOST_SUMS + GP_MOST_SUMS / 4, 2 * GP_MOST_SUMS + GP_MOST_SUMS / 4);
    gp_thinning_free(t);
}

static void diagnosed_launches_keep_their_lines(void **state)
{
    (void)state;
    struct gp_thinning *t = gp_thinning_new();
    struct gp_record launch = launch_of("k", 0);
    unsigned kept = 0, diagnosed = 0;
    for (unsigned i = 0; i < 1000; i++)
        gp_thinning_line(t, &launch);
    for (unsigned i = 0; i < 4; i++)
        gp_thinning_halve(t);
    for (unsigned i = 0; i < 1000; i++) {
        launch.index = i;
        launch.diagnosed = 0;
        kept += gp_thinning_keeps(t, &launch, 0);
        launch.diagnosed = 1;
        diagnosed += gp_thinning_keeps(t, &launch, 0);
    }
    assert_true(kept < 500);
    assert_int_equal(diagnosed, 1000);
    gp_thinning_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequent_kernels_are_halved_first),
        cmocka_unit_test(many_kernels_alike_are_halved_alike),
        cmocka_unit_test(kept_launches_lie_evenly),
        cmocka_unit_test(a_choice_stays),
        cmocka_unit_test(sums_have_number_and_times),
        cmocka_unit_test(the_number_of_sums_is_bounded),
        cmocka_unit_test(diagnosed_launches_keep_their_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
