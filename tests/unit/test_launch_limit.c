/* The money of a limit: launches that wait for their drain have theirs promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/added_time.h"
#include "launch/inside.h"

/* The guesses of launch/limit.c, as nothing is learned here. */
#define LAUNCH 2e-3
#define KERNEL 25e-3
#define DRAIN 45e-3

static double left(void)
{
    return limit_money().left;
}

static void launches_that_wait_are_promised_their_drain(void **state)
{
    (void)state;
    limit_start(&(struct gp_overhead){.kind = GP_OVERHEAD_SECONDS, .amount = 10});
    const double before = left();
    limit_promise(3);
    assert_true(before - left() > DRAIN + 3 * LAUNCH - 1e-3);
    limit_promise_kernel();
    assert_true(before - left() > DRAIN + 3 * LAUNCH + KERNEL - 1e-3);
    limit_promise(-3);
    assert_true(before - left() < 1e-2);
}

static void a_batch_that_was_begun_goes_a_little_beyond_the_limit(void **state)
{
    (void)state;
    limit_start(&(struct gp_overhead){.kind = GP_OVERHEAD_SECONDS, .amount = 0.1});
    assert_false(limit_permits(0.11));
    assert_true(limit_permits_in_drain(0.11));
    assert_false(limit_permits_in_drain(0.14)); /* a tenth, and 20 ms */
    const double more = limit_money_in_batch().left - left();
    assert_true(more > 0.029 && more < 0.031);
}

/* They were promised when they were chosen; then those before them took longer. */
static void chosen_launches_of_a_graph_are_left_out_once_the_money_is_spent(void **state)
{
    (void)state;
    limit_start(&(struct gp_overhead){.kind = GP_OVERHEAD_SECONDS, .amount = 0.1});
    limit_promise(100);
    assert_true(left() < 0);
    assert_true(limit_permits_chosen());
    gp_added_beside(0.2);
    assert_false(limit_permits_chosen());
    limit_promise(-100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_that_wait_are_promised_their_drain),
        cmocka_unit_test(a_batch_that_was_begun_goes_a_little_beyond_the_limit),
        cmocka_unit_test(chosen_launches_of_a_graph_are_left_out_once_the_money_is_spent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
