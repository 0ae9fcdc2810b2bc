/* counters/instrumenting_cost: the time that passes of instrumented code take, and may take. */
#include "counters/inside.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void passes_that_take_long_have_a_budget(void **state)
{
    (void)state;
    struct gp_instrumenting_cost cost = {0};
    struct gp_pass_cost of_kernel = {0};
    struct gp_run run = {.native_ms = 10, .most_long_ms = 1000, .cost = &of_kernel};
    for (int i = 0; i < 1000; i++)
        cost_spend(&cost, 9);
    for (int i = 0; i < 10; i++)
        cost_spend(&cost, 90);
    assert_false(cost_is_too_long(&cost, &run, 1));
    cost_spend(&cost, 1000);
    assert_true(cost_is_too_long(&cost, &run, 1));
    assert_false(cost_is_too_long(&cost, &run, 2));
    run.native_ms = 0.1; /* this one does not take long */
    assert_false(cost_is_too_long(&cost, &run, 1));
    run.native_ms = 10;
    run.most_long_ms = 0; /* any time */
    assert_false(cost_is_too_long(&cost, &run, 1));
}

/* A program with hundreds of grids takes a minute even where no pass takes a tenth of a second. */
static void many_passes_that_are_not_short_have_a_larger_one(void **state)
{
    (void)state;
    struct gp_instrumenting_cost cost = {0};
    struct gp_pass_cost of_kernel = {0};
    struct gp_run run = {.native_ms = 1, .most_long_ms = 1000, .cost = &of_kernel};
    for (int i = 0; i < 59; i++)
        cost_spend(&cost, 50);
    assert_false(cost_is_too_long(&cost, &run, 1)); /* 25 ms are expected */
    cost_spend(&cost, 50);
    assert_true(cost_is_too_long(&cost, &run, 1));
    assert_false(cost_is_too_long(&cost, &run, 2)); /* of a new kind */
    cost_give_back(&cost, 50);
    assert_false(cost_is_too_long(&cost, &run, 1));
    for (int i = 0; i < 21; i++)
        cost_spend(&cost, 50);
    assert_true(cost_is_too_long(&cost, &run, 2));
    run.native_ms = 0.1;
    assert_false(cost_is_too_long(&cost, &run, 2));
}

/* In its own run a launch makes one pass, and its time by itself is not known. */
static void the_last_pass_stands_for_a_time_that_is_not_known(void **state)
{
    (void)state;
    struct gp_instrumenting_cost cost = {.long_ms = 5000};
    struct gp_pass_cost slow = {0}, quick = {0};
    struct gp_run run = {.most_long_ms = 1000, .cost = &slow};
    assert_false(cost_is_too_long(&cost, &run, 1));
    cost_learn_pass(&cost, true, &run, 800);
    assert_true(cost_is_too_long(&cost, &run, 1));
    run.cost = &quick;
    cost_learn_pass(&cost, true, &run, 3);
    assert_false(cost_is_too_long(&cost, &run, 1));
}

/* The pass was refused, say, or the session was lost before it. */
static void time_for_a_pass_that_never_came_is_given_back(void **state)
{
    (void)state;
    struct gp_member members[3] = {[0].promised_ms = 700, [2].promised_ms = 300};
    struct gp_range_collection c = {.base.collector = &range_collector, .cost.long_ms = 5000};
    for (unsigned i = 0; i < 3; i++)
        batch_enter(&c.base.batch, &members[i]);
    gp_collection_finish(&c.base, true);
    assert_true(c.cost.long_ms == 4000);
}

/* A comparison takes as long as its pass; a launch two milliseconds, and its kernel twice. */
static void launches_are_compared_in_a_tenth_of_their_time(void **state)
{
    (void)state;
    struct gp_instrumenting_cost cost = {.sass_ms = 1};
    struct gp_pass_cost of_kernel = {.sass = 19};
    struct gp_run run = {.native_ms = 1, .cost = &of_kernel};
    assert_int_equal(launches_to_one_telling(&cost, &run), 50); /* 10 x 20 ms / (2 + 2 x 1) */
    run.native_ms = 0;                                          /* not known */
    assert_int_equal(launches_to_one_telling(&cost, &run), 5);
    run.native_ms = 1;
    of_kernel.sass = 1e12;
    assert_int_equal(launches_to_one_telling(&cost, &run), UINT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_that_take_long_have_a_budget),
        cmocka_unit_test(launches_are_compared_in_a_tenth_of_their_time),
        cmocka_unit_test(many_passes_that_are_not_short_have_a_larger_one),
        cmocka_unit_test(the_last_pass_stands_for_a_time_that_is_not_known),
        cmocka_unit_test(time_for_a_pass_that_never_came_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
