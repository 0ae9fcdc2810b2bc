/* report/: units, names that fit, summaries in bounded memory, the report against a golden file.
 * After a wanted change: GPUPROF_UPDATE_GOLDEN=1 build/unit/test_report, then read the diff. */
#include "metrics/weight.h"
#include "report/colour.h"
#include "report/layout.h"
#include "report/rows.h"
#include "report/skips.h"
#include "report/summary.h"
#include "report/table.h"
#include "report/units.h"

#include "h200.h"
#include "shipped.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- units ---- */

static void is_written(double value, const char *unit, const char *expected)
{
    char text[64];
    gp_unit_format(value, unit, text, sizeof(text));
    assert_string_equal(text, expected);
}

static void units_are_for_people(void **state)
{
    (void)state;
    is_written(0, "s", "0 ns");
    is_written(14.8e-6, "s", "14.80 us");
    is_written(1.6645e-3, "s", "1.664 ms");
    is_written(999.99e-6, "s", "1.000 ms");
    is_written(999.4e-6, "s", "999.4 us");
    is_written(12.5, "s", "12.50 s");
    is_written(5000, "s", "5000 s");
    is_written(3e-12, "s", "0.003 ns");
    is_written(480.96e9, "bytes/s", "481.0 GB/s");
    is_written(4.814e12, "bytes/s", "4.814 TB/s");
    is_written(134217728, "bytes", "134.2 MB");
    is_written(17, "bytes", "17.00 B");
    is_written(19721.0e9, "flop/s", "19721 GFLOP/s");
    is_written(309.0e9, "flop/s", "309.0 GFLOP/s");
    is_written(0, "flop/s", "0 FLOP/s");
    is_written(12.5, "%", "12.5 %");
    is_written(100, "%", "100 %");
    is_written(99.96, "%", "100 %");
    is_written(5.25, "%", "5.25 %");
    is_written(0.001, "%", "0.001 %");
    is_written(0, "%", "0 %");
    is_written(0.76755, "ratio", "0.768");
    is_written(1, "ratio", "1.00");
    is_written(15.515, "ratio", "15.5");
    is_written(0.000152, "ratio", "0.00015");
    is_written(9437184, "count", "9437184");
    is_written(0.5, "count", "0.50");
    is_written(1e18, "flop", "1e+18");
    is_written(86.25, "flop/byte", "86.25 flop/byte");
    is_written(3.25, "inst/cycle", "3.25 inst/cycle");
    is_written(-2e-3, "s", "-2.000 ms");
    is_written(7, "", "7");
}

/* ---- layout ---- */

static void is_shortened(const char *name, size_t width, const char *expected)
{
    char text[256];
    gp_shorten(name, text, width);
    assert_true(strlen(text) <= width);
    assert_string_equal(text, expected);
}

static void long_names_are_shortened(void **state)
{
    (void)state;
    is_shortened("vectorAdd", 20, "vectorAdd");
    is_shortened("at::native::kernel<float>", 13, "kernel<float>");
    is_shortened("(anonymous namespace)::kernel<float>", 13, "kernel<float>");
    is_shortened("a::kernel<4, b::functor<float>, c::array<char*, 3ul> >", 40,
                 "kernel<4, functor<...>, array<...> >");
    is_shortened("a::kernel<4, b::functor<float>, c::array<char*, 3ul> >", 15, "kernel<...>");
    is_shortened("a_kernel_with_a_rather_long_name", 15, "a_kern...g_name");
    is_shortened("a_kernel_with_a_rather_long_name", 4, "a_ke");
    is_shortened("a_kernel", 0, "");
}

static void texts_are_wrapped(void **state)
{
    (void)state;
    struct gp_text t = {0};
    gp_text_add(&t, "before\nhead: ");
    char words[400] = "", solid[300];
    for (int i = 0; i < 40; i++)
        strcat(words, "seven77 ");
    gp_wrap(&t, 4, words);
    memset(solid, 'x', sizeof(solid) - 1);
    solid[sizeof(solid) - 1] = '\0';
    gp_wrap(&t, 2, solid);
    gp_wrap(&t, 2, "");
    int lines = 0;
    for (const char *line = t.data; *line; line = strchr(line, '\n') + 1, lines++)
        assert_true(strcspn(line, "\n") <= GP_COLUMNS);
    assert_int_equal(lines, 8);
    assert_null(strstr(t.data, " \n"));
    gp_text_free(&t);
}

static void a_percent_sign_stays_with_its_number(void **state)
{
    (void)state;
    static const char text[] = "a share of 41.5 % and of 7 % here";
    for (size_t width = 10; width <= strlen(text); width++) {
        struct gp_text t = {0};
        gp_wrap_to(&t, width, 2, text);
        assert_non_null(strstr(t.data, "41.5 %"));
        assert_non_null(strstr(t.data, "7 %"));
        for (const char *line = t.data; *line; line = strchr(line, '\n') + 1)
            assert_true(strcspn(line, "\n") <= width);
        gp_text_free(&t);
    }
}

static void extents_are_short(void **state)
{
    (void)state;
    static const struct {
        unsigned extent[3];
        const char *text;
    } cases[] = {
        {{256, 1, 1}, "256"}, {{32, 8, 1}, "32x8"}, {{8, 1, 2}, "8x1x2"}, {{1, 1, 1}, "1"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[48];
        gp_extent(cases[i].extent, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

/* ---- summaries ---- */

static struct gp_metrics *selecting(const char *list)
{
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    assert_true(gp_metrics_select(m, list, &problems));
    return m;
}

/* The time of a first launch may hold milliseconds of the host's: it counts as long as there is no
 * other one. */
static void times_in_doubt_give_way_to_others(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct gp_counter counter = {"gpu__time_duration.sum", 4850400, GP_NO_REASON};
    char kernel[] = "k";
    struct gp_record l = {.kernel = kernel,
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .passes = 1,
                          .doubt_ms = 4.85,
                          .counter_count = 1,
                          .counters = &counter};
    gp_summary_launch(s, &l);
    gp_summary_launch(s, &l);
    const struct gp_stat *time = &gp_summary_group(s, 0)->stats[0];
    assert_int_equal(time->count, 2);
    assert_true(time->max > 4e-3);
    counter.absent = GP_REASON_TEXT(COUNTERS_IN_USE, "busy");
    gp_summary_launch(s, &l);
    counter.absent = GP_NO_REASON;
    counter.value = 3000;
    l.doubt_ms = 0.001; /* a third */
    gp_summary_launch(s, &l);
    assert_int_equal(time->count, 1);
    assert_true(time->max < 4e-6 && time->sum < 4e-6);
    assert_int_equal(time->absent_count, 1);
    counter.value = 4850400;
    l.doubt_ms = 4.85;
    gp_summary_launch(s, &l);
    assert_int_equal(time->count, 1);
    assert_int_equal(gp_summary_launches(s), 5);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void launches_are_folded_into_groups(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration,dram_read_bytes");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct gp_counter counters[] = {{"gpu__time_duration.sum", 0, GP_NO_REASON},
                                    {"dram__bytes_read.sum", 0, GP_NO_REASON}};
    char kernel[] = "k";
    struct gp_record l = {.kernel = kernel,
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .passes = 2,
                          .overhead_ms = 1.5,
                          .counter_count = 2,
                          .counters = counters};
    for (int i = 1; i <= 4; i++) {
        counters[0].value = i * 1000;
        counters[1].absent = i == 2 ? GP_REASON_TEXT(COUNTERS_IN_USE, "busy") : GP_NO_REASON;
        counters[1].value = 7;
        gp_summary_launch(s, &l);
    }
    kernel[0] = 'x'; /* names are copied */
    l.grid[0] = 9;
    gp_summary_launch(s, &l);
    l.skipped = GP_REASON_TEXT(OTHER, "a reason");
    l.counter_count = 0;
    gp_summary_launch(s, &l);
    gp_summary_launch(s, &l);

    assert_int_equal(gp_summary_launches(s), 7);
    assert_int_equal(gp_summary_group_count(s), 2);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_string_equal(g->launch.kernel, "k");
    assert_int_equal(g->launches, 4);
    assert_int_equal(g->measured, 4);
    assert_int_equal(g->replays, 4);
    assert_true(g->overhead_ms == 6);
    assert_int_equal(g->stats[0].count, 4);
    assert_true(g->stats[0].min == 1e-6 && g->stats[0].max == 4e-6);
    assert_true(g->stats[0].sum > 9.9999e-6 && g->stats[0].sum < 10.0001e-6);
    assert_int_equal(g->stats[1].count, 3);
    assert_int_equal(g->stats[1].absent_count, 1);
    assert_string_equal(g->stats[1].absent.text, "counter dram__bytes_read.sum: busy");
    assert_int_equal(g->stats[1].absent.cause, GP_CAUSE_COUNTERS_IN_USE);
    assert_string_equal(gp_stat_plain_absence(&g->stats[1]).text, "busy");
    assert_int_equal(gp_summary_group(s, 1)->launches, 3);
    assert_int_equal(gp_summary_group(s, 1)->measured, 1);
    assert_int_equal(gp_summary_skip_count(s), 1);
    assert_string_equal(gp_summary_skip(s, 0)->kernel, "x");
    assert_string_equal(gp_summary_skip(s, 0)->reason.text, "a reason");
    assert_int_equal(gp_summary_skip(s, 0)->launches, 2);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void an_interval_is_that_of_the_mean(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("achieved_occupancy,dram_read_bytes,duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct gp_counter counters[] = {
        {"gpu__time_duration.sum", 1000, GP_NO_REASON},
        {"dram__bytes_read.sum", 0, GP_NO_REASON},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 50, GP_NO_REASON}};
    struct gp_record l = {.kernel = "k",
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .passes = 2,
                          .counter_count = 3,
                          .counters = counters};
    static const double values[] = {10, 12, 11, 13};
    assert_true(gp_summary_scatter(s, &l) < 0);
    for (size_t i = 0; i < 4; i++) {
        counters[1].value = values[i];
        counters[2].value = 5 * values[i];
        gp_summary_launch(s, &l);
        const struct gp_stat *bytes = &gp_summary_group(s, 0)->stats[1];
        assert_true(isnan(gp_stat_error(bytes)) == (i == 0));
        if (i == 0)
            assert_float_equal(gp_summary_scatter(s, &l), 0, 0);
    }
    /* A deviation of 1.291, by Student's factor for 3 degrees of freedom, 3.182, and the root of 4.
     */
    assert_float_equal(gp_stat_error(&gp_summary_group(s, 0)->stats[1]), 2.054, 0.001);
    assert_float_equal(gp_summary_scatter(s, &l), 1.291 / 11.5, 1e-4);

    /* Launches that were left out: these stand for them. */
    const struct gp_count all = {
        .kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 100};
    struct gp_count left_out = all;
    left_out.launches = 96;
    left_out.reason = GP_REASON(ADDED_LIMIT);
    gp_summary_count(s, &all);
    gp_summary_count(s, &left_out);
    gp_summary_settings(s, &(struct gp_settings){.overhead = "3%"});
    gp_summary_end(s, &(struct gp_end){.added_seconds = 2,
                                       .seconds = 60,
                                       .has_limit = 1,
                                       .limit_seconds = 1.8,
                                       .limit_spent = 1.7,
                                       .start_up_seconds = 0.3,
                                       .limit_wanted = 0.613});
    const struct gp_limits limits = gp_summary_limits(s);
    assert_int_equal(limits.left_out, 96);
    assert_string_equal(limits.rule, "3%");
    assert_float_equal(limits.spent, 1.7, 0);
    struct gp_text report = {0};
    const struct gp_table_options options = {.details = true, .width = 200};
    gp_table_report(s, &options, &report);
    const char *text = gp_text_string(&report);
    assert_non_null(strstr(text, "4 of 100 launches were measured"));
    assert_non_null(
        strstr(text, "of 1.800 s that the limit permits (3%) 1.700 s was spent, beside 300.0 ms"));
    assert_non_null(strstr(text, "--overhead 2.4s, as predicted"));
    assert_non_null(strstr(text, "values \302\26118%"));
    assert_non_null(strstr(text, "\302\26118%"));
    gp_text_free(&report);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void a_difference_makes_another_group(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    struct gp_record l = {.kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    gp_summary_launch(s, &l);
    l.block[1] = 2;
    gp_summary_launch(s, &l);
    l.cluster[0] = 2;
    gp_summary_launch(s, &l);
    l.shared_dynamic = 16;
    gp_summary_launch(s, &l);
    l.device = 3;
    gp_summary_launch(s, &l);
    l.stream = 77;
    gp_summary_launch(s, &l);
    assert_int_equal(gp_summary_group_count(s), 5);
    assert_string_equal(gp_summary_group(s, 0)->stats[0].absent.text,
                        "the facts of the device are not known");
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* Two of ten launches were measured, with these occupancies. */
static bool is_sure(double one, double other)
{
    struct gp_metrics *m = selecting("achieved_occupancy");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct gp_counter counters[] = {
        {"sm__warps_active.avg.pct_of_peak_sustained_active", one, GP_NO_REASON},
        {"sm__cycles_active.avg", 1000, GP_NO_REASON}};
    struct gp_record l = {.kernel = "k",
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .passes = 2,
                          .counter_count = 2,
                          .counters = counters};
    const struct gp_count count = {
        .kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 10};
    gp_summary_launch(s, &l);
    counters[0].value = other;
    gp_summary_launch(s, &l);
    gp_summary_count(s, &count);
    struct gp_text out = {0};
    gp_table_report(s, &(struct gp_table_options){0}, &out);
    const bool sure = strstr(gp_text_string(&out), "values \302\261") != NULL;
    assert_true(sure != (strstr(gp_text_string(&out), "values not sure") != NULL));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
    return sure;
}

static void an_interval_wider_than_the_mean_is_no_number(void **state)
{
    (void)state;
    assert_true(is_sure(50, 52));
    assert_false(is_sure(10, 90));
}

/* Neither its code nor its data are in caches yet. */
static void a_first_launch_stands_for_itself_alone(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct gp_counter counter = {"gpu__time_duration.sum", 2000, GP_NO_REASON};
    struct gp_record l = {.kernel = "k",
                          .index = 7,
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .passes = 1,
                          .counter_count = 1,
                          .counters = &counter};
    struct gp_count count = {.kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 2};
    struct gp_rows rows;
    gp_summary_launch(s, &l);
    l.index = 3;
    counter.value = 29000;
    gp_summary_launch(s, &l);
    gp_summary_count(s, &count);
    assert_true(gp_rows_make(&rows, s));
    assert_float_equal(rows.rows[0].seconds, 31e-6, 1e-12); /* both were timed */
    gp_rows_free(&rows);
    count.launches = 998;
    gp_summary_count(s, &count);
    assert_true(gp_rows_make(&rows, s));
    assert_float_equal(rows.rows[0].seconds, 31e-6 + 998 * 2e-6, 1e-9);
    gp_rows_free(&rows);
    /* A sum of launches may have the first one. */
    gp_summary_sum(s, &(struct gp_sum){.kernel = "k",
                                       .grid = {8, 1, 1},
                                       .block = {32, 1, 1},
                                       .launched = 1,
                                       .timed = 1,
                                       .time_ns = 5000,
                                       .shortest_ns = 5000,
                                       .longest_ns = 5000});
    assert_true(gp_rows_make(&rows, s));
    assert_float_equal(rows.rows[0].seconds, 1001 * 12e-6, 1e-9);
    gp_rows_free(&rows);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void first_launches_of_two_processes_stand_for_themselves(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_count count = {
        .kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 500};
    for (int process = 0; process < 2; process++) {
        gp_summary_settings(s, &(struct gp_settings){0});
        gp_summary_device(s, &h200);
        for (unsigned i = 0; i < 2; i++) {
            struct gp_counter counter = {"gpu__time_duration.sum", i ? 2000 : 29000, GP_NO_REASON};
            struct gp_record l = {.kernel = "k",
                                  .index = 7 + i,
                                  .grid = {8, 1, 1},
                                  .block = {32, 1, 1},
                                  .passes = 1,
                                  .counter_count = 1,
                                  .counters = &counter};
            gp_summary_launch(s, &l);
        }
        gp_summary_count(s, &count);
    }
    struct gp_rows rows;
    assert_true(gp_rows_make(&rows, s));
    assert_float_equal(rows.rows[0].seconds, 2 * 29e-6 + 998 * 2e-6, 1e-9);
    gp_rows_free(&rows);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* A first launch of 5 ms, by the host, is no example for 1000 others where other grids have times.
 */
static void a_time_in_doubt_stands_for_no_other_launch(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    for (unsigned i = 0; i < 3; i++) {
        struct gp_counter counter = {"gpu__time_duration.sum", i ? 2000 : 5000000, GP_NO_REASON};
        const struct gp_record l = {.kernel = "k",
                                    .grid = {8 + i, 1, 1},
                                    .block = {32, 1, 1},
                                    .passes = 1,
                                    .doubt_ms = i ? 0 : 4.99,
                                    .counter_count = 1,
                                    .counters = &counter};
        struct gp_count count = {
            .kernel = "k", .grid = {8 + i, 1, 1}, .block = {32, 1, 1}, .launches = 1001};
        gp_summary_launch(s, &l);
        gp_summary_count(s, &count);
    }
    struct gp_rows rows;
    assert_true(gp_rows_make(&rows, s));
    assert_float_equal(rows.rows[0].seconds, 5e-3 + 1000 * 2e-6 + 2 * 1001 * 2e-6, 1e-9);
    gp_rows_free(&rows);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* Where no other grid has a time, they take as long as that launch without the host's part, and no
 * less than the shortest kernels. */
static void a_time_in_doubt_stands_without_the_doubt(void **state)
{
    static const struct {
        double doubt_ms, seconds;
    } cases[] = {{4.99, 10e-6}, {5, 2e-6}, {2, 5e-3}};
    (void)state;
    struct gp_metrics *m = selecting("duration");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_summary *s = gp_summary_new(m);
        gp_summary_device(s, &h200);
        struct gp_counter counter = {"gpu__time_duration.sum", 5000000, GP_NO_REASON};
        const struct gp_record l = {.kernel = "k",
                                    .grid = {8, 1, 1},
                                    .block = {32, 1, 1},
                                    .passes = 1,
                                    .doubt_ms = cases[i].doubt_ms,
                                    .counter_count = 1,
                                    .counters = &counter};
        const struct gp_count count = {
            .kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 1001};
        gp_summary_launch(s, &l);
        gp_summary_count(s, &count);
        struct gp_rows rows;
        assert_true(gp_rows_make(&rows, s));
        assert_float_equal(rows.rows[0].seconds, 5e-3 + 1000 * cases[i].seconds, 1e-9);
        gp_rows_free(&rows);
        gp_summary_free(s);
    }
    gp_metrics_close(m);
}

static void counts_say_how_many_launches_there_were(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    const struct gp_counter counter = {"gpu__time_duration.sum", 1000, GP_NO_REASON};
    struct gp_record l = {.kernel = "k",
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .passes = 2,
                          .counter_count = 1,
                          .counters = &counter};
    for (int i = 0; i < 3; i++)
        gp_summary_launch(s, &l);
    l.kernel = "other"; /* without a count */
    gp_summary_launch(s, &l);
    struct gp_count count = {
        .kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 19000};
    gp_summary_count(s, &count);
    count.launches = 1000;
    gp_summary_count(s, &count);
    count.grid[0] = 9; /* none of these was measured */
    count.launches = 10;
    gp_summary_count(s, &count);

    assert_int_equal(gp_summary_group_count(s), 3);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_int_equal(g->launches, 20000);
    assert_int_equal(g->recorded, 3);
    assert_int_equal(g->measured, 3);
    assert_int_equal(g->stats[0].count, 3);
    assert_int_equal(gp_summary_group(s, 1)->launches, 1);
    assert_int_equal(gp_summary_group(s, 2)->launches, 10);
    assert_int_equal(gp_summary_group(s, 2)->recorded, 0);
    assert_int_equal(gp_summary_launches(s), 20011);

    struct gp_rows rows;
    assert_true(gp_rows_make(&rows, s));
    assert_int_equal(rows.count, 2);
    assert_int_equal(rows.rows[0].launches, 20010);
    assert_int_equal(rows.rows[0].grids, 2);
    assert_true(fabs(rows.rows[0].seconds - 20010e-6) < 1e-9);
    gp_rows_free(&rows);

    struct gp_text out = {0};
    const struct gp_table_options options = {.details = true, .every_metric = true};
    const struct gp_settings settings = {.sample = "first:3"};
    gp_summary_settings(s, &settings);
    gp_table_report(s, &options, &out);
    assert_non_null(strstr(out.data, ": 20011 kernel launches, 4 measured with 4 replays"));
    assert_non_null(strstr(out.data, "some launches were measured: first:3."));
    assert_non_null(strstr(out.data, "~100.0%  3 of 20010  1.000 us "));
    assert_non_null(strstr(out.data, "   time    launches  avg time "));
    assert_non_null(strstr(out.data, "; 20010 launches, 3 measured; GPU 0"));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* A grid of which no launch was timed takes the time that its blocks lead to, not the mean of
 * others. */
static void times_of_grids_follow_their_blocks(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    double timed = 0;
    gp_summary_device(s, &h200);
    for (uint32_t blocks = 10; blocks <= 40; blocks += 10) {
        const double ns = 1000 + 100.0 * blocks;
        const struct gp_counter counter = {"gpu__time_duration.sum", ns, GP_NO_REASON};
        const struct gp_record l = {.kernel = "k",
                                    .grid = {blocks, 1, 1},
                                    .block = {32, 1, 1},
                                    .passes = 2,
                                    .counter_count = 1,
                                    .counters = &counter};
        gp_summary_launch(s, &l);
        timed += 1e-9 * ns;
    }
    const struct gp_count count = {
        .kernel = "k", .grid = {400, 1, 1}, .block = {32, 1, 1}, .launches = 50};
    gp_summary_count(s, &count);
    struct gp_rows rows;
    assert_true(gp_rows_make(&rows, s));
    assert_int_equal(rows.count, 1);
    const struct gp_row last = gp_rows_of_group(&rows, &rows.rows[0], 4);
    assert_int_equal(last.launch->grid[0], 400);
    assert_float_equal(last.seconds, 50 * 41e-6, 1e-9);
    assert_float_equal(rows.rows[0].seconds, timed + 50 * 41e-6, 1e-9);
    assert_float_equal(rows.seconds, rows.rows[0].seconds, 0);
    gp_rows_free(&rows);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* Launches without a line of their own, of a process that is killed and of one that ends. */
static void sums_stand_for_launches_without_a_line(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_settings settings = {.sample = NULL};
    const struct gp_counter counter = {"gpu__time_duration.sum", 1000, GP_NO_REASON};
    const struct gp_record l = {
        .kernel = "k", .grid = {8, 1, 1}, .passes = 2, .counter_count = 1, .counters = &counter};
    struct gp_sum sum = {.kernel = "k",
                         .grid = {8, 1, 1},
                         .launched = 100,
                         .left_out = 40,
                         .measured = 30,
                         .replays = 30,
                         .timed = 40,
                         .time_ns = 80000,
                         .shortest_ns = 500,
                         .longest_ns = 9000};
    const struct gp_count count = {.kernel = "k", .grid = {8, 1, 1}, .launches = 70};
    gp_summary_device(s, &h200);
    gp_summary_settings(s, &settings);
    gp_summary_launch(s, &l);
    gp_summary_sum(s, &sum);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_int_equal(gp_summary_group_count(s), 1);
    assert_int_equal(g->launches, 100); /* some were not recorded */
    assert_int_equal(g->recorded, 41);
    assert_int_equal(g->measured, 31);
    assert_int_equal(g->replays, 31);
    assert_int_equal(g->stats[0].count, 41);
    assert_true(fabs(g->stats[0].sum - 81e-6) < 1e-12);
    assert_true(fabs(g->stats[0].min - 0.5e-6) < 1e-12);
    assert_true(fabs(g->stats[0].max - 9e-6) < 1e-12);
    double mean;
    assert_true(gp_stat_mean(&g->stats[0], &mean));
    assert_true(fabs(mean - 81e-6 / 41) < 1e-12); /* each of them counts alike */
    assert_true(fabs(gp_summary_measured_share(s) - 0.31) < 1e-9);
    /* Another process, which comes to its end: its counts replace the number so far. */
    gp_summary_settings(s, &settings);
    sum.launched = 60;
    gp_summary_sum(s, &sum);
    assert_int_equal(g->launches, 160);
    gp_summary_count(s, &count);
    assert_int_equal(g->launches, 170);
    /* A kernel that is in no line at all. */
    sum.kernel = "other";
    gp_summary_sum(s, &sum);
    assert_int_equal(gp_summary_group(s, 1)->launches, 60);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void a_kernel_of_which_nothing_was_measured_is_counted(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_summary *s = gp_summary_new(m);
    struct gp_count count = {.kernel = "k", .grid = {8, 1, 1}, .block = {32, 1, 1}, .launches = 7};
    gp_summary_count(s, &count);
    struct gp_text out = {0};
    const struct gp_table_options options = {.details = true, .every_metric = true};
    gp_table_report(s, &options, &out);
    assert_non_null(strstr(out.data, "0 of 7"));
    assert_non_null(strstr(out.data, "   no launch was measured\n"));
    assert_null(strstr(out.data, "registers"));

    count.launches = 5; /* of these seven, and so are the next two */
    count.reason = GP_REASON_TEXT(OTHER, "some reason");
    gp_summary_count(s, &count);
    count.grid[0] = 9; /* of the same kernel: one line */
    count.launches = 2;
    gp_summary_count(s, &count);
    gp_text_clear(&out);
    gp_table_report(s, &options, &out);
    assert_int_equal(gp_summary_launches(s), 7);
    assert_int_equal(gp_summary_group(s, 0)->passed_over, 5);
    assert_non_null(strstr(out.data, "0 of 7"));
    assert_non_null(strstr(out.data, "   no launch was measured: see NOT MEASURED\n"));
    assert_non_null(strstr(out.data, "   k, 7 launches: some reason\n"));
    count.grid[0] = 8; /* the other two are left out by choice */
    count.reason = GP_REASON(ADDED_LIMIT);
    gp_summary_count(s, &count);
    assert_int_equal(gp_summary_group(s, 0)->passed_over, 5);
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void times_of_a_grid_stand_for_its_launches_only(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct gp_counter counter = {"gpu__time_duration.sum", 1000, GP_NO_REASON};
    struct gp_record l = {.kernel = "k",
                          .grid = {1, 1, 1},
                          .block = {32, 1, 1},
                          .counter_count = 1,
                          .counters = &counter};
    gp_summary_launch(s, &l);
    l.grid[0] = 1000;
    counter.value = 1000000;
    gp_summary_launch(s, &l);
    const struct gp_count small = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .launches = 1000};
    gp_summary_count(s, &small);
    struct gp_rows rows;
    assert_true(gp_rows_make(&rows, s));
    assert_int_equal(rows.count, 1);
    assert_true(fabs(rows.rows[0].seconds - 2e-3) < 1e-9);
    gp_rows_free(&rows);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* ---- launches that take turns ---- */

/* A launch with the hardware's counters, or with those of instrumented code. */
static void take_turn(struct gp_summary *s, int hardware, double duration, double bytes,
                      struct gp_reason shared_absent)
{
    const struct gp_reason elsewhere = GP_REASON(COUNTED_ELSEWHERE);
    const struct gp_counter counters[] = {
        {"gpu__time_duration.sum", duration, hardware ? GP_NO_REASON : elsewhere},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", bytes, hardware ? elsewhere : GP_NO_REASON},
        {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", 50,
         hardware ? elsewhere : shared_absent},
    };
    const struct gp_record l = {.kernel = "k",
                                .grid = {8, 1, 1},
                                .block = {32, 1, 1},
                                .passes = 1,
                                .counter_count = 3,
                                .counters = counters};
    gp_summary_launch(s, &l);
}

static void launches_that_took_turns_are_combined(void **state)
{
    (void)state;
    struct gp_metrics *m =
        selecting("duration,gld_requested_throughput,shared_efficiency,theoretical_occupancy");
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_settings settings = {.replay_off = 1};
    gp_summary_settings(s, &settings);
    gp_summary_device(s, &h200);
    take_turn(s, 1, 1000, 0, GP_NO_REASON);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_int_equal(g->stats[0].count, 1);
    assert_int_equal(g->stats[1].count, 0);
    assert_non_null(strstr(g->stats[1].absent.text, "no launch was left to count it in"));

    take_turn(s, 0, 0, 4000, GP_REASON_TEXT(OTHER, "no shared memory is used"));
    take_turn(s, 1, 3000, 0, GP_NO_REASON);
    assert_int_equal(g->measured, 3);
    assert_int_equal(g->hardware, 2);
    assert_int_equal(g->instrumented, 1);
    /* A metric of one kind of launch is as always. */
    assert_int_equal(g->stats[0].count, 2);
    assert_int_equal(g->stats[0].absent_count, 0);
    assert_false(g->stats[0].combined);
    assert_true(fabs(g->stats[0].sum - 4e-6) < 1e-12);
    /* A metric of both kinds is combined: 4000 bytes in 2 us. */
    assert_true(g->stats[1].combined);
    assert_int_equal(g->stats[1].count, 3);
    assert_true(fabs(g->stats[1].sum / 3 - 2e9) < 1);
    /* A counter with a reason keeps it. */
    assert_int_equal(g->stats[2].count, 0);
    assert_int_equal(g->stats[2].absent_count, 1);
    assert_non_null(strstr(g->stats[2].absent.text, "no shared memory is used"));

    struct gp_text out = {0};
    const struct gp_table_options options = {.details = true, .every_metric = true};
    gp_table_report(s, &options, &out);
    assert_non_null(strstr(out.data, "No launch was replayed (GPUPROF_REPLAY=off)"));
    assert_non_null(strstr(out.data, "3 measured (2 with hardware counters, 1 instrumented)"));
    assert_non_null(strstr(out.data, "-                 -        2.000 GB/s *\n"));
    assert_non_null(strstr(out.data, "   * from the means of counters of 2 launches with hardware "
                                     "counters and 1 instrumented\n"));
    assert_null(strstr(out.data, gp_cause_text(GP_CAUSE_COUNTED_ELSEWHERE)));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* Where none of a group was counted in instrumented code, as that has taken all its time. */
static void launches_that_are_counted_nowhere_say_why(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration,gld_requested_throughput");
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_counter counters[] = {
        {"gpu__time_duration.sum", 1000, GP_NO_REASON},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", 0,
         GP_REASON_TEXT(INSTRUMENTED_ENOUGH, "counted in other launches: it takes long")},
    };
    const struct gp_record l = {.kernel = "k",
                                .grid = {8, 1, 1},
                                .block = {32, 1, 1},
                                .passes = 1,
                                .counter_count = 2,
                                .counters = counters};
    gp_summary_device(s, &h200);
    gp_summary_launch(s, &l);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_string_equal(gp_stat_plain_absence(&g->stats[1]).text,
                        gp_cause_text(GP_CAUSE_INSTRUMENTED_ENOUGH));
    assert_null(strstr(g->stats[1].absent.text, "no launch was left"));
    take_turn(s, 0, 0, 4000, GP_NO_REASON);
    assert_true(g->stats[1].combined && fabs(g->stats[1].sum / 2 - 4e9) < 1);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* Why a launch by itself has no value says more than that nothing was left to count it in. */
static void a_reason_is_the_same_in_any_order(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("gld_requested_bytes");
    for (int first = 0; first < 2; first++) {
        struct gp_summary *s = gp_summary_new(m);
        struct gp_counter counter = {.name = "smsp__sass_data_bytes_mem_global_op_ld.sum"};
        const struct gp_record l = {.kernel = "k",
                                    .grid = {8, 1, 1},
                                    .block = {32, 1, 1},
                                    .counter_count = 1,
                                    .counters = &counter};
        gp_summary_device(s, &h200);
        for (int i = 0; i < 2; i++) {
            counter.absent = i == first ? GP_REASON_TEXT(HOST_MEMORY, "some of its memory changed")
                                        : GP_REASON(COUNTED_ELSEWHERE);
            gp_summary_launch(s, &l);
        }
        assert_non_null(strstr(gp_summary_group(s, 0)->stats[0].absent.text, "memory changed"));
        gp_summary_free(s);
    }
    gp_metrics_close(m);
}

static void a_time_makes_no_launch_one_with_hardware_counters(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration,gld_requested_throughput");
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_settings settings = {.replay_off = 1};
    gp_summary_settings(s, &settings);
    gp_summary_device(s, &h200);
    struct gp_counter counters[] = {
        {"gpu__time_duration.sum", 1000, GP_NO_REASON},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", 4000, GP_NO_REASON}};
    struct gp_record l = {.kernel = "k", .counter_count = 2, .counters = counters};
    gp_summary_launch(s, &l);
    l.counter_count = 1;
    gp_summary_launch(s, &l);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_int_equal(g->hardware, 1);
    assert_int_equal(g->instrumented, 1);
    /* One launch has both: nothing is to be combined. */
    assert_false(g->stats[1].combined);
    assert_int_equal(g->stats[1].count, 1);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void only_launches_that_took_turns_are_combined(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("gld_requested_throughput");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    /* Each lacks the counters of the other, for a reason of its own. */
    struct gp_counter timed[] = {
        {"gpu__time_duration.sum", 1000, GP_NO_REASON},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", 0, GP_REASON_TEXT(OTHER, "it broke off")}};
    struct gp_counter counted[] = {
        {"gpu__time_duration.sum", 0, GP_REASON_TEXT(OTHER, "it was not timed")},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", 4000, GP_NO_REASON}};
    struct gp_record l = {.kernel = "k",
                          .grid = {8, 1, 1},
                          .block = {32, 1, 1},
                          .counter_count = 2,
                          .counters = timed};
    gp_summary_launch(s, &l);
    l.counters = counted;
    gp_summary_launch(s, &l);
    const struct gp_group *g = gp_summary_group(s, 0);
    assert_int_equal(g->stats[0].count, 0);
    assert_int_equal(g->stats[0].absent_count, 2);
    assert_non_null(strstr(g->stats[0].absent.text, "it was not timed"));
    /* In spite of the settings: a launch may be one that cannot be replayed. */
    take_turn(s, 1, 1000, 0, GP_NO_REASON);
    take_turn(s, 0, 0, 4000, GP_NO_REASON);
    assert_true(g->stats[0].combined);
    assert_true(fabs(g->stats[0].sum / (double)g->stats[0].count - 4e9) < 1);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* ---- the fold: a number of a row stands for the row's time ------------------------------------
 */

/* Launches of some kernels and grids with all default metrics, each other than the others. */
#define FOLDED 40
struct folded {
    struct gp_counter counters[FOLDED][128];
    struct gp_record launches[FOLDED];
};

/* One counter in `absent` has no value; 0: all have one. */
static void make_launches(struct folded *f, const struct gp_metrics *m, int absent)
{
    static const char *const kernels[] = {"fold_a", "fold_b", "fold_c"};
    const char **names;
    size_t count;
    assert_true(gp_metrics_counters(m, &h200, &names, &count));
    assert_true(count <= 128);
    srand(7);
    for (size_t i = 0; i < FOLDED; i++) {
        for (size_t c = 0; c < count; c++) {
            double value = 1 + rand() % 100000;
            bool is_share = strstr(names[c], ".pct") != NULL;
            f->counters[i][c] =
                (struct gp_counter){.name = names[c],
                                    .value = is_share ? value / 1000 : value,
                                    .absent = absent && rand() % absent == 0
                                                  ? GP_REASON_TEXT(COUNTERS_IN_USE, "it was busy")
                                                  : GP_NO_REASON};
        }
        f->launches[i] = (struct gp_record){.index = i,
                                            .kernel = kernels[rand() % 3],
                                            .grid = {1u << rand() % 12, 1, 1},
                                            .block = {rand() % 2 ? 128 : 256, 1, 1},
                                            .registers = 32,
                                            .shared_carveout = -1,
                                            .passes = 3,
                                            .counters = f->counters[i],
                                            .counter_count = count};
    }
    free(names);
}

struct folding {
    struct gp_summary *summary;
    struct gp_rows rows;
};

static void begin_folding(struct folding *f, const struct gp_metrics *m)
{
    f->summary = gp_summary_new(m);
    gp_summary_device(f->summary, &h200);
}

static void end_folding(struct folding *f)
{
    gp_rows_free(&f->rows);
    gp_summary_free(f->summary);
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* All numbers of the rows are those of the others, where launches are `times` as many. */
static void are_alike(const struct gp_rows *rows, const struct gp_rows *others, uint64_t times)
{
    const struct gp_metrics *m = gp_summary_metrics(rows->summary);
    assert_int_equal(rows->count, others->count);
    assert_true(is_near(rows->seconds, (double)times * others->seconds));
    for (size_t i = 0; i < rows->count; i++) {
        const struct gp_row *row = &rows->rows[i], *other = &others->rows[i];
        assert_string_equal(row->full_name, other->full_name);
        assert_int_equal(row->grids, other->grids);
        assert_int_equal(row->launches, times * other->launches);
        assert_int_equal(row->measured, times * other->measured);
        assert_int_equal(row->launch->index, other->launch->index);
        assert_true(is_near(row->seconds, (double)times * other->seconds));
        for (size_t k = 0; k < gp_metrics_selected_count(m); k++) {
            const struct gp_stat *stat = &row->stats[k], *its = &other->stats[k];
            double mean = 0, its_mean = 0;
            assert_int_equal(gp_stat_mean(stat, &mean), gp_stat_mean(its, &its_mean));
            if (!is_near(mean, its_mean))
                fail_msg("%s is %.17g, not %.17g", gp_metrics_selected(m, k)->name, mean, its_mean);
            assert_int_equal(stat->count, times * its->count);
            assert_true(stat->min == its->min && stat->max == its->max);
            assert_int_equal(stat->absent_count, times * its->absent_count);
            assert_true(stat->absent_count == 0 ||
                        strcmp(stat->absent.text, its->absent.text) == 0);
        }
    }
}

static void the_order_of_launches_does_not_matter(void **state)
{
    (void)state;
    static struct folded all;
    struct gp_metrics *m = selecting("default");
    struct folding there, back;
    make_launches(&all, m, 50);
    begin_folding(&there, m);
    begin_folding(&back, m);
    for (size_t i = 0; i < FOLDED; i++) {
        gp_summary_launch(there.summary, &all.launches[i]);
        gp_summary_launch(back.summary, &all.launches[FOLDED - 1 - i]);
    }
    assert_true(gp_rows_make(&there.rows, there.summary));
    assert_true(gp_rows_make(&back.rows, back.summary));
    are_alike(&back.rows, &there.rows, 1);
    end_folding(&there);
    end_folding(&back);
    gp_metrics_close(m);
}

static void a_profile_merged_with_itself_has_twice_the_launches_alone(void **state)
{
    (void)state;
    static struct folded all;
    struct gp_metrics *m = selecting("default");
    struct folding once, twice;
    make_launches(&all, m, 50);
    begin_folding(&once, m);
    begin_folding(&twice, m);
    for (size_t i = 0; i < FOLDED; i++)
        gp_summary_launch(once.summary, &all.launches[i]);
    for (size_t i = 0; i < 2 * FOLDED; i++)
        gp_summary_launch(twice.summary, &all.launches[i % FOLDED]);
    assert_true(gp_rows_make(&once.rows, once.summary));
    assert_true(gp_rows_make(&twice.rows, twice.summary));
    are_alike(&twice.rows, &once.rows, 2);
    end_folding(&once);
    end_folding(&twice);
    gp_metrics_close(m);
}

/* A launch of next to no time and work: no ratio moves by more than its share of the weights. */
static void a_launch_of_no_time_changes_no_ratio(void **state)
{
    (void)state;
    static struct folded all;
    static struct gp_counter small[128];
    struct gp_metrics *m = selecting("default");
    struct folding without, with;
    make_launches(&all, m, 0);
    struct gp_record launch = all.launches[0];
    launch.index = FOLDED;
    for (size_t c = 0; c < launch.counter_count; c++) {
        small[c] = launch.counters[c];
        small[c].absent = GP_NO_REASON;
        small[c].value = strstr(small[c].name, ".sum") || strstr(small[c].name, ".max") ||
                                 strcmp(strrchr(small[c].name, '.'), ".avg") == 0
                             ? 1e-9
                             : 100;
    }
    launch.counters = small;
    begin_folding(&without, m);
    begin_folding(&with, m);
    for (size_t i = 0; i < FOLDED; i++) {
        gp_summary_launch(without.summary, &all.launches[i]);
        gp_summary_launch(with.summary, &all.launches[i]);
    }
    gp_summary_launch(with.summary, &launch);
    assert_true(gp_rows_make(&without.rows, without.summary));
    assert_true(gp_rows_make(&with.rows, with.summary));
    size_t compared = 0;
    for (size_t i = 0; i < with.rows.count; i++) {
        for (size_t k = 0; k < gp_metrics_selected_count(m); k++) {
            const struct gp_metric *metric = gp_metrics_selected(m, k);
            const struct gp_node *formula;
            double before, after;
            if (gp_metric_weighting(metric, &h200, &formula) == GP_BY_LAUNCHES ||
                !gp_stat_mean(&without.rows.rows[i].stats[k], &before))
                continue;
            assert_true(gp_stat_mean(&with.rows.rows[i].stats[k], &after));
            if (fabs(after - before) > 1e-6 * fmax(fabs(before), 1))
                fail_msg("%s was %.17g and is %.17g", metric->name, before, after);
            compared++;
        }
    }
    assert_true(compared > 100);
    end_folding(&without);
    end_folding(&with);
    gp_metrics_close(m);
}

static struct gp_record launch_of(unsigned grid, struct gp_counter *counters, size_t count)
{
    return (struct gp_record){.kernel = "k",
                              .grid = {grid, 1, 1},
                              .block = {32, 1, 1},
                              .counter_count = count,
                              .counters = counters};
}

/* 1 ms at 90 % and 9 ms at 10 %; a sector of the one is worth as much as one of the other. */
static void ratios_are_weighted_by_time_or_their_denominator(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("achieved_occupancy,gld_efficiency,flops,dram_read_bytes");
    struct folding f;
    struct gp_counter quick[] = {
        {"gpu__time_duration.sum", 1e6, GP_NO_REASON},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 90, GP_NO_REASON},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 3000, GP_NO_REASON},
        {"dram__bytes_read.sum", 100, GP_NO_REASON},
    };
    struct gp_counter slow[] = {
        {"gpu__time_duration.sum", 9e6, GP_NO_REASON},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 10, GP_NO_REASON},
        {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 20, GP_NO_REASON},
        {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 1000, GP_NO_REASON},
        {"dram__bytes_read.sum", 300, GP_NO_REASON},
    };
    struct gp_record launches[] = {launch_of(8, quick, 5), launch_of(16, slow, 5)};
    double mean;
    begin_folding(&f, m);
    gp_summary_launch(f.summary, &launches[0]);
    gp_summary_launch(f.summary, &launches[1]);
    assert_true(gp_rows_make(&f.rows, f.summary));
    assert_int_equal(f.rows.count, 1);
    assert_true(gp_rows_mean(&f.rows, &f.rows.rows[0], "achieved_occupancy", &mean));
    assert_true(is_near(mean, 0.1 * 0.9 + 0.9 * 0.1));
    assert_true(gp_rows_mean(&f.rows, &f.rows.rows[0], "gld_efficiency", &mean));
    assert_true(is_near(mean, (3 * 100 + 20) / 4.0));
    assert_true(gp_rows_mean(&f.rows, &f.rows.rows[0], "dram_read_bytes", &mean));
    assert_true(is_near(mean, 200));
    gp_rows_free(&f.rows);
    /* 9 more launches of the quick one that were not measured: it stands for them. */
    const struct gp_count count = {
        .kernel = "k", .configuration = launches[0].configuration, .launches = 10};
    gp_summary_count(f.summary, &count);
    assert_true(gp_rows_make(&f.rows, f.summary));
    assert_true(gp_rows_mean(&f.rows, &f.rows.rows[0], "achieved_occupancy", &mean));
    assert_true(is_near(mean, (10 * 0.9 + 9 * 0.1) / 19));
    assert_true(gp_rows_mean(&f.rows, &f.rows.rows[0], "dram_read_bytes", &mean));
    assert_true(is_near(mean, (10 * 100 + 300) / 11.0));
    end_folding(&f);
    gp_metrics_close(m);
}

static void launches_of_6000_grids_are_all_counted(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    const struct gp_counter time = {"gpu__time_duration.sum", 1000, GP_NO_REASON};
    struct gp_record l = {.kernel = "k",
                          .block = {1, 1, 1},
                          .passes = 3,
                          .overhead_ms = 2,
                          .counter_count = 1,
                          .counters = &time};
    for (unsigned i = 1; i <= 6000; i++) {
        l.grid[0] = i;
        l.grid[1] = l.grid[2] = 1;
        gp_summary_launch(s, &l);
    }
    struct gp_text out = {0};
    const struct gp_table_options options = {.top = 3};
    gp_table_report(s, &options, &out);
    assert_non_null(strstr(out.data,
                           "6000 kernel launches, 6000 measured with 12000 replays, which "
                           "added 12.00 s"));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    char reason[64];
    struct gp_record l = {.kernel = "k",
                          .grid = {1, 1, 1},
                          .block = {1, 1, 1},
                          .skipped = GP_REASON_TEXT(OTHER, reason)};
    for (unsigned i = 1; i <= GP_SUMMARY_MAX_GROUPS + 10; i++) {
        l.grid[0] = i;
        snprintf(reason, sizeof(reason), "reason %u", i);
        gp_summary_launch(s, &l);
    }
    l.grid[0] = 1;
    gp_summary_launch(s, &l);
    assert_int_equal(gp_summary_group_count(s), GP_SUMMARY_MAX_GROUPS);
    assert_int_equal(gp_summary_ungrouped(s), 10);
    assert_int_equal(gp_summary_group(s, 0)->launches, 2);
    assert_int_equal(gp_summary_skip_count(s), GP_SUMMARY_MAX_SKIPS);
    assert_int_equal(gp_summary_other_skips(s), GP_SUMMARY_MAX_GROUPS + 11 - GP_SUMMARY_MAX_SKIPS);
    struct gp_text out = {0};
    const struct gp_table_options options = {.top = 3, .details = true};
    gp_table_report(s, &options, &out);
    assert_non_null(strstr(out.data, "and 10 launches of further kernels or grids"));
    assert_non_null(strstr(out.data, "4096 grids from 1 to 4096"));
    assert_non_null(strstr(out.data, "and 4067 more launches for further reasons"));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* ---- causes ---- */

static void skip_one(struct gp_summary *s, const char *kernel, struct gp_reason reason)
{
    static uint64_t index;
    const struct gp_record l = {.index = index++,
                                .kernel = kernel,
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .skipped = reason};
    gp_summary_launch(s, &l);
}

static void says(const struct gp_summary *s, size_t *next, uint64_t launches, const char *line)
{
    struct gp_text out = {0};
    assert_int_equal(gp_skips_next(s, next, 0, &out), launches);
    if (strcmp(gp_text_string(&out), line) != 0)
        fail_msg("'%s', not '%s'", gp_text_string(&out), line);
    gp_text_free(&out);
}

static void skipped_launches_are_listed_by_cause(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("duration");
    struct gp_summary *s = gp_summary_new(m);
    size_t next = 0;
    skip_one(s, "a", GP_REASON_TEXT(OVER_LIMIT, "60 GB is too much"));
    skip_one(s, "b", GP_REASON_TEXT(NO_ROOM, "60 GB is too much"));
    skip_one(s, "a", GP_REASON_TEXT(OVER_LIMIT, "70 GB is too much"));
    skip_one(s, "c", GP_REASON_TEXT(OVER_LIMIT, "60 GB is too much"));
    skip_one(s, "a", GP_REASON_TEXT(CUPTI_FAILED, "cuptiA: CUPTI_ERROR_UNKNOWN"));
    skip_one(s, "a", GP_REASON_TEXT(CUPTI_FAILED, "cuptiB: CUPTI_ERROR_UNKNOWN"));
    says(s, &next, 3, "3 launches of a and 1 more kernel: 60 GB is too much; 70 GB is too much");
    says(s, &next, 1, "1 launch of b: 60 GB is too much");
    says(s, &next, 1, "1 launch of a: cuptiA: CUPTI_ERROR_UNKNOWN");
    says(s, &next, 1, "1 launch of a: cuptiB: CUPTI_ERROR_UNKNOWN");
    says(s, &next, 0, "");
    /* The cause is said where there are many texts. */
    skip_one(s, "a", GP_REASON_TEXT(OVER_LIMIT, "80 GB is too much"));
    skip_one(s, "a", GP_REASON_TEXT(OVER_LIMIT, "90 GB is too much"));
    next = 0;
    says(s, &next, 5,
         "5 launches of a and 1 more kernel: the launch's memory is more than GPUPROF_MEMORY "
         "allows");
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void absent_metrics_are_listed_by_cause(void **state)
{
    (void)state;
    struct gp_metrics *m =
        selecting("dram_read_bytes,gld_requested_bytes,achieved_occupancy,sm_efficiency");
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_counter counters[] = {
        {"dram__bytes_read.sum", 0, GP_REASON_TEXT(NO_PASS, "one text")},
        {"smsp__sass_data_bytes_mem_global_op_ld.sum", 0, GP_REASON_TEXT(NO_PASS, "other text")},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", 0,
         GP_REASON_TEXT(UNLIKE, "one text")},
    };
    const struct gp_record l = {.kernel = "k",
                                .grid = {8, 1, 1},
                                .block = {32, 1, 1},
                                .counter_count = 3,
                                .counters = counters};
    gp_summary_device(s, &h200);
    gp_summary_launch(s, &l);
    struct gp_text out = {0};
    const struct gp_table_options options = {.details = true, .every_metric = true};
    gp_table_report(s, &options, &out);
    assert_non_null(strstr(out.data, "absent [1]: dram_read_bytes, gld_requested_bytes\n"));
    assert_non_null(strstr(out.data, "absent [2]: achieved_occupancy\n"));
    assert_non_null(strstr(out.data, "absent [3]: sm_efficiency\n"));
    assert_non_null(strstr(out.data, "[1] one text; other text\n"));
    assert_non_null(strstr(out.data, "[2] one text\n"));
    assert_non_null(strstr(out.data, "[3] not measured\n"));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* The text of a reason says nothing on whether other launches have the counter. */
static void other_launches_have_a_counter_by_its_cause(void **state)
{
    (void)state;
    const struct {
        struct gp_reason reason;
        uint64_t absent;
    } cases[] = {{GP_REASON_TEXT(COUNTED_ELSEWHERE, "some words"), 0},
                 {GP_REASON_TEXT(INSTRUMENTED_ENOUGH, "some words"), 0},
                 {GP_REASON_TEXT(NO_PASS, "counted in other launches"), 1}};
    struct gp_metrics *m = selecting("gld_requested_bytes");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_summary *s = gp_summary_new(m);
        struct gp_counter counter = {.name = "smsp__sass_data_bytes_mem_global_op_ld.sum",
                                     .absent = cases[i].reason};
        const struct gp_record l = {.kernel = "k",
                                    .grid = {8, 1, 1},
                                    .block = {32, 1, 1},
                                    .counter_count = 1,
                                    .counters = &counter};
        gp_summary_device(s, &h200);
        gp_summary_launch(s, &l);
        counter.absent = GP_NO_REASON;
        counter.value = 128;
        gp_summary_launch(s, &l);
        const struct gp_stat *stat = gp_summary_group(s, 0)->stats;
        assert_int_equal(stat->count, 1);
        assert_int_equal(stat->absent_count, cases[i].absent);
        gp_summary_free(s);
    }
    gp_metrics_close(m);
}

/* ---- reports ---- */

/* A launch as the paper's measurements would have it; each test changes the fields that it is
 * about. */
struct sample {
    struct gp_counter counters[34];
    struct gp_record launch;
};

static double *counter(struct sample *s, const char *name)
{
    for (size_t i = 0; i < s->launch.counter_count; i++)
        if (strcmp(s->counters[i].name, name) == 0)
            return &s->counters[i].value;
    fail_msg("no counter %s", name);
    return NULL;
}

static void make_sample(struct sample *s, const char *kernel, unsigned grid, unsigned block)
{
    *s = (struct sample){
        .counters =
            {
                {"gpu__time_duration.sum", 65000, GP_NO_REASON},
                {"gpc__cycles_elapsed.max", 100000, GP_NO_REASON},
                {"gpc__cycles_elapsed.avg.per_second", 1.755e9, GP_NO_REASON},
                {"sm__warps_active.avg.pct_of_peak_sustained_active", 90, GP_NO_REASON},
                {"dram__bytes_read.sum", 134217728, GP_NO_REASON},
                {"dram__bytes_write.sum", 60000000, GP_NO_REASON},
                {"smsp__inst_executed.sum", 9437184, GP_NO_REASON},
                {"smsp__thread_inst_executed.sum", 9437184 * 32.0, GP_NO_REASON},
                {"smsp__thread_inst_executed_pred_on.sum", 9437184 * 31.0, GP_NO_REASON},
                {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 0,
                 GP_NO_REASON},
                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100,
                 GP_NO_REASON},
                {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", 100,
                 GP_NO_REASON},
                {"smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct", 0,
                 GP_REASON_TEXT(NOTHING_COUNTED, "no shared memory is used")},
                {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", 4194304, GP_NO_REASON},
                {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum", 2097152, GP_NO_REASON},
                {"smsp__sass_data_bytes_mem_global_op_ld.sum", 134217728, GP_NO_REASON},
                {"smsp__sass_data_bytes_mem_global_op_st.sum", 67108864, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 16777216, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 0, GP_NO_REASON},
                {"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", 0, GP_NO_REASON},
                {"smsp__sass_inst_executed_op_tma.sum", 0, GP_NO_REASON},
                {"gpuprof__sass_ops_tensor_src_fp16.sum", 0, GP_NO_REASON},
                {"gpuprof__sass_ops_tensor_src_bf16.sum", 0, GP_NO_REASON},
                {"gpuprof__sass_ops_tensor_src_tf32.sum", 0, GP_NO_REASON},
                {"gpuprof__sass_ops_tensor_src_fp64.sum", 0, GP_NO_REASON},
                {"gpuprof__sass_ops_tensor_src_fp8.sum", 0, GP_NO_REASON},
                {"gpuprof__sass_ops_tensor_src_fp4.sum", 0, GP_NO_REASON},
            },
        .launch =
            {
                .kernel = kernel,
                .grid = {grid, 1, 1},
                .block = {block, 1, 1},
                .registers = 16,
                .shared_carveout = -1,
                .passes = 2,
                .counter_count = 34,
            },
    };
    s->launch.counters = s->counters;
}

static const char *golden_path(void)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s", __FILE__);
    strcpy(strrchr(path, '.'), ".golden");
    return path;
}

static void the_report_is_as_it_was(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("paper");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct sample a;

    make_sample(&a, "_Z9vectorAddPKfS0_Pfi", 524288, 32);
    *counter(&a, "sm__warps_active.avg.pct_of_peak_sustained_active") = 41;
    a.launch.overhead_ms = 2.1;
    gp_summary_launch(s, &a.launch);
    a.launch.index = 1;
    *counter(&a, "gpu__time_duration.sum") = 66000;
    gp_summary_launch(s, &a.launch);

    make_sample(&a,
                "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE"
                "St5arrayIPcLm3EEEEviT0_T1_",
                16384, 256);
    a.launch.index = 2;
    *counter(&a, "gpu__time_duration.sum") = 1655000;
    *counter(&a, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct") = 12.5;
    *counter(&a, "smsp__thread_inst_executed.sum") = 9437184 * 20.0;
    *counter(&a, "smsp__thread_inst_executed_pred_on.sum") = 9437184 * 10.0;
    *counter(&a, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed") = 43.2;
    gp_summary_launch(s, &a.launch);
    a.launch.grid[0] = 77;
    a.launch.index = 3;
    gp_summary_launch(s, &a.launch);
    a.launch.index = 4;
    a.launch.skipped = GP_REASON_TEXT(OTHER, "the stream is being captured into a graph");
    a.launch.counter_count = 0;
    gp_summary_launch(s, &a.launch);

    a.launch.kernel = "never_measured";
    a.launch.index = 5;
    gp_summary_launch(s, &a.launch);

    const struct gp_table_options options = {.top = 20, .details = true};
    struct gp_text out = {0};
    gp_table_report(s, &options, &out);
    assert_false(out.failed);
    for (const char *line = out.data; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= GP_COLUMNS);

    if (getenv("GPUPROF_UPDATE_GOLDEN")) {
        FILE *f = fopen(golden_path(), "w");
        assert_non_null(f);
        fputs(out.data, f);
        fclose(f);
    }
    char golden[16384] = "";
    int fd = open(golden_path(), O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, golden, sizeof(golden) - 1) > 0);
    close(fd);
    assert_string_equal(out.data, golden);
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

/* Where the marks of a terminal are left out it is the same report. */
static void colour_changes_no_letter(void **state)
{
    (void)state;
    static const char report[] =
        "gpuprof 0.1.0: 1 kernel launch\nGPU 0: NVIDIA H200\n\nKERNELS, by their share\n"
        "   time  launches\n 100.0%         1\n\nWORTH CHANGING\n1. up to 18 %: k (latency)\n"
        "\nNOT MEASURED, or not completely\n   all: of it";
    struct gp_text out = {0}, plain = {0};
    gp_colour(report, &out);
    for (const char *p = out.data; *p; p++) {
        if (*p == '\033')
            p += strcspn(p, "m");
        else
            gp_text_add_bytes(&plain, p, 1);
    }
    assert_string_equal(plain.data, report);
    assert_non_null(strstr(out.data, "\033[1mKERNELS, by their share\033[m\n"));
    assert_non_null(strstr(out.data, "\033[2m   time  launches\033[m\n"));
    assert_non_null(strstr(out.data, "\033[1;33m1. up to 18 %\033[m: k (latency)\n"));
    assert_non_null(strstr(out.data, "\n 100.0%         1\n"));
    gp_text_free(&out);
    gp_text_free(&plain);
}

static void colour_is_for_terminals_that_want_it(void **state)
{
    (void)state;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_true(gp_colour_wanted(true));
    assert_false(gp_colour_wanted(false));
    setenv("NO_COLOR", "", 1);
    assert_true(gp_colour_wanted(true));
    setenv("NO_COLOR", "1", 1);
    assert_false(gp_colour_wanted(true));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_false(gp_colour_wanted(true));
    unsetenv("TERM");
    assert_false(gp_colour_wanted(true));
}

static void nothing_launched_is_said(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_summary *s = gp_summary_new(m);
    const struct gp_table_options options = {.details = true, .every_metric = true};
    struct gp_text out = {0};
    gp_table_report(s, &options, &out);
    assert_string_equal(out.data, "gpuprof 0.1.0: 0 kernel launches, 0 measured\n");
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void rows_without_times_are_ordered_by_launches(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("gld_efficiency");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct sample a;
    make_sample(&a, "once", 1, 32);
    gp_summary_launch(s, &a.launch);
    make_sample(&a, "twice", 1, 32);
    gp_summary_launch(s, &a.launch);
    gp_summary_launch(s, &a.launch);
    struct gp_rows rows;
    assert_true(gp_rows_make(&rows, s));
    assert_int_equal(rows.count, 2);
    assert_false(rows.timed);
    assert_string_equal(rows.rows[0].brief_name, "twice");
    double mean;
    assert_false(gp_rows_mean(&rows, &rows.rows[0], "duration", &mean));
    assert_true(gp_rows_mean(&rows, &rows.rows[0], "gld_efficiency", &mean));
    assert_true(mean == 100);
    gp_rows_free(&rows);
    gp_summary_free(s);
    gp_metrics_close(m);
}

static void counters_of_launches_alike_are_named(void **state)
{
    (void)state;
    struct gp_metrics *m = selecting("gld_efficiency");
    struct gp_summary *s = gp_summary_new(m);
    gp_summary_device(s, &h200);
    struct sample a;
    for (int n = 0; n < 4; n++) {
        make_sample(&a, "k", 1, 32);
        a.launch.recalled = n > 0 ? GP_RECALLED_INSTRUMENTED : GP_RECALLED_NONE;
        /* One was not like the launch that it was taken for. */
        for (size_t i = 0; n == 3 && i < a.launch.counter_count; i++)
            if (strstr(a.counters[i].name, "__sass_"))
                a.counters[i].absent =
                    GP_REASON_TEXT(OTHER, "it was taken for a launch of another kind");
        gp_summary_launch(s, &a.launch);
    }
    struct gp_text out = {0};
    gp_table_report(s, &(struct gp_table_options){.details = true, .every_metric = true}, &out);
    assert_non_null(strstr(out.data, "; 4 launches, 4 measured (instrumented counters of 2 are "
                                     "those of launches alike); GPU 0\n"));
    gp_text_free(&out);
    make_sample(&a, "k", 1, 32);
    a.launch.recalled = GP_RECALLED_ALL;
    gp_summary_launch(s, &a.launch);
    out = (struct gp_text){0};
    gp_table_report(s, &(struct gp_table_options){.details = true, .every_metric = true}, &out);
    assert_non_null(strstr(out.data, "5 measured (instrumented counters of 3, and the hardware's "
                                     "of 1,"));
    gp_text_free(&out);
    gp_summary_free(s);
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_for_people),
        cmocka_unit_test(long_names_are_shortened),
        cmocka_unit_test(texts_are_wrapped),
        cmocka_unit_test(a_percent_sign_stays_with_its_number),
        cmocka_unit_test(extents_are_short),
        cmocka_unit_test(launches_are_folded_into_groups),
        cmocka_unit_test(times_in_doubt_give_way_to_others),
        cmocka_unit_test(a_time_in_doubt_stands_for_no_other_launch),
        cmocka_unit_test(a_time_in_doubt_stands_without_the_doubt),
        cmocka_unit_test(an_interval_is_that_of_the_mean),
        cmocka_unit_test(a_difference_makes_another_group),
        cmocka_unit_test(an_interval_wider_than_the_mean_is_no_number),
        cmocka_unit_test(a_first_launch_stands_for_itself_alone),
        cmocka_unit_test(first_launches_of_two_processes_stand_for_themselves),
        cmocka_unit_test(counts_say_how_many_launches_there_were),
        cmocka_unit_test(times_of_grids_follow_their_blocks),
        cmocka_unit_test(sums_stand_for_launches_without_a_line),
        cmocka_unit_test(a_kernel_of_which_nothing_was_measured_is_counted),
        cmocka_unit_test(times_of_a_grid_stand_for_its_launches_only),
        cmocka_unit_test(launches_that_took_turns_are_combined),
        cmocka_unit_test(launches_that_are_counted_nowhere_say_why),
        cmocka_unit_test(a_reason_is_the_same_in_any_order),
        cmocka_unit_test(skipped_launches_are_listed_by_cause),
        cmocka_unit_test(absent_metrics_are_listed_by_cause),
        cmocka_unit_test(other_launches_have_a_counter_by_its_cause),
        cmocka_unit_test(a_time_makes_no_launch_one_with_hardware_counters),
        cmocka_unit_test(only_launches_that_took_turns_are_combined),
        cmocka_unit_test(the_order_of_launches_does_not_matter),
        cmocka_unit_test(a_profile_merged_with_itself_has_twice_the_launches_alone),
        cmocka_unit_test(a_launch_of_no_time_changes_no_ratio),
        cmocka_unit_test(ratios_are_weighted_by_time_or_their_denominator),
        cmocka_unit_test(launches_of_6000_grids_are_all_counted),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(the_report_is_as_it_was),
        cmocka_unit_test(colour_changes_no_letter),
        cmocka_unit_test(colour_is_for_terminals_that_want_it),
        cmocka_unit_test(nothing_launched_is_said),
        cmocka_unit_test(rows_without_times_are_ordered_by_launches),
        cmocka_unit_test(counters_of_launches_alike_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
