/* check/: bounded values, quantities, thresholds, the judge, statistics, matches, baselines,
 * comparisons. */
#include "check/baseline.h"
#include "check/compare.h"
#include "check/comparison_verdict.h"
#include "check/drift.h"
#include "check/fold.h"
#include "check/format.h"
#include "check/judge.h"
#include "check/quantity.h"
#include "check/skeleton.h"
#include "check/values.h"

#include "h200.h"
#include "shipped.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- values ---- */

static void all_values_are_kept_while_they_fit(void **state)
{
    (void)state;
    struct gp_values v = {.most = 8};
    for (int i = 8; i >= 1; i--)
        gp_values_add(&v, i);
    gp_values_sort(&v);
    assert_int_equal(v.kept_count, 8);
    assert_true(v.min == 1 && v.max == 8 && v.sum == 36);
    assert_true(gp_values_quantile(&v, 0.5) == 4);
    assert_true(gp_values_quantile(&v, 0.95) == 8);
    assert_true(gp_values_quantile(&v, 0) == 1);
    gp_values_free(&v);
}

static void many_values_are_thinned_evenly(void **state)
{
    (void)state;
    struct gp_values v = {.most = 64};
    for (int i = 0; i < 100000; i++)
        gp_values_add(&v, i);
    gp_values_sort(&v);
    assert_int_equal(v.count, 100000);
    assert_true(v.kept_count <= 64 && v.kept_count >= 32);
    assert_true(v.min == 0 && v.max == 99999);
    for (size_t i = 0; i < v.kept_count; i++)
        assert_true(v.kept[i] == (double)(i * v.stride));
    assert_true(fabs(gp_values_quantile(&v, 0.5) - 50000) < 4000);
    gp_values_free(&v);
}

static void values_have_a_deviation(void **state)
{
    (void)state;
    struct gp_values v = {.most = 2};
    assert_true(gp_values_deviation(&v) == 0);
    gp_values_add(&v, 1e9);
    assert_true(gp_values_deviation(&v) == 0);
    for (int i = 1; i <= 4; i++)
        gp_values_add(&v, 1e9 + i);
    assert_true(fabs(gp_values_deviation(&v) - sqrt(2.5)) < 1e-9);
    gp_values_free(&v);
}

static void the_median_of_an_even_number_is_the_mean_of_two(void **state)
{
    (void)state;
    const double odd[] = {1, 2, 9}, even[] = {1, 2, 4, 9};
    assert_true(gp_median(odd, 3) == 2);
    assert_true(gp_median(even, 4) == 3);
    assert_true(gp_median(NULL, 0) == 0);
}

/* ---- quantities ---- */

static double quantity(const char *text, const char *of)
{
    double value = NAN;
    char why[256];
    if (!gp_quantity_parse(text, of, &value, why, sizeof(why)))
        fail_msg("'%s': %s", text, why);
    return value;
}

static void is_no_quantity(const char *text, const char *of, const char *expected)
{
    double value;
    char why[256] = "";
    assert_false(gp_quantity_parse(text, of, &value, why, sizeof(why)));
    if (!strstr(why, expected))
        fail_msg("'%s' is refused with '%s'", text, why);
}

static void quantities_have_the_units_of_the_metric(void **state)
{
    (void)state;
    assert_true(fabs(quantity("120 us", "s") - 120e-6) < 1e-15);
    assert_true(quantity(" 2 TFLOP/s ", "flop/s") == 2e12);
    assert_true(quantity("2tflop/s", "flop/s") == 2e12);
    assert_true(quantity("90 %", "%") == 90);
    assert_true(quantity("50 %", "ratio") == 0.5);
    assert_true(quantity("0.5", "ratio") == 0.5);
    assert_true(quantity("4 KiB", "bytes") == 4096);
    assert_true(quantity("-1e3", "count") == -1000);
    assert_true(quantity("3 inst/cycle", "inst/cycle") == 3);
    is_no_quantity("120", "s", "needs its unit: ns, us, ms, s");
    is_no_quantity("0.9", "%", "needs its unit: %");
    is_no_quantity("120 kg", "s", "'kg' is no unit here");
    is_no_quantity("3 us", "count", "'us' is no unit here, write 'count' or none");
    is_no_quantity("3 us", "", "'us' is too much");
    is_no_quantity("much", "s", "expected a number, found 'much'");
    is_no_quantity("1e999 s", "s", "expected a number");
    is_no_quantity("nan s", "s", "expected a number");
}

static void quantities_are_written_for_people(void **state)
{
    (void)state;
    const struct {
        double value;
        const char *of, *text;
    } cases[] = {{0.00012, "s", "120 us"},
                 {0, "s", "0 ns"},
                 {2.5e12, "flop/s", "2.5 TFLOP/s"},
                 {90, "%", "90 %"},
                 {0.5, "ratio", "0.5"},
                 {2097152, "count", "2097152"},
                 {1e7, "bytes", "10 MB"},
                 {1.5, "inst/cycle", "1.5 inst/cycle"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64];
        gp_quantity_format(cases[i].value, cases[i].of, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

/* ---- thresholds ---- */

static struct gp_thresholds *thresholds(struct gp_metrics *m, const char *text)
{
    struct gp_text problems = {0};
    struct gp_thresholds *t = gp_thresholds_parse("t.ini", text, strlen(text), m, &problems);
    if (!t)
        fail_msg("%s", gp_text_string(&problems));
    gp_text_free(&problems);
    return t;
}

static void is_refused(struct gp_metrics *m, const char *text, const char *expected)
{
    struct gp_text problems = {0};
    assert_null(gp_thresholds_parse("t.ini", text, strlen(text), m, &problems));
    if (strncmp(gp_text_string(&problems), expected, strlen(expected)) != 0)
        fail_msg("'%s' is refused with: %s", text, gp_text_string(&problems));
    gp_text_free(&problems);
}

static void mistakes_name_file_line_and_column(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    is_refused(m, "gld_efficiency >= 90 %\n", "t.ini:1:1: expected a kernel pattern in brackets");
    is_refused(m, "[*\nrequired\n", "t.ini:1:3: expected ']'");
    is_refused(m, "[]\nrequired\n", "t.ini:1:2: a pattern for kernel names is missing");
    is_refused(m, "[regex:(]\nrequired\n", "t.ini:1:2: '(' is no regular expression");
    is_refused(m, "[*]\n\n  gld_eficiency >= 90 %\n",
               "t.ini:3:3: there is no metric 'gld_eficiency'; did you mean gld_efficiency?");
    is_refused(m, "[*]\nduration <= 120\n", "t.ini:2:13: duration: the number needs its unit");
    is_refused(m, "[*]\nmax inst_executed + * 2 <= 5\n", "t.ini:2:21: expected a number");
    is_refused(m, "[*]\nallow = -1\n", "t.ini:2:9: expected a whole number, found '-1'");
    is_refused(m, "[*]\nrequired = no\n", "t.ini:2:12: expected 'required'");
    is_refused(m, "[*]\nnonsense\n", "t.ini:2:1: 'nonsense' is no rule; write a rule like");
    is_refused(m, "[*]\n>= 3\n", "t.ini:2:1: expected a metric before the comparison");
    is_refused(m, "[*]\nlaunches <= many\n", "t.ini:2:13: expected a whole number");
    is_refused(m, "[*]\nduration => 1 s\n",
               "t.ini:2:10: '=>' is no comparison, write <=, >=, ==, < or >");
    is_refused(m, "[*]\nduration != 1 s\n", "t.ini:2:10: '!=' is no comparison");
    is_refused(m, "[*]\nduration = 1 s\n", "t.ini:2:10: '=' is no comparison");
    is_refused(m, "; nothing\n", "t.ini: there is no rule in it");
    is_refused(m, "", "t.ini: there is no rule in it");
    gp_metrics_close(m);
}

static void a_rule_is_read_as_it_is_written(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_thresholds *t =
        thresholds(m, "\xEF\xBB\xBF[ vector* ] ; comment\r\n"
                      "p95 duration <= 120 us ; why\r\n"
                      "max(gld_transactions, gst_transactions) < 5 if present # here\n"
                      "total dram_read_bytes <= 1 GB\n"
                      "required = yes\nallow = 3\nlaunches == 7\n");
    assert_int_equal(t->count, 1);
    const struct gp_section *s = &t->sections[0];
    assert_string_equal(s->selector.text, "vector*");
    assert_true(s->required);
    assert_int_equal(s->allowed, 3);
    assert_int_equal(s->count, 4);
    assert_string_equal(s->rules[0].text, "p95 duration <= 120 us");
    assert_int_equal(s->rules[0].aggregate, GP_QUANTILE);
    assert_true(s->rules[0].quantile == 0.95);
    assert_int_equal(s->rules[1].aggregate, GP_EVERY);
    assert_true(s->rules[1].if_present);
    assert_string_equal(s->rules[1].metric->name, "max(gld_transactions, gst_transactions)");
    assert_int_equal(s->rules[2].aggregate, GP_TOTAL);
    assert_null(s->rules[3].metric);
    assert_true(s->rules[3].bound == 7);
    gp_thresholds_free(t);
    gp_metrics_close(m);
}

static void a_section_is_for_kernels_by_any_of_their_names(void **state)
{
    (void)state;
    struct gp_kernel_names names;
    assert_true(gp_kernel_names_find("_Z9vectorAddPKfS0_Pfi", &names));
    const struct {
        const char *pattern;
        bool matches;
    } cases[] = {{"*", true},
                 {"vectorAdd", true},
                 {"vector", false},
                 {"vector*", true},
                 {"vectorAdd(float const*, float const*, float*, int)", true},
                 {"_Z9vectorAdd*", true},
                 {"regex:^vector", true},
                 {"regex:float\\*, int", true},
                 {"regex:^Add", false},
                 {"[v]ectorAdd", true},
                 {"[!a-u]ector[[:upper:]]dd", true},
                 {"[!v]ectorAdd", false},
                 {"v*A*d", true},
                 {"*A*x", false},
                 {"vectorAdd(float const\\*, float const\\*, float\\*, int)", true},
                 {"vectorAd\\*", false},
                 {"vectorAdd[", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_selector selector;
        char why[256];
        assert_true(gp_selector_parse(cases[i].pattern, &selector, why, sizeof(why)));
        if (gp_selector_matches(&selector, &names) != cases[i].matches)
            fail_msg("%s", cases[i].pattern);
        gp_selector_free(&selector);
    }
    gp_kernel_names_free(&names);
}

/* ---- the judge ---- */

/* A launch whose duration, loads' efficiency and sectors are given. */
struct made {
    struct gp_counter counters[4];
    struct gp_record launch;
};

static const struct gp_record *made(struct made *x, uint64_t index, double nanoseconds,
                                    double efficiency)
{
    x->counters[0] = (struct gp_counter){.name = "gpu__time_duration.sum", .value = nanoseconds};
    x->counters[1] =
        (struct gp_counter){.name = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
                            .value = efficiency};
    x->counters[2] = (struct gp_counter){
        .name = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", .value = 1000};
    x->counters[3] = (struct gp_counter){.name = "dram__bytes_read.sum", .value = 5e7};
    x->launch = (struct gp_record){.index = index,
                                   .kernel = "_Z9vectorAddPKfS0_Pfi",
                                   .grid = {1024, 1, 1},
                                   .block = {256, 1, 1},
                                   .registers = 16,
                                   .shared_carveout = -1,
                                   .passes = 2,
                                   .counter_count = 4,
                                   .counters = x->counters};
    return &x->launch;
}

struct court {
    struct gp_metrics *m;
    struct gp_thresholds *t;
    struct gp_judge *judge;
    struct gp_verdict verdict;
};

static struct court open_court(const char *text)
{
    struct court c = {.m = shipped()};
    c.t = thresholds(c.m, text);
    c.judge = gp_judge_new(c.t, c.m);
    gp_judge_process(c.judge);
    gp_judge_device(c.judge, &h200);
    return c;
}

static void close_court(struct court *c)
{
    gp_judge_free(c->judge);
    gp_verdict_free(&c->verdict);
    gp_thresholds_free(c->t);
    gp_metrics_close(c->m);
}

/* The outcome of the rule in that line. */
static const struct gp_outcome *outcome(const struct court *c, int line)
{
    for (size_t i = 0; i < c->verdict.count; i++)
        if (c->verdict.outcomes[i].line == line)
            return &c->verdict.outcomes[i];
    fail_msg("no outcome of line %d", line);
    return NULL;
}

static void each_launch_is_held_to_a_rule(void **state)
{
    (void)state;
    struct court c = open_court("[vector*]\ngld_efficiency >= 90 %\nduration <= 120 us\n");
    struct made x;
    gp_judge_launch(c.judge, made(&x, 0, 100e3, 100));
    gp_judge_launch(c.judge, made(&x, 1, 119e3, 25));
    gp_judge_launch(c.judge, made(&x, 2, 120e3, 12.5));
    gp_judge_finish(c.judge, &c.verdict);
    const struct gp_outcome *o = outcome(&c, 2);
    assert_int_equal(o->status, GP_VIOLATED);
    assert_int_equal(o->launch, 2);
    assert_int_equal(o->violated, 2);
    assert_int_equal(o->launches, 3);
    assert_string_equal(o->value, "12.5 %");
    assert_string_equal(o->bound, ">= 90 %");
    assert_int_equal(outcome(&c, 3)->status, GP_HELD);
    assert_int_equal(gp_verdict_status(&c.verdict), GP_CHECK_VIOLATED);
    close_court(&c);
}

static void aggregates_are_over_the_launches(void **state)
{
    (void)state;
    struct court c = open_court("[*]\n"
                                "min duration >= 1 us\n"       /* 1 us: holds */
                                "max duration <= 99 us\n"      /* 100 us: does not */
                                "avg duration <= 50.5 us\n"    /* holds */
                                "p95 duration <= 95 us\n"      /* holds */
                                "p95 duration < 95 us\n"       /* does not */
                                "sum duration <= 5050 us\n"    /* holds */
                                "total duration <= 10100 us\n" /* holds */
                                "total duration < 10.1 ms\n"   /* does not */
                                "launches == 200\n"            /* holds */
                                "launches < 200\n");           /* does not */
    struct made x;
    for (unsigned i = 1; i <= 100; i++)
        gp_judge_launch(c.judge, made(&x, i, i * 1000.0, 100));
    const struct gp_record *launch = &x.launch;
    const struct gp_count count = {
        .kernel = launch->kernel, .configuration = launch->configuration, .launches = 200};
    const struct gp_count passed_over = {
        .kernel = count.kernel, .launches = 50, .reason = GP_REASON_TEXT(OTHER, "some of the 200")};
    gp_judge_count(c.judge, &count);
    gp_judge_count(c.judge, &passed_over);
    gp_judge_finish(c.judge, &c.verdict);
    const bool held[] = {true, false, true, true, false, true, true, false, true, false};
    for (int i = 0; i < 10; i++)
        if ((outcome(&c, 2 + i)->status == GP_HELD) != held[i])
            fail_msg("line %d: %s", 2 + i, outcome(&c, 2 + i)->message);
    close_court(&c);
}

/* A launch of 1000 sectors, and one of 9000: the mean is that of all sectors. */
static void a_mean_is_weighted_as_in_a_report(void **state)
{
    (void)state;
    struct court c = open_court("[*]\navg gld_efficiency >= 1 %\navg duration >= 1 us\n");
    struct made x;
    gp_judge_launch(c.judge, made(&x, 0, 10e3, 100));
    made(&x, 1, 30e3, 25);
    x.counters[2].value = 9000;
    gp_judge_launch(c.judge, &x.launch);
    gp_judge_finish(c.judge, &c.verdict);
    assert_string_equal(outcome(&c, 2)->value, "32.5 %");
    assert_string_equal(outcome(&c, 3)->value, "20 us");
    close_court(&c);
}

static void an_absent_value_fails_unless_the_rule_permits_it(void **state)
{
    (void)state;
    struct court c = open_court("[*]\nachieved_occupancy >= 0.5\nachieved_occupancy >= 0.5 if "
                                "present\ntotal achieved_occupancy > 0\n");
    struct made x;
    gp_judge_launch(c.judge, made(&x, 7, 1000, 100));
    gp_judge_finish(c.judge, &c.verdict);
    assert_int_equal(outcome(&c, 2)->status, GP_VIOLATED);
    assert_int_equal(outcome(&c, 2)->launch, 7);
    assert_non_null(strstr(outcome(&c, 2)->message,
                           "is absent: counter sm__warps_active.avg.pct_of_peak_sustained_active: "
                           "not measured"));
    assert_int_equal(outcome(&c, 3)->status, GP_SKIPPED);
    assert_int_equal(outcome(&c, 4)->status, GP_VIOLATED);
    close_court(&c);
}

/* By its cause, not by its words: others have the counter, or this launch should have it. */
static void an_absent_value_is_judged_by_its_cause(void **state)
{
    (void)state;
    const struct {
        struct gp_reason reason;
        int status;
    } cases[] = {{GP_REASON_TEXT(COUNTED_ELSEWHERE, "some words"), GP_CHECK_HELD},
                 {GP_REASON_TEXT(INSTRUMENTED_ENOUGH, "some words"), GP_CHECK_HELD},
                 {GP_REASON_TEXT(NO_PASS, "counted in other launches"), GP_CHECK_VIOLATED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct court c = open_court("[*]\nachieved_occupancy >= 0.4\n");
        struct made x;
        struct gp_counter occupancy = {.name = "sm__warps_active.avg.pct_of_peak_sustained_active",
                                       .value = 50};
        for (unsigned k = 0; k < 2; k++) {
            struct gp_record launch = *made(&x, k, 1000, 100);
            launch.counters = &occupancy;
            launch.counter_count = 1;
            gp_judge_launch(c.judge, &launch);
            occupancy.absent = cases[i].reason;
        }
        gp_judge_finish(c.judge, &c.verdict);
        if (gp_verdict_status(&c.verdict) != cases[i].status)
            fail_msg("%s: %s", cases[i].reason.text, outcome(&c, 2)->message);
        close_court(&c);
    }
}

static void a_required_kernel_has_to_appear(void **state)
{
    (void)state;
    struct court c =
        open_court("[vector*]\nrequired\n[gone*]\nrequired\n[typo*]\nduration < 1 s\n");
    struct made x;
    gp_judge_launch(c.judge, made(&x, 0, 1000, 100));
    gp_judge_finish(c.judge, &c.verdict);
    assert_int_equal(outcome(&c, 2)->status, GP_HELD);
    assert_int_equal(outcome(&c, 4)->status, GP_VIOLATED);
    assert_string_equal(gp_text_string(&c.verdict.notes), "t.ini:5: no kernel matches [typo*]\n");
    close_court(&c);
}

static void so_many_violations_are_allowed(void **state)
{
    (void)state;
    for (unsigned bad = 2; bad <= 3; bad++) {
        struct court c = open_court("[*]\nallow = 2\ngld_efficiency >= 90 %\n");
        struct made x;
        for (unsigned i = 0; i < 10; i++)
            gp_judge_launch(c.judge, made(&x, i, 1000, i < bad ? 10 : 100));
        gp_judge_finish(c.judge, &c.verdict);
        assert_int_equal(gp_verdict_status(&c.verdict),
                         bad == 2 ? GP_CHECK_HELD : GP_CHECK_VIOLATED);
        close_court(&c);
    }
}

/* A launch without a value is one; of a mean, which is one value, they are one together. */
static void launches_without_a_value_are_violations_that_may_be_allowed(void **state)
{
    (void)state;
    const struct {
        const char *rules;
        unsigned absent; /* launches; one more has the value */
        int answer;
    } cases[] = {
        {"[*]\nallow = 2\nachieved_occupancy > 0\n", 2, GP_CHECK_HELD},
        {"[*]\nallow = 2\nachieved_occupancy > 0\n", 3, GP_CHECK_VIOLATED},
        {"[*]\nallow = 2\nachieved_occupancy > 0 if present\n", 3, GP_CHECK_HELD},
        {"[*]\nallow = 1\navg achieved_occupancy > 0\n", 3, GP_CHECK_HELD},
        {"[*]\nallow = 1\navg achieved_occupancy > 0\nmax achieved_occupancy > 0\n", 1,
         GP_CHECK_VIOLATED},
        {"[*]\nallow = 2\navg achieved_occupancy > 0\nmax achieved_occupancy > 0\n", 1,
         GP_CHECK_HELD},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct court c = open_court(cases[i].rules);
        struct made x;
        for (unsigned k = 0; k < cases[i].absent; k++)
            gp_judge_launch(c.judge, made(&x, k, 1000, 100));
        struct gp_record launch = *made(&x, cases[i].absent, 1000, 100);
        const struct gp_counter occupancy = {
            .name = "sm__warps_active.avg.pct_of_peak_sustained_active", .value = 50};
        launch.counters = &occupancy;
        launch.counter_count = 1;
        gp_judge_launch(c.judge, &launch);
        gp_judge_finish(c.judge, &c.verdict);
        if (gp_verdict_status(&c.verdict) != cases[i].answer)
            fail_msg("%s with %u: %s", cases[i].rules, cases[i].absent, outcome(&c, 3)->message);
        assert_int_equal(c.verdict.skipped, 0); /* the launch with a value is judged */
        close_court(&c);
    }
    /* Where no launch has a value that is said, and it is no violation. */
    struct court c = open_court("[*]\nallow = 2\nachieved_occupancy > 0\n");
    struct made x;
    for (unsigned k = 0; k < 2; k++)
        gp_judge_launch(c.judge, made(&x, k, 1000, 100));
    gp_judge_finish(c.judge, &c.verdict);
    assert_int_equal(outcome(&c, 3)->status, GP_SKIPPED);
    assert_string_equal(gp_text_string(&c.verdict.notes),
                        "t.ini:1: [*] has 2 of 2 violations allowed\n");
    close_court(&c);
}

static void without_a_launch_there_is_no_judgement(void **state)
{
    (void)state;
    struct court c = open_court("[*]\nduration < 1 s\n");
    gp_judge_finish(c.judge, &c.verdict);
    assert_int_equal(gp_verdict_status(&c.verdict), GP_CHECK_UNJUDGED);
    close_court(&c);
}

/* Two runs with 3 and 1 launches; one launch in each is slow. */
static void run_twice(struct court *c)
{
    struct made x;
    for (int run = 1; run <= 2; run++) {
        gp_judge_run(c->judge, run == 1 ? "one.jsonl" : "two.jsonl");
        gp_judge_process(c->judge);
        gp_judge_device(c->judge, &h200);
        for (unsigned i = 0; i < (run == 1 ? 3 : 1); i++)
            gp_judge_launch(c->judge, made(&x, i, i == 0 ? run * 1e6 : 1000, 100));
    }
}

static void each_run_is_judged_by_itself(void **state)
{
    (void)state;
    struct court c = open_court("[*]\n"
                                "launches <= 3\n"        /* holds: 3 and 1 */
                                "launches >= 2\n"        /* does not: 1 in the second */
                                "sum duration <= 2 ms\n" /* holds: 1.002 ms and 2 ms */
                                "sum duration < 2 ms\n"
                                "total duration <= 2 ms\n"
                                "duration < 1.5 ms\n");
    run_twice(&c);
    gp_judge_finish(c.judge, &c.verdict);
    const bool held[] = {true, false, true, false, true, false};
    for (int i = 0; i < 6; i++)
        if ((outcome(&c, 2 + i)->status == GP_HELD) != held[i])
            fail_msg("line %d: %s", 2 + i, outcome(&c, 2 + i)->message);
    assert_string_equal(outcome(&c, 3)->message,
                        "launches is 1, bound: >= 2 (two.jsonl; 1 of 2 runs violate it)");
    assert_string_equal(
        outcome(&c, 7)->message,
        "duration is 2 ms, bound: < 1.5 ms (launch 0 of two.jsonl; 1 of 4 launches violate it)");
    close_court(&c);
    /* One violation in each run: so many are allowed. */
    c = open_court("[*]\nallow = 1\nduration <= 10 us\n");
    run_twice(&c);
    gp_judge_finish(c.judge, &c.verdict);
    assert_int_equal(gp_verdict_status(&c.verdict), GP_CHECK_HELD);
    close_court(&c);
}

static void of_an_unfinished_run_only_certain_rules_are_judged(void **state)
{
    (void)state;
    const struct {
        const char *rules;
        enum gp_status status;
        int answer;
    } cases[] = {{"[*]\nduration <= 1 s\n", GP_SKIPPED, GP_CHECK_UNJUDGED},
                 {"[*]\nduration <= 1 ns\n", GP_VIOLATED, GP_CHECK_VIOLATED},
                 {"[*]\nlaunches >= 4\n", GP_HELD, GP_CHECK_HELD},
                 {"[*]\nlaunches >= 5\n", GP_SKIPPED, GP_CHECK_UNJUDGED},
                 {"[*]\nlaunches <= 4\n", GP_SKIPPED, GP_CHECK_UNJUDGED},
                 {"[*]\nlaunches <= 3\n", GP_VIOLATED, GP_CHECK_VIOLATED},
                 {"[*]\nlaunches == 3\n", GP_VIOLATED, GP_CHECK_VIOLATED},
                 {"[*]\nlaunches == 5\n", GP_SKIPPED, GP_CHECK_UNJUDGED},
                 {"[*]\nsum duration >= 3 us\n", GP_HELD, GP_CHECK_HELD},
                 {"[*]\ntotal duration <= 3 us\n", GP_VIOLATED, GP_CHECK_VIOLATED},
                 {"[*]\nrequired\n", GP_HELD, GP_CHECK_HELD},
                 {"[other]\nrequired\n", GP_SKIPPED, GP_CHECK_UNJUDGED},
                 {"[*]\nduration <= 1 s\nunfinished = note\n", GP_HELD, GP_CHECK_HELD},
                 {"[*]\nlaunches >= 5\nunfinished = note\n", GP_VIOLATED, GP_CHECK_VIOLATED}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct court c = open_court(cases[i].rules);
        struct made x;
        for (unsigned k = 0; k < 4; k++)
            gp_judge_launch(c.judge, made(&x, k, 1000, 100));
        gp_judge_unfinished(c.judge, "it was cut");
        gp_judge_finish(c.judge, &c.verdict);
        if (outcome(&c, 2)->status != cases[i].status ||
            gp_verdict_status(&c.verdict) != cases[i].answer)
            fail_msg("%s: %s", cases[i].rules, outcome(&c, 2)->message);
        close_court(&c);
    }
}

static void a_formula_is_a_rule(void **state)
{
    (void)state;
    struct court c = open_court("[*]\ndram__bytes_read.sum / gld_transactions < 50000\n"
                                "");
    struct made x;
    gp_judge_launch(c.judge, made(&x, 0, 1000, 100));
    gp_judge_finish(c.judge, &c.verdict);
    assert_int_equal(outcome(&c, 2)->status, GP_VIOLATED);
    close_court(&c);
}

static void an_outcome_points_at_the_source_where_it_is_known(void **state)
{
    (void)state;
    struct court c = open_court("[*]\ngld_efficiency >= 90 %\n");
    struct made x;
    int line;
    gp_judge_launch(c.judge, made(&x, 0, 1000, 50));
    gp_judge_source(c.judge, "_Z9vectorAddPKfS0_Pfi", "src/add.cu", 12);
    gp_judge_source(c.judge, "_Z9vectorAddPKfS0_Pfi", "src/other.cu", 13);
    gp_judge_source(c.judge, "_Z5otherv", "src/other.cu", 14);
    gp_judge_finish(c.judge, &c.verdict);
    assert_string_equal(gp_outcome_file(outcome(&c, 2), &line), "src/add.cu");
    assert_int_equal(line, 12);
    struct gp_text out = {0};
    const struct gp_occasion occasion = {.title = "t", .held = "", .host = "h", .time = "t"};
    gp_write_text(&c.verdict, &occasion, &out);
    assert_int_equal(strncmp(out.data, "src/add.cu:12: violated: ", 25), 0);
    gp_text_free(&out);
    close_court(&c);
    struct court without = open_court("[*]\ngld_efficiency >= 90 %\n");
    gp_judge_launch(without.judge, made(&x, 0, 1000, 50));
    gp_judge_finish(without.judge, &without.verdict);
    assert_string_equal(gp_outcome_file(outcome(&without, 2), &line), "t.ini");
    assert_int_equal(line, 2);
    close_court(&without);
}

/* ---- statistics ---- */

static uint64_t seed = 1;

/* A standard normal number; the same ones each time. */
static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(seed >> 33) / (double)(1u << 31);
    }
    return sum;
}

static double shift_of(const double *a, size_t n, const double *b, size_t k, double expected,
                       double *detectable)
{
    struct gp_shift s;
    assert_true(gp_shift_find((struct gp_runs){a, n}, (struct gp_runs){b, k}, expected, &s));
    *detectable = s.detectable;
    return s.shift;
}

static void one_odd_run_does_not_decide(void **state)
{
    (void)state;
    const double a[] = {100, 100.5, 99.5, 100.2, 130}, b[] = {105, 105.5, 104.5, 105.2, 104.9};
    double detectable, shift = shift_of(a, 5, b, 5, 1, &detectable);
    assert_true(fabs(shift - 5) < 0.6);
    assert_true(shift > detectable);
    shift = shift_of(a, 5, a, 5, 1, &detectable);
    assert_true(fabs(shift) < 1e-9);
}

/* How many of 1000 comparisons of so many runs, which vary by `deviation`, find a change. */
static int found(int runs, double deviation, double change)
{
    int count = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double a[8], b[8], detectable;
        for (int i = 0; i < runs; i++) {
            a[i] = 100 + deviation * normal();
            b[i] = 100 + change + deviation * normal();
        }
        /* The expected scatter is right, as it should be on average. */
        count += fabs(shift_of(a, (size_t)runs, b, (size_t)runs, 1, &detectable)) > detectable;
    }
    return count;
}

static void an_unchanged_program_is_seldom_found_to_have_changed(void **state)
{
    (void)state;
    assert_true(found(1, 1, 0) <= 2);
    assert_true(found(5, 1, 0) <= 4);
    assert_true(found(5, 0.3, 0) <= 1);
    /* Runs that vary more than expected: one with one cannot know it, five with five can. */
    assert_true(found(5, 3, 0) <= 30);
}

static void changes_are_found(void **state)
{
    (void)state;
    assert_true(found(5, 1, 5) >= 930);
    assert_true(found(5, 0.5, 5) >= 999);
    assert_true(found(5, 1, 10) == 1000);
    assert_true(found(5, 2, 10) >= 950);
}

static void student_is_as_in_tables(void **state)
{
    (void)state;
    assert_true(gp_student(4) == 7.173);
    assert_true(gp_student(0) == gp_student(1));
    for (unsigned i = 1; i < 60; i++)
        assert_true(gp_student(i) > gp_student(i + 1));
    assert_true(fabs(gp_student(30) - 3.385) < 0.03);
    assert_true(gp_student(1000000) > 3.09);
}

/* The chance that Student's t with so many degrees of freedom exceeds t, by its finite sums. */
static double above(double t, int freedom)
{
    double angle = atan(t / sqrt(freedom)), square = cos(angle) * cos(angle);
    double term = freedom % 2 ? cos(angle) : 1, sum = freedom == 1 ? 0 : term;
    for (int k = freedom % 2 ? 3 : 2; k < freedom - 1; k += 2) {
        term *= square * (k - 1) / k;
        sum += term;
    }
    double within = freedom % 2 ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
    return (1 - within) / 2;
}

static void one_more_run_is_seldom_far_off(void **state)
{
    (void)state;
    double runs[60];
    struct gp_next next;
    for (size_t n = 1; n <= 60; n++) {
        runs[n - 1] = 100 + (n % 2 ? 1 : -1);
        gp_next_find((struct gp_runs){runs, n}, 2, &next);
        assert_int_equal(next.freedom, n + 3);
        double chance = above(next.margin / next.deviation / sqrt(1 + 1 / (double)n), (int)n + 3);
        assert_true(chance <= 1.002 * GP_RARE);
        assert_true(chance >= 0.8 * GP_RARE);
    }
    const double same[] = {7, 7, 7, 7, 7};
    gp_next_find((struct gp_runs){same, 5}, 2, &next);
    assert_true(next.middle == 7);
    assert_true(fabs(next.deviation - sqrt(4 * 4 / 8.0)) < 1e-12);
    /* An odd run counts: such runs come. */
    const double odd[] = {7, 7, 7, 7, 17};
    gp_next_find((struct gp_runs){odd, 5}, 2, &next);
    assert_true(next.middle == 9);
    assert_true(fabs(next.deviation - sqrt((4 * 4 + 80) / 8.0)) < 1e-12);
}

static void a_slow_drift_is_a_trend_and_noise_is_none(void **state)
{
    (void)state;
    double values[20], slope;
    int trend, found_none = 0;
    for (int i = 0; i < 20; i++)
        values[i] = 100 + 0.5 * i + 0.5 * normal();
    assert_true(gp_trend_find(values, 20, &slope, &trend));
    assert_int_equal(trend, 1);
    assert_true(fabs(slope - 0.5) < 0.15);
    for (int trial = 0; trial < 200; trial++) {
        for (int i = 0; i < 12; i++)
            values[i] = normal();
        assert_true(gp_trend_find(values, 12, &slope, &trend));
        found_none += trend == 0;
    }
    assert_true(found_none >= 194);
    const double falling[] = {5, 4, 3, 2, 1};
    assert_true(gp_trend_find(falling, 5, &slope, &trend));
    assert_int_equal(trend, -1);
    assert_true(gp_trend_find(falling, 3, &slope, &trend));
    assert_int_equal(trend, 0);
}

/* ---- sides and comparisons ---- */

/* Folds `runs` runs of `launches` launches each; durations around `nanoseconds`, runs vary by
 * `deviation` (a share). */
static struct gp_side folded(const struct gp_metrics *m, int runs, int launches, double nanoseconds,
                             double deviation, void (*change)(struct gp_record *launch))
{
    struct gp_side side = {0};
    char why[256] = "";
    struct gp_fold *f = gp_fold_new(m, &side);
    assert_non_null(f);
    for (int r = 0; r < runs; r++) {
        double of_run = nanoseconds * (1 + deviation * normal());
        gp_fold_run(f);
        gp_fold_process(f, "0.1.0");
        gp_fold_device(f, &h200);
        for (int i = 0; i < launches; i++) {
            struct made x;
            made(&x, (uint64_t)i, of_run * (1 + deviation * normal()), 100);
            if (change)
                change(&x.launch);
            gp_fold_launch(f, &x.launch);
        }
    }
    if (!gp_fold_finish(f, why, sizeof(why)))
        fail_msg("%s", why);
    return side;
}

static void a_fold_has_a_median_for_each_run(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_side side = folded(m, 3, 1000, 100e3, 0, NULL);
    assert_int_equal(side.count, 1);
    assert_int_equal(side.runs, 3);
    const struct gp_side_kernel *s = &side.subjects[0];
    assert_string_equal(s->name, "vectorAdd(float const*, float const*, float*, int)");
    assert_int_equal(s->launches, 3000);
    const struct gp_series *duration = &s->series[gp_side_metric(&side, "duration")];
    assert_int_equal(duration->runs, 3);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(duration->medians[i] - 100e-6) < 1e-12);
    assert_true(duration->spread < 1e-12);
    /* Some of the launches were evaluated. */
    assert_true(duration->launches < 3 * 512);
    assert_int_equal(s->series[gp_side_metric(&side, "achieved_occupancy")].runs, 0);
    gp_side_free(&side);
    gp_metrics_close(m);
}

static void launches_that_were_passed_over_are_counted_once(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_side side = {0};
    char why[256] = "";
    struct gp_fold *f = gp_fold_new(m, &side);
    struct made x;
    made(&x, 0, 100e3, 100);
    struct gp_count count = {
        .kernel = x.launch.kernel, .configuration = x.launch.configuration, .launches = 20};
    gp_fold_run(f);
    gp_fold_process(f, "0.1.0");
    gp_fold_device(f, &h200);
    gp_fold_launch(f, &x.launch);
    gp_fold_count(f, &count);
    count.launches = 19;
    count.reason = GP_REASON_TEXT(OTHER, "some reason");
    gp_fold_count(f, &count);
    assert_true(gp_fold_finish(f, why, sizeof(why)));
    assert_int_equal(side.subjects[0].launches, 20);
    gp_side_free(&side);
    gp_metrics_close(m);
}

static void a_baseline_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_side side = folded(m, 5, 20, 100e3, 0.01, NULL), again = {0};
    struct gp_text text = {0}, second = {0};
    char why[256] = "";
    gp_baseline_write(&side, &text);
    if (!gp_baseline_parse("b.json", text.data, text.length, &again, why, sizeof(why)))
        fail_msg("%s", why);
    assert_int_equal(again.count, 1);
    assert_string_equal(again.origin.device.name, "NVIDIA H200");
    gp_baseline_write(&again, &second);
    assert_string_equal(text.data, second.data);
    gp_text_free(&text);
    gp_text_free(&second);
    gp_side_free(&side);
    gp_side_free(&again);
    gp_metrics_close(m);
}

static void a_baseline_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
#define HEAD                                                                                   \
    "{\"type\": \"gpuprof baseline\", \"format\": 1, \"gpuprof\": \"0\", \"gpu\": {\"name\": " \
    "\"G\", \"chip\": \"\", \"cc_major\": 9, \"cc_minor\": 0, \"event_counters\": 0, "         \
    "\"driver_version\": 1, \"cupti_version\": 1}, \"runs\": 1, \"kernels\": "
#define KERNEL                                                                                   \
    "{\"name\": \"k\", \"grid\": [1, 1, 1], \"block\": [1, 1, 1], \"shared_dynamic\": 0, "       \
    "\"shared_static\": 0, \"registers\": 1, \"local_bytes\": 0, \"launches\": 1, \"runs\": 1, " \
    "\"metrics\": "
    const struct {
        const char *text, *expected;
    } cases[] = {
        {"{", "b.json:1:"},
        {"{}", "not a baseline of gpuprof"},
        {"{\"type\": \"gpuprof baseline\", \"format\": 2}",
         "format 2; this gpuprof reads format 1"},
        {HEAD "3}", "\"kernels\" must be an array"},
        {HEAD "[{}]}", "a kernel has no \"name\""},
        {HEAD "[{\"name\": \"k\", \"grid\": [1, 2]}]}", "kernel k: \"grid\" must be"},
        {HEAD "[" KERNEL "{\"duration\": \"long\"}}]}", "metric \"duration\" must be a number"},
        {HEAD "[" KERNEL "{\"duration\": {\"medians\": []}}}]}", "metric \"duration\" must be"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_side side = {0};
        char why[256] = "";
        assert_false(gp_baseline_parse("b.json", cases[i].text, strlen(cases[i].text), &side, why,
                                       sizeof(why)));
        if (!strstr(why, cases[i].expected))
            fail_msg("refused with '%s', not '%s'", why, cases[i].expected);
        gp_side_free(&side);
    }
    struct gp_side side = {0};
    char why[256] = "";
    const char good[] = HEAD "[" KERNEL "{\"duration\": 1e-6}}]}";
    assert_true(gp_baseline_parse("b.json", good, sizeof(good) - 1, &side, why, sizeof(why)));
    gp_side_free(&side);
}

/* A baseline has the full name only; sections match the brief one as well. */
static void the_brief_name_follows_from_the_full_one(void **state)
{
    (void)state;
    static const char *const mangled[] = {
        "_Z9vectorAddPKfS0_Pfi",
        "_Z4gemmIfLi16EEvPKT_S2_PS0_i",
        "_ZN12_GLOBAL__N_16kernelIiEEmPT_",
        "_Z1kILi4EEvRAT__i",
        "_ZN1A1BIN1C1DEE3runEPFvifE",
        "_ZZ4mainENKUliE_clEi",
        "_ZNK1A3getEv",
        "plain_name",
    };
    for (size_t i = 0; i < sizeof(mangled) / sizeof(mangled[0]); i++) {
        struct gp_kernel_names names;
        assert_true(gp_kernel_names_find(mangled[i], &names));
        char *brief = gp_kernel_name_brief(names.full);
        assert_string_equal(brief, names.brief);
        free(brief);
        gp_kernel_names_free(&names);
    }
    char *empty = gp_kernel_name_brief("");
    assert_string_equal(empty, "");
    free(empty);
}

/* Compares and returns how many outcomes of a rule have a status. */
static size_t judged(const struct gp_metrics *m, const struct gp_side *a, const struct gp_side *b,
                     const char *rules, enum gp_status status, const char *rule)
{
    struct gp_comparison c = {0};
    struct gp_verdict v = {0};
    struct gp_text problems = {0};
    size_t count = 0;
    struct gp_tolerances *t =
        rules ? gp_tolerances_parse("tol.ini", rules, strlen(rules), &problems) : NULL;
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(gp_compare(a, b, m, t, &c));
    gp_comparison_judge(&c, t, "b.json", &v);
    for (size_t i = 0; i < v.count; i++)
        count += v.outcomes[i].status == status && strcmp(v.outcomes[i].rule, rule) == 0;
    gp_verdict_free(&v);
    gp_comparison_free(&c);
    gp_tolerances_free(t);
    gp_text_free(&problems);
    return count;
}

static void a_slower_kernel_is_found_and_an_unchanged_one_is_not(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    int slower = 0, unchanged = 0, alone = 0;
    for (int trial = 0; trial < 50; trial++) {
        struct gp_side a = folded(m, 5, 20, 100e3, 0.01, NULL);
        struct gp_side b = folded(m, 5, 20, 105e3, 0.01, NULL);
        struct gp_side c = folded(m, 5, 20, 100e3, 0.01, NULL);
        struct gp_side one = folded(m, 1, 1, 100e3, 0.01, NULL);
        struct gp_side other = folded(m, 1, 1, 100e3, 0.01, NULL);
        slower += judged(m, &a, &b, NULL, GP_VIOLATED, "duration") == 1;
        unchanged += judged(m, &a, &c, NULL, GP_VIOLATED, "duration") == 1;
        alone += judged(m, &one, &other, NULL, GP_VIOLATED, "duration") == 1;
        gp_side_free(&a);
        gp_side_free(&b);
        gp_side_free(&c);
        gp_side_free(&one);
        gp_side_free(&other);
    }
    assert_true(slower >= 45);
    assert_int_equal(unchanged, 0);
    assert_int_equal(alone, 0);
    gp_metrics_close(m);
}

static void half_efficient(struct gp_record *launch)
{
    ((struct gp_counter *)launch->counters)[1].value = 50;
}

static void more_registers(struct gp_record *launch)
{
    launch->registers = 40;
    launch->local_bytes = 16;
}

static void other_block(struct gp_record *launch)
{
    launch->block[0] = 512;
    launch->grid[0] = 512;
}

static void other_name(struct gp_record *launch)
{
    launch->kernel = "_Z9vectorAddIfEvPKT_S2_PS0_i";
}

static void changes_are_named(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_side a = folded(m, 2, 5, 100e3, 0.001, NULL);
    struct gp_side b = folded(m, 2, 5, 100e3, 0.001, half_efficient);
    assert_int_equal(judged(m, &a, &b, NULL, GP_VIOLATED, "gld_efficiency"), 1);
    assert_int_equal(judged(m, &b, &a, NULL, GP_VIOLATED, "gld_efficiency"), 0);
    assert_int_equal(judged(m, &b, &a, NULL, GP_NOTED, "gld_efficiency"), 1);
    assert_int_equal(judged(m, &a, &b, "[*]\ngld_* = 60 %\n", GP_VIOLATED, "gld_efficiency"), 0);
    assert_int_equal(judged(m, &a, &b, "[*]\ngld_* = ignore\n", GP_HELD, "gld_efficiency"), 0);
    gp_side_free(&b);
    b = folded(m, 2, 5, 100e3, 0.001, more_registers);
    assert_int_equal(judged(m, &a, &b, NULL, GP_NOTED, "changed"), 1);
    assert_int_equal(judged(m, &a, &b, "[vector*]\nchanged = fail\n", GP_VIOLATED, "changed"), 1);
    assert_int_equal(judged(m, &a, &b, "[other*]\nchanged = fail\n", GP_VIOLATED, "changed"), 0);
    gp_side_free(&b);
    b = folded(m, 2, 5, 100e3, 0.001, other_block);
    assert_int_equal(judged(m, &a, &b, NULL, GP_NOTED, "changed"), 1);
    assert_int_equal(judged(m, &a, &b, NULL, GP_HELD, "duration"), 1);
    gp_side_free(&b);
    b = folded(m, 2, 5, 100e3, 0.001, other_name);
    assert_int_equal(judged(m, &a, &b, NULL, GP_NOTED, "gone"), 1);
    assert_int_equal(judged(m, &a, &b, NULL, GP_NOTED, "new"), 1);
    assert_int_equal(judged(m, &a, &b, "[*]\nnew = fail\ngone = fail\n", GP_VIOLATED, "new"), 1);
    gp_side_free(&a);
    gp_side_free(&b);
    gp_metrics_close(m);
}

static void slower(struct gp_record *launch)
{
    ((struct gp_counter *)launch->counters)[0].value *= 2;
}

static void a_rate_is_judged_where_a_tolerance_names_it(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_side a = folded(m, 2, 5, 100e3, 0.001, NULL);
    struct gp_side b = folded(m, 2, 5, 100e3, 0.001, slower);
    const char *rate = "dram_read_throughput";
    assert_int_equal(judged(m, &a, &b, NULL, GP_VIOLATED, rate), 0);
    assert_int_equal(judged(m, &a, &b, "[*]\n* = 5 %\n", GP_VIOLATED, rate), 0);
    assert_int_equal(judged(m, &a, &b, "[*]\ndram_* = 5 %\n", GP_VIOLATED, rate), 1);
    assert_int_equal(judged(m, &a, &b, "[*]\ndram_* = 60 %\n", GP_VIOLATED, rate), 0);
    assert_int_equal(judged(m, &b, &a, "[*]\ndram_* = 5 %\n", GP_VIOLATED, rate), 0);
    assert_int_equal(judged(m, &b, &a, "[*]\ndram_read_throughput = 5 %\n", GP_NOTED, rate), 1);
    gp_side_free(&a);
    gp_side_free(&b);
    gp_metrics_close(m);
}

static void on_another_gpu_only_portable_counts_are_compared(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_side a = folded(m, 2, 5, 100e3, 0.001, NULL);
    struct gp_side b = folded(m, 2, 5, 300e3, 0.001, half_efficient);
    strcpy(b.origin.device.name, "NVIDIA A100");
    b.origin.device.cc_major = 8;
    assert_int_equal(judged(m, &a, &b, NULL, GP_VIOLATED, "duration"), 0);
    assert_int_equal(judged(m, &a, &b, NULL, GP_HELD, "duration"), 0);
    assert_int_equal(judged(m, &a, &b, NULL, GP_VIOLATED, "gld_efficiency"), 1);
    assert_int_equal(judged(m, &a, &b, NULL, GP_SKIPPED,
                            "not compared: it depends on the GPU, and this is another model"),
                     1);
    gp_side_free(&a);
    gp_side_free(&b);
    gp_metrics_close(m);
}

static void skeletons_leave_out_parts_that_a_compiler_changes(void **state)
{
    (void)state;
    const char *const names[][2] = {
        {"void add<float, 4>(float*, int)", "add"},
        {"vectorAdd(float const*)", "vectorAdd"},
        {"void at::native::(anonymous namespace)::k<Op<2> >(int)", "at::native::::k"},
        {"kernel_a1b2c3d4", "kernel_#"},
        {"kernel_2", "kernel_2"},
        {"triton_red_fused_native_layer_norm_3", "triton_red_fused_native_layer_norm_#"},
        {"triton_poi_fused_mm_12_b2", "triton_poi_fused_mm_#_b2"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *skeleton = gp_name_skeleton(names[i][0]);
        assert_string_equal(skeleton, names[i][1]);
        free(skeleton);
    }
}

/* A side of kernels with 2D grids and blocks of that size. */
struct sketch {
    const char *name;
    unsigned grid, block, registers;
};

static struct gp_side sketched(const struct sketch *kernels, size_t count)
{
    struct gp_side side = {.runs = 1};
    assert_true(gp_side_set_metrics(&side, NULL, 0));
    for (size_t i = 0; i < count; i++) {
        struct gp_side_kernel *s = gp_side_add(&side, kernels[i].name);
        assert_non_null(s);
        s->grid[0] = kernels[i].grid;
        s->block[0] = kernels[i].block;
        s->grid[1] = s->grid[2] = s->block[1] = s->block[2] = 1;
        s->registers = kernels[i].registers;
    }
    gp_side_sort(&side);
    return side;
}

static void the_closest_of_several_kernels_are_matched(void **state)
{
    (void)state;
    const struct {
        struct sketch a[2], b[2];
        enum gp_match_kind kind;
        bool chosen;
        size_t first; /* of a[0]: its match in b */
    } cases[] = {
        {{{"foo<1>", 8, 256, 32}, {"foo<2>", 8, 64, 32}},
         {{"foo<3>", 8, 64, 32}, {"foo<4>", 8, 256, 32}},
         GP_MATCH_PROPOSED,
         false, /* by their threads it is clear */
         1},
        {{{"foo<1>", 8, 256, 32}, {"foo<2>", 8, 256, 90}},
         {{"foo<3>", 8, 256, 90}, {"foo<4>", 8, 256, 32}},
         GP_MATCH_PROPOSED,
         true,
         1},
        {{{"foo<1>", 8, 256, 32}, {"foo<2>", 8, 256, 32}},
         {{"foo<3>", 8, 256, 32}, {"foo<4>", 8, 256, 32}},
         GP_MATCH_PROPOSED,
         true,
         0},
        {{{"triton_red_fused_norm_3", 8, 256, 32}, {"triton_poi_fused_add_0", 4, 128, 16}},
         {{"triton_red_fused_norm_5", 8, 256, 32}, {"triton_poi_fused_add_1", 4, 128, 16}},
         GP_MATCH_PROPOSED,
         false,
         0},
        {{{"k()", 100, 256, 32}, {"k()", 1000, 256, 32}},
         {{"k()", 900, 256, 32}, {"k()", 90, 256, 32}},
         GP_MATCH_CHANGED,
         true,
         1},
        {{{"k()", 4, 256, 32}, {"k()", 8, 256, 32}},
         {{"k()", 2, 512, 32}, {"k()", 4, 512, 32}},
         GP_MATCH_CHANGED,
         false,
         0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gp_side a = sketched(cases[i].a, 2), b = sketched(cases[i].b, 2);
        size_t count;
        struct gp_match *matches = gp_match_sides(&a, &b, &count);
        assert_non_null(matches);
        assert_int_equal(count, 2);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(matches[k].kind, cases[i].kind);
            assert_int_equal(matches[k].chosen, cases[i].chosen);
            const struct sketch *before = cases[i].a, *now = &cases[i].b[cases[i].first];
            if (strcmp(matches[k].a->name, before->name) == 0 &&
                matches[k].a->grid[0] == before->grid) {
                assert_string_equal(matches[k].b->name, now->name);
                assert_int_equal(matches[k].b->grid[0], now->grid);
            }
        }
        free(matches);
        gp_side_free(&a);
        gp_side_free(&b);
    }
}

/* Names of templates are long: 3000 letters, and more. */
static char *long_name(size_t letters)
{
    char *mangled = malloc(letters + 32);
    assert_non_null(mangled);
    int n = sprintf(mangled, "_Z%zu", letters);
    memset(mangled + n, 'k', letters);
    strcpy(mangled + n + letters, "Pf");
    return mangled;
}

static void a_glob_of_many_stars_ends(void **state)
{
    (void)state;
    struct gp_selector selector;
    char why[256], *name = long_name(20000);
    char pattern[4001];
    for (int i = 0; i < 4000; i += 2)
        memcpy(pattern + i, "*k", 2);
    memcpy(pattern + 3999, "x", 2);
    assert_true(gp_selector_parse(pattern, &selector, why, sizeof(why)));
    const struct gp_kernel_names names = {.mangled = name, .brief = name, .full = name};
    assert_false(gp_selector_matches(&selector, &names));
    gp_selector_free(&selector);
    free(name);
}

static void a_drift_is_found(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    for (int drifts = 0; drifts < 2; drifts++) {
        struct gp_side side = folded(m, 12, 3, 100e3, 0.002, NULL);
        struct gp_series *s = &side.subjects[0].series[gp_side_metric(&side, "duration")];
        for (size_t i = 0; drifts && i < s->runs; i++)
            s->medians[i] *= 1 + 0.006 * (double)i;
        struct gp_verdict v = {0};
        gp_drift_judge(&side, side.runs, m, NULL, "h.db", &v);
        assert_int_equal(v.violated, drifts);
        gp_verdict_free(&v);
        gp_side_free(&side);
    }
    gp_metrics_close(m);
}

/* ---- formats ---- */

/* A side whose one kernel took so long in its runs; how many drifts for the worse are found. */
static size_t drifts_of(const struct gp_metrics *m, const double *seconds, size_t runs)
{
    struct gp_side side = {.runs = runs, .origin.device = h200};
    struct gp_verdict v = {0};
    const char *const names[] = {"duration"};
    assert_true(gp_side_set_metrics(&side, names, 1));
    struct gp_side_kernel *s = gp_side_add(&side, "kernel()");
    assert_non_null(s);
    for (size_t i = 0; i < runs; i++)
        assert_true(gp_series_add_run(&s->series[0], seconds[i]));
    gp_drift_judge(&side, 11, m, NULL, "h.db", &v);
    size_t found = v.violated;
    gp_verdict_free(&v);
    gp_side_free(&side);
    return found;
}

static void a_drift_too_slow_for_ten_runs_is_found_over_more(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    double seconds[100];
    size_t found = 0, late = 0, alarms = 0;
    seed = 7;
    for (int i = 0; i < 60; i++)
        seconds[i] = 1e-4 * (1 + 0.0025 * i);
    assert_int_equal(drifts_of(m, seconds, 60), 1);
    assert_int_equal(drifts_of(m, seconds, 10), 0); /* 2.3 % */
    for (int trial = 0; trial < 200; trial++) {
        for (int i = 0; i < 60; i++)
            seconds[i] = 1e-4 * (1 + 0.0025 * i) * (1 + 0.01 * normal());
        found += drifts_of(m, seconds, 60);
        /* It begins after 60 steady runs. */
        for (int i = 0; i < 100; i++)
            seconds[i] = 1e-4 * (1 + (i < 60 ? 0 : 0.0025 * (i - 60))) * (1 + 0.01 * normal());
        late += drifts_of(m, seconds, 100);
        for (int i = 0; i < 100; i++)
            seconds[i] = 1e-4 * (1 + 0.01 * normal());
        alarms += drifts_of(m, seconds, 100);
    }
    assert_true(found >= 195);
    assert_true(late >= 195);
    assert_int_equal(alarms, 0);
    /* A step is a change, found and accepted when it came. */
    for (int i = 0; i < 100; i++)
        seconds[i] = 1e-4 * (i < 40 ? 1 : 1.1) * (1 + 0.01 * normal());
    assert_int_equal(drifts_of(m, seconds, 100), 0);
    gp_metrics_close(m);
}

static void the_help_names_every_format(void **state)
{
    (void)state;
    struct gp_text names = {0};
    for (const struct gp_format *f = gp_formats; f->name; f++)
        gp_text_addf(&names, "%s%s", f == gp_formats ? "" : f[1].name ? ", " : " or ", f->name);
    assert_string_equal(gp_text_string(&names), GP_FORMAT_NAMES);
    gp_text_free(&names);
}

static void names_cannot_break_a_format(void **state)
{
    (void)state;
    struct gp_text out = {0};
    gp_add_clean(&out, "a\xff\x01\xc3\xa4\xed\xa0\x80\n<&\">");
    assert_string_equal(out.data, "a??\xc3\xa4??? <&\">");
    struct gp_verdict v = {0};
    const struct gp_outcome o = {.status = GP_VIOLATED,
                                 .rule = "a, b: c",
                                 .file = "t:1,2.ini",
                                 .line = 3,
                                 .kernel = "k<\"x\", '&'>",
                                 .message = "100 %\n::error::no"};
    gp_verdict_add(&v, &o);
    const struct gp_occasion occasion = {.title = "t", .held = "", .host = "h", .time = "t"};
    gp_text_clear(&out);
    gp_write_annotations(&v, &occasion, &out);
    assert_string_equal(out.data, "::error file=t%3A1%2C2.ini,line=3,title=a%2C b%3A c::k<\"x\", "
                                  "'&'>: 100 %25 ::error::no\n");
    gp_text_clear(&out);
    gp_write_junit(&v, &occasion, &out);
    assert_non_null(strstr(out.data, "classname=\"k&lt;&quot;x&quot;, '&amp;'&gt;\""));
    gp_text_clear(&out);
    gp_write_markdown(&v, &occasion, &out);
    assert_non_null(strstr(out.data, "| `k<\"x\", '&'>` |"));
    gp_text_free(&out);
    gp_verdict_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_values_are_kept_while_they_fit),
        cmocka_unit_test(many_values_are_thinned_evenly),
        cmocka_unit_test(values_have_a_deviation),
        cmocka_unit_test(the_median_of_an_even_number_is_the_mean_of_two),
        cmocka_unit_test(quantities_have_the_units_of_the_metric),
        cmocka_unit_test(quantities_are_written_for_people),
        cmocka_unit_test(mistakes_name_file_line_and_column),
        cmocka_unit_test(a_rule_is_read_as_it_is_written),
        cmocka_unit_test(a_section_is_for_kernels_by_any_of_their_names),
        cmocka_unit_test(each_launch_is_held_to_a_rule),
        cmocka_unit_test(aggregates_are_over_the_launches),
        cmocka_unit_test(a_mean_is_weighted_as_in_a_report),
        cmocka_unit_test(an_absent_value_fails_unless_the_rule_permits_it),
        cmocka_unit_test(an_absent_value_is_judged_by_its_cause),
        cmocka_unit_test(a_required_kernel_has_to_appear),
        cmocka_unit_test(so_many_violations_are_allowed),
        cmocka_unit_test(launches_without_a_value_are_violations_that_may_be_allowed),
        cmocka_unit_test(without_a_launch_there_is_no_judgement),
        cmocka_unit_test(each_run_is_judged_by_itself),
        cmocka_unit_test(of_an_unfinished_run_only_certain_rules_are_judged),
        cmocka_unit_test(a_formula_is_a_rule),
        cmocka_unit_test(an_outcome_points_at_the_source_where_it_is_known),
        cmocka_unit_test(one_odd_run_does_not_decide),
        cmocka_unit_test(an_unchanged_program_is_seldom_found_to_have_changed),
        cmocka_unit_test(changes_are_found),
        cmocka_unit_test(student_is_as_in_tables),
        cmocka_unit_test(one_more_run_is_seldom_far_off),
        cmocka_unit_test(a_slow_drift_is_a_trend_and_noise_is_none),
        cmocka_unit_test(a_fold_has_a_median_for_each_run),
        cmocka_unit_test(launches_that_were_passed_over_are_counted_once),
        cmocka_unit_test(a_baseline_is_read_as_it_was_written),
        cmocka_unit_test(a_baseline_that_makes_no_sense_is_refused),
        cmocka_unit_test(the_brief_name_follows_from_the_full_one),
        cmocka_unit_test(a_slower_kernel_is_found_and_an_unchanged_one_is_not),
        cmocka_unit_test(changes_are_named),
        cmocka_unit_test(a_rate_is_judged_where_a_tolerance_names_it),
        cmocka_unit_test(on_another_gpu_only_portable_counts_are_compared),
        cmocka_unit_test(skeletons_leave_out_parts_that_a_compiler_changes),
        cmocka_unit_test(the_closest_of_several_kernels_are_matched),
        cmocka_unit_test(a_glob_of_many_stars_ends),
        cmocka_unit_test(a_drift_is_found),
        cmocka_unit_test(a_drift_too_slow_for_ten_runs_is_found_over_more),
        cmocka_unit_test(the_help_names_every_format),
        cmocka_unit_test(names_cannot_break_a_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
