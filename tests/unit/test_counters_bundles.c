/* counters/bundles: whether launches are still counted together. */
#include "counters/inside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BUNDLE GP_MOST_TOGETHER

static void test_right_bundles_make_up_for_wrong_ones(void **state)
{
    struct gp_range_collection c = {.contradictions = 0};
    (void)state;
    for (int i = 0; i < 100; i++) {
        bundles_contradicted(&c, BUNDLE);
        bundles_confirmed(&c, BUNDLE / 2);
        bundles_confirmed(&c, BUNDLE);
    }
    assert_int_equal(c.contradictions, 0);
}

static void test_bundles_that_were_given_up_stay_so(void **state)
{
    struct gp_range_collection c = {.contradictions = 0};
    (void)state;
    bundles_contradicted(&c, 3 * BUNDLE);
    bundles_confirmed(&c, 3 * BUNDLE);
    assert_int_equal(c.contradictions, 3 * BUNDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_bundles_make_up_for_wrong_ones),
        cmocka_unit_test(test_bundles_that_were_given_up_stay_so),
    };
    return cmocka_run_group_tests_name("counters/bundles", tests, NULL, NULL);
}
