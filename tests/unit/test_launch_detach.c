/* The account of launches that take longer beside CUPTI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "launch/inside.h"
#include "launch/launch.h"

/* The seconds that a launch takes longer before it is known (launch/detach.c), and launches so few
 * that CUPTI stays. */
#define EACH_LAUNCH 2.5e-6
#define FEW 640

/* The seconds by which so many graphs take longer. */
static double seconds_of_graphs(unsigned graphs, unsigned kernels)
{
    const double before = detach_seconds();
    for (unsigned i = 0; i < graphs; i++)
        gp_detach_counts_graph(kernels);
    return detach_seconds() - before;
}

static void a_launch_counts_once(void **state)
{
    (void)state;
    for (int i = 0; i < FEW; i++)
        detach_counts_launch();
    assert_true(fabs(detach_seconds() - FEW * EACH_LAUNCH) < 1e-6);
}

static void a_small_graph_counts_as_a_launch(void **state)
{
    (void)state;
    assert_true(fabs(seconds_of_graphs(FEW, 1) - FEW * EACH_LAUNCH) < 1e-6);
}

/* 78 us for 435 kernels. */
static void a_large_graph_counts_by_its_kernels(void **state)
{
    (void)state;
    assert_true(fabs(seconds_of_graphs(FEW, 435) - FEW * 80e-6) < FEW * 3e-6);
}

int main(void)
{
    detach_session_came(0.3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_counts_once),
        cmocka_unit_test(a_small_graph_counts_as_a_launch),
        cmocka_unit_test(a_large_graph_counts_by_its_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
