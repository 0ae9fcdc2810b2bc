/* report/: totals of a process as OpenMetrics. */
#include "report/openmetrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample.h"

static struct gp_openmetrics_totals totals;
static const struct gp_openmetrics about = {.program = "a \"program\"\\\n",
                                            .process = 42,
                                            .launches = 5,
                                            .seconds = 3,
                                            .added_seconds = 1,
                                            .now = 1e9,
                                            .totals = &totals};

/* The value of a sample; NAN where there is none. */
static double value_of(const struct gp_text *text, const char *name)
{
    char begin[128];
    snprintf(begin, sizeof(begin), "\n%s{", name);
    const char *at = strstr(text->data, begin);
    at = at ? strstr(at, "} ") : NULL;
    return at ? strtod(at + 2, NULL) : (double)NAN;
}

static struct gp_text text_of(const struct gp_summary *s)
{
    struct gp_text text = {0};
    gp_openmetrics_add(s, &about, &text);
    assert_false(text.failed);
    return text;
}

static void the_text_is_as_it_was(void **state)
{
    (void)state;
    struct gp_metrics *m = selected("duration");
    struct gp_summary *s = gp_summary_new(m);
    struct gp_text text = text_of(s);
    assert_string_equal(
        text.data,
        "# TYPE gpuprof_run_seconds counter\n# UNIT gpuprof_run_seconds seconds\n"
        "# HELP gpuprof_run_seconds Time of the program, with gpuprof.\n"
        "gpuprof_run_seconds_total{program=\"a \\\"program\\\"\\\\\\n\",pid=\"42\"} 3\n"
        "# TYPE gpuprof_added_seconds counter\n# UNIT gpuprof_added_seconds seconds\n"
        "# HELP gpuprof_added_seconds Time by which gpuprof made the program longer.\n"
        "gpuprof_added_seconds_total{program=\"a \\\"program\\\"\\\\\\n\",pid=\"42\"} 1\n"
        "# TYPE gpuprof_launches counter\n# HELP gpuprof_launches Kernel launches of the program.\n"
        "gpuprof_launches_total{program=\"a \\\"program\\\"\\\\\\n\",pid=\"42\"} 5\n"
        "# TYPE gpuprof_measured_launches counter\n"
        "# HELP gpuprof_measured_launches Kernel launches that were measured.\n"
        "gpuprof_measured_launches_total{program=\"a \\\"program\\\"\\\\\\n\",pid=\"42\"} 0\n"
        "# TYPE gpuprof_updated_timestamp_seconds gauge\n"
        "# UNIT gpuprof_updated_timestamp_seconds seconds\n"
        "# HELP gpuprof_updated_timestamp_seconds When these values were written.\n"
        "gpuprof_updated_timestamp_seconds{program=\"a \\\"program\\\"\\\\\\n\",pid=\"42\"} "
        "1000000000\n"
        "# EOF\n");
    gp_text_free(&text);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void values_are_of_the_time_without_gpuprof(void **state)
{
    (void)state;
    struct gp_metrics *m = selected("default");
    struct gp_summary *s = gp_summary_new(m);
    struct sample sample;
    make_sample(&sample, "k");
    set(&sample, "dram__bytes_read.sum", 1e6);
    gp_summary_device(s, &h200);
    for (int i = 0; i < 4; i++)
        gp_summary_launch(s, &sample.launch); /* of 1 ms */
    const struct gp_sum more = {
        .kernel = "k", .configuration = sample.launch.configuration, .launched = 8};
    gp_summary_sum(s, &more); /* 4 of them were not measured */
    totals = (struct gp_openmetrics_totals){.gpu_seconds = 0};
    struct gp_text text = text_of(s);
    assert_true(fabs(value_of(&text, "gpuprof_gpu_busy_seconds_total") - 8e-3) < 1e-9);
    assert_true(fabs(value_of(&text, "gpuprof_gpu_busy_ratio") - 4e-3) < 1e-9);
    assert_true(fabs(value_of(&text, "gpuprof_measured_ratio") - 0.5) < 1e-9);
    assert_true(fabs(value_of(&text, "gpuprof_dram_bytes_total") - 8e6) < 1);
    assert_true(fabs(value_of(&text, "gpuprof_dram_bytes_per_second") - 4e6) < 1);
    assert_true(value_of(&text, "gpuprof_floating_point_operations_total") ==
                0); /* counted: none */
    gp_text_free(&text);
    /* An estimate that becomes less does not make a total less. */
    totals.gpu_seconds = 1;
    text = text_of(s);
    assert_true(value_of(&text, "gpuprof_gpu_busy_seconds_total") == 1);
    gp_text_free(&text);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void values_that_were_not_measured_are_absent(void **state)
{
    (void)state;
    struct gp_metrics *m = selected("default");
    struct gp_summary *s = gp_summary_new(m);
    struct sample sample;
    make_sample(&sample, "k");
    gp_summary_device(s, &h200);
    for (size_t i = 0; i < sample.launch.counter_count; i++)
        if (strcmp(sample.counters[i].name, GP_DURATION_COUNTER) != 0)
            sample.counters[i].absent = GP_REASON(NO_PERMISSION);
    gp_summary_launch(s, &sample.launch);
    totals = (struct gp_openmetrics_totals){.gpu_seconds = 0};
    struct gp_text text = text_of(s);
    assert_true(value_of(&text, "gpuprof_gpu_busy_seconds_total") > 0);
    assert_null(strstr(text.data, "dram"));
    assert_null(strstr(text.data, "flop"));
    assert_null(strstr(text.data, "floating"));
    assert_null(strstr(text.data, "nan"));
    gp_text_free(&text);
    gp_summary_free(s);
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_as_it_was),
        cmocka_unit_test(values_are_of_the_time_without_gpuprof),
        cmocka_unit_test(values_that_were_not_measured_are_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
