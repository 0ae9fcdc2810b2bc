/* check/judge: means are weighted. The weights are of this file, in the position of check/weight.c.
 */
#include "check/judge.h"
#include "check/weight.h"

#include "h200.h"
#include "shipped.h"

#include <string.h>

/* By the launch's index, and whether the metric is a time. */
static double weights[4], of_time = 1;

double gp_weight_of(const struct gp_metrics *m, const struct gp_metric *metric,
                    const struct gp_device *device, const struct gp_record *launch)
{
    assert_non_null(m);
    assert_int_equal(device->sm_count, h200.sm_count);
    assert_true(launch->index < sizeof(weights) / sizeof(weights[0]));
    return strcmp(metric->unit, "s") == 0 ? of_time : weights[launch->index];
}

static void add_launch_of(struct gp_judge *judge, unsigned grid, uint64_t index, double nanoseconds,
                          double efficiency, bool measured)
{
    const struct gp_counter counters[] = {
        {.name = "gpu__time_duration.sum", .value = nanoseconds},
        {.name = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
         .value = efficiency},
        {.name = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", .value = 1000}};
    const struct gp_record launch = {.index = index,
                                     .kernel = "_Z1kv",
                                     .grid = {grid, 1, 1},
                                     .block = {32, 1, 1},
                                     .shared_carveout = -1,
                                     .counter_count = measured ? 3 : 1,
                                     .counters = counters};
    gp_judge_launch(judge, &launch);
}

static void add_launch(struct gp_judge *judge, uint64_t index, double nanoseconds,
                       double efficiency, bool measured)
{
    add_launch_of(judge, 1, index, nanoseconds, efficiency, measured);
}

/* Judges runs of three launches: 100 % in 10 us, 50 % in 20 us, 10 % in 90 us, and one without
 * an efficiency. */
static struct gp_verdict judged(const char *rules, int runs)
{
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    struct gp_verdict verdict = {0};
    struct gp_thresholds *t = gp_thresholds_parse("t.ini", rules, strlen(rules), m, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    struct gp_judge *judge = gp_judge_new(t, m);
    for (int run = 0; run < runs; run++) {
        gp_judge_run(judge, run ? "second" : "first");
        gp_judge_process(judge);
        gp_judge_device(judge, &h200);
        add_launch(judge, 0, 10e3, 100, true);
        add_launch(judge, 1, 20e3, 50, true);
        add_launch(judge, 2, 90e3, 10, true);
        add_launch(judge, 3, 90e3, 0, false);
    }
    gp_judge_finish(judge, &verdict);
    gp_judge_free(judge);
    gp_thresholds_free(t);
    gp_metrics_close(m);
    return verdict;
}

static void has_value(struct gp_verdict *verdict, size_t i, const char *value)
{
    assert_true(i < verdict->count);
    assert_string_equal(verdict->outcomes[i].value, value);
}

static void set_weights(double a, double b, double c)
{
    weights[0] = a;
    weights[1] = b;
    weights[2] = c;
    weights[3] = 1000; /* has no value, so its weight says nothing */
}

static void a_mean_is_weighted(void **state)
{
    (void)state;
    set_weights(1, 2, 9);
    struct gp_verdict v = judged("[*]\navg gld_efficiency >= 1 % if present\n", 1);
    has_value(&v, 0, "24.167 %"); /* (100 + 2 * 50 + 9 * 10) / 12 */
    gp_verdict_free(&v);
    set_weights(0.5, 0.5, 0);
    v = judged("[*]\navg gld_efficiency >= 1 % if present\n", 1);
    has_value(&v, 0, "75 %");
    gp_verdict_free(&v);
}

static void weights_of_one_metric_are_not_those_of_another(void **state)
{
    (void)state;
    set_weights(0, 0, 1);
    of_time = 1;
    struct gp_verdict v = judged("[*]\navg gld_efficiency >= 1 % if present\n"
                                 "avg duration >= 1 us\n"
                                 "avg gld_efficiency * 2 >= 1 if present\n",
                                 1);
    has_value(&v, 0, "10 %");
    has_value(&v, 1, "52.5 us");
    has_value(&v, 2, "20");
    gp_verdict_free(&v);
}

static void only_a_mean_has_weights(void **state)
{
    (void)state;
    set_weights(0, 0, 1);
    /* The metric is computed once for all of them. */
    struct gp_verdict v = judged("[*]\n"
                                 "min gld_efficiency >= 1 % if present\n"
                                 "avg gld_efficiency >= 1 % if present\n"
                                 "sum gld_efficiency >= 1 % if present\n"
                                 "median gld_efficiency >= 1 % if present\n",
                                 1);
    has_value(&v, 0, "10 %");
    has_value(&v, 1, "10 %");
    has_value(&v, 2, "160 %");
    has_value(&v, 3, "50 %");
    gp_verdict_free(&v);
}

static void without_any_weight_launches_count_alike(void **state)
{
    (void)state;
    set_weights(0, 0, 0);
    struct gp_verdict v = judged("[*]\navg gld_efficiency >= 1 % if present\n", 1);
    has_value(&v, 0, "53.333 %");
    gp_verdict_free(&v);
}

static void each_run_has_its_own_mean(void **state)
{
    (void)state;
    set_weights(1, 1, 2);
    struct gp_verdict v = judged("[*]\navg gld_efficiency >= 50 % if present\n", 2);
    has_value(&v, 0, "42.5 %");
    assert_non_null(strstr(v.outcomes[0].message, "2 of 2 runs violate it"));
    gp_verdict_free(&v);
}

/* One launch of each grid was measured: of the short one there were 1000, of the long one 2. */
static void measured_launches_stand_for_the_others_of_their_grid(void **state)
{
    (void)state;
    const char *rules = "[*]\navg gld_efficiency >= 1 %\navg duration >= 1 us\n"
                        "total duration >= 1 us\n";
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    struct gp_verdict v = {0};
    struct gp_thresholds *t = gp_thresholds_parse("t.ini", rules, strlen(rules), m, &problems);
    struct gp_judge *judge = gp_judge_new(t, m);
    set_weights(1, 100, 0);
    of_time = 1;
    gp_judge_run(judge, "first");
    gp_judge_process(judge);
    gp_judge_device(judge, &h200);
    add_launch_of(judge, 1, 0, 1e3, 100, true);
    add_launch_of(judge, 2, 1, 100e3, 40, true);
    for (unsigned grid = 1; grid <= 2; grid++) {
        const struct gp_count count = {.kernel = "_Z1kv",
                                       .grid = {grid, 1, 1},
                                       .block = {32, 1, 1},
                                       .launches = grid == 1 ? 1000 : 2};
        gp_judge_count(judge, &count);
    }
    gp_judge_finish(judge, &v);
    has_value(&v, 0, "90 %");      /* (1000 * 1 * 100 + 2 * 100 * 40) / (1000 + 200) */
    has_value(&v, 1, "1.1976 us"); /* (1000 * 1 us + 2 * 100 us) / 1002 */
    has_value(&v, 2, "1.2 ms");
    gp_verdict_free(&v);
    gp_judge_free(judge);
    gp_thresholds_free(t);
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mean_is_weighted),
        cmocka_unit_test(weights_of_one_metric_are_not_those_of_another),
        cmocka_unit_test(only_a_mean_has_weights),
        cmocka_unit_test(without_any_weight_launches_count_alike),
        cmocka_unit_test(each_run_has_its_own_mean),
        cmocka_unit_test(measured_launches_stand_for_the_others_of_their_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
