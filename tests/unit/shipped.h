/* The shipped definitions, and no others: they have to be without a problem. */
#ifndef GPUPROF_TESTS_SHIPPED_H
#define GPUPROF_TESTS_SHIPPED_H

#include "metrics/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct gp_metrics *shipped(void)
{
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    unsetenv("GPUPROF_METRICS_PATH");
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_open(&problems);
    assert_non_null(m);
    assert_string_equal(gp_text_string(&problems), "");
    return m;
}

#endif
