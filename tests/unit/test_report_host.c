/* report/host: the calls of the program's host where the GPU rests, and the advice on them. */
#include "report/advice.h"
#include "report/whole.h"

#include "h200.h"
#include "sample.h"
#include "shipped.h"

#include <math.h>
#include <string.h>

struct program {
    struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_rows rows;
    struct gp_rules *rules;
    struct gp_findings findings;
};

/* 200 launches of 20 us: 4 ms. */
#define LAUNCHES 200
#define LAUNCH_SECONDS 20e-6
#define GPU_SECONDS (LAUNCHES * LAUNCH_SECONDS)

static void begin(struct program *p)
{
    struct sample s;
    *p = (struct program){.metrics = selected("default")};
    p->summary = gp_summary_new(p->metrics);
    gp_summary_settings(p->summary, &(struct gp_settings){0});
    gp_summary_device(p->summary, &h200);
    make_sample(&s, "k");
    set(&s, "gpu__time_duration.sum", 1e9 * LAUNCH_SECONDS);
    for (int i = 0; i < LAUNCHES; i++)
        gp_summary_launch(p->summary, &s.launch);
}

/* A process that ran so long, with these calls. */
static struct gp_end of(double seconds)
{
    return (struct gp_end){.seconds = seconds, .has_host = 1, .host_launches = LAUNCHES};
}

/* So many calls, some of them timed, and gpuprof answered the others. */
static struct gp_host_calls made(uint64_t calls, uint64_t bytes, uint64_t timed, double seconds)
{
    return (struct gp_host_calls){
        .calls = calls, .bytes = bytes, .timed = timed, .seconds = seconds};
}

static void make(struct program *p)
{
    struct gp_text problems = {0};
    assert_true(gp_rows_make(&p->rows, p->summary));
    p->rules = gp_rules_open(p->metrics, &problems);
    assert_string_equal(gp_text_string(&problems), "");
    assert_true(gp_findings_make(&p->findings, p->rules, &p->rows, NULL, NULL));
}

static void forget(struct program *p)
{
    gp_findings_free(&p->findings);
    gp_rules_close(p->rules);
    gp_rows_free(&p->rows);
    gp_summary_free(p->summary);
    gp_metrics_close(p->metrics);
}

static void make_of(struct program *p, const struct gp_end *end)
{
    begin(p);
    gp_summary_end(p->summary, end);
    make(p);
}

/* The line of a program with that end. */
static void says(const struct gp_end *end, const char *expected)
{
    struct program p;
    struct gp_whole whole;
    struct gp_text text = {0};
    make_of(&p, end);
    gp_whole_make(&whole, &p.rows, &p.findings, NULL, NULL, NULL);
    gp_host_text(&whole.host, whole.run_seconds, whole.gpu_seconds, whole.idle_share, &text);
    assert_string_equal(gp_text_string(&text), expected);
    gp_text_free(&text);
    forget(&p);
}

/* The advice of the rule, NULL: none. */
static const struct gp_advice *advice_of(const struct program *p, const char *rule)
{
    for (size_t i = 0; i < p->findings.advice.count; i++)
        if (strcmp(p->findings.advice.list[i].rule->name, rule) == 0)
            return &p->findings.advice.list[i];
    return NULL;
}

static bool is_advised(const struct gp_end *end, const char *rule)
{
    struct program p;
    make_of(&p, end);
    const bool answer = advice_of(&p, rule) != NULL;
    forget(&p);
    return answer;
}

/* ---- the line -------------------------------------------------------------------------------- */

static void calls_with_most_time_come_first(void **state)
{
    (void)state;
    struct gp_end end = of(0.1);
    end.host[GP_HOST_COPY] = made(200, 800, 200, 10e-3);
    end.host[GP_HOST_WAIT] = made(300, 0, 300, 30e-3);
    end.host[GP_HOST_ALLOCATION] = made(150, 0, 150, 1e-3);
    end.host[GP_HOST_FREE] = made(150, 0, 150, 4e-3);
    says(&end, "300 waits for the GPU (~30.00 ms), 200 copies that the host waited for (~10.00 "
               "ms), 300 allocations and frees (~5.000 ms); 200 launches one by one");
}

static void calls_that_were_timed_stand_for_the_others(void **state)
{
    (void)state;
    struct gp_end end = of(0.1);
    end.host[GP_HOST_WAIT] = made(300, 0, 100, 10e-3);
    says(&end, "300 waits for the GPU (~30.00 ms); 200 launches one by one");
    /* Too few of them do not, but all of a few do. */
    end.host[GP_HOST_WAIT].timed = 19;
    says(&end, "300 waits for the GPU; 200 launches one by one");
    struct gp_host host = {.processes = 1, .calls = {[GP_HOST_WAIT] = end.host[GP_HOST_WAIT]}};
    assert_true(isnan(gp_host_seconds(&host, GP_HOST_WAIT)));
    /* With those that were disturbed it is known how long they took at most. */
    end.host[GP_HOST_WAIT].disturbed = 131;
    end.host[GP_HOST_WAIT].disturbed_seconds = 5e-3;
    says(&end, "300 waits for the GPU (at most 34.00 ms); 200 launches one by one");
    host.calls[GP_HOST_WAIT] = made(3, 0, 3, 6e-3);
    assert_float_equal(gp_host_seconds(&host, GP_HOST_WAIT), 6e-3, 1e-12);
    assert_float_equal(gp_host_seconds(&host, GP_HOST_COPY), 0, 0);
    /* Several processes are not surer than one. */
    host.processes = 2;
    host.calls[GP_HOST_WAIT] = made(300, 0, 39, 10e-3);
    assert_true(isnan(gp_host_seconds(&host, GP_HOST_WAIT)));
    host.calls[GP_HOST_WAIT].timed = 40;
    assert_float_equal(gp_host_seconds(&host, GP_HOST_WAIT), 75e-3, 1e-12);
}

static void few_calls_and_short_ones_are_no_word_worth(void **state)
{
    (void)state;
    struct gp_end end = of(0.1);
    says(&end, "");
    end.host[GP_HOST_WAIT] = made(99, 0, 99, 90e-3);
    says(&end, "");
    end.host[GP_HOST_WAIT] = made(1000, 0, 1000, 0.9e-3);
    says(&end, "");
    /* Calls of unknown time, few for each launch. */
    end.host_launches = 1000;
    end.host[GP_HOST_WAIT] = made(100, 0, 0, 0);
    says(&end, "");
    end.host[GP_HOST_WAIT].calls = 101;
    says(&end, "101 waits for the GPU; 1000 launches one by one");
    /* Kernels of graphs are not launched one by one. */
    end.host_launches = 1;
    says(&end, "101 waits for the GPU");
}

static void a_busy_gpu_is_no_matter_of_the_host(void **state)
{
    (void)state;
    struct gp_end end = of(GPU_SECONDS / 0.49);
    end.host[GP_HOST_WAIT] = made(300, 0, 300, 3e-3);
    says(&end, "300 waits for the GPU (~3.000 ms); 200 launches one by one");
    assert_true(is_advised(&end, "host_waits"));
    end.seconds = GPU_SECONDS / 0.51;
    says(&end, "");
    assert_false(is_advised(&end, "host_waits"));
}

/* A graph that was timed as a whole is work of the GPU: the time is no kernel's. */
static void graphs_keep_the_gpu_busy(void **state)
{
    (void)state;
    struct program p;
    const struct gp_whole_times graph = {
        .kernel = "k", .kernels = 3, .launches = 4, .timed = 2, .seconds = 0.03};
    const struct gp_end end = of(0.1);
    begin(&p);
    gp_summary_graph(p.summary, &graph);
    gp_summary_end(p.summary, &end);
    make(&p);
    assert_float_equal(gp_host_idle_share(&p.rows), 1 - (0.06 + GPU_SECONDS) / 0.1, 1e-9);
    forget(&p);
}

/* A process of an earlier version, or one that was killed, has no counts. */
static void all_processes_must_have_counts(void **state)
{
    (void)state;
    struct program p;
    struct gp_whole whole;
    struct gp_end end = of(0.1);
    end.host[GP_HOST_WAIT] = made(300, 0, 300, 30e-3);
    begin(&p);
    gp_summary_end(p.summary, &end);
    gp_summary_settings(p.summary, &(struct gp_settings){0});
    gp_summary_end(p.summary, &end);
    make(&p);
    gp_whole_make(&whole, &p.rows, &p.findings, NULL, NULL, NULL);
    assert_true(whole.host.known);
    assert_int_equal(whole.host.calls[GP_HOST_WAIT].calls, 600);
    assert_int_equal(whole.host.calls[GP_HOST_WAIT].timed, 600);
    assert_float_equal(whole.host.calls[GP_HOST_WAIT].seconds, 60e-3, 1e-12);
    assert_int_equal(whole.host.launches, 2 * LAUNCHES);
    forget(&p);
    end.has_host = 0;
    says(&end, "");
    assert_false(is_advised(&end, "host_waits"));
}

/* ---- rules ----------------------------------------------------------------------------------- */

static void a_wait_behind_each_launch_is_advised_against(void **state)
{
    (void)state;
    struct program p;
    struct gp_end end = of(0.1);
    end.host[GP_HOST_WAIT] = made(200, 0, 200, 50e-3);
    make_of(&p, &end);
    const struct gp_advice *first = &p.findings.advice.list[0];
    assert_string_equal(first->rule->name, "host_waits");
    assert_true(first->up_to && first->rule->of_run);
    assert_string_equal(gp_gain_of(first), "the run");
    assert_float_equal(first->gain, 0.5, 1e-9);
    /* A second of the run counts as one of the GPU's, which worked in a twenty-fifth of it. */
    assert_float_equal(first->rank, 0.5 * 0.1 / GPU_SECONDS, 1e-6);
    forget(&p);
    /* Not more than the time in which no kernel ran. */
    end.host[GP_HOST_WAIT].seconds = 0.1;
    make_of(&p, &end);
    assert_float_equal(advice_of(&p, "host_waits")->gain, 1 - GPU_SECONDS / 0.1, 1e-9);
    forget(&p);
    end.host[GP_HOST_WAIT] = made(200, 0, 0, 0);
    assert_false(is_advised(&end, "host_waits"));
    /* gpuprof may have waited for kernels before. */
    end.host[GP_HOST_WAIT].disturbed = 200;
    end.host[GP_HOST_WAIT].disturbed_seconds = 16e-3;
    make_of(&p, &end);
    assert_float_equal(advice_of(&p, "host_waits")->gain, 0.2, 1e-9);
    forget(&p);
    end.host[GP_HOST_WAIT] = made(100, 0, 100, 50e-3);
    assert_false(is_advised(&end, "host_waits"));
    end.host[GP_HOST_WAIT].calls = end.host[GP_HOST_WAIT].timed = 101;
    assert_true(is_advised(&end, "host_waits"));
}

static void small_copies_in_a_loop_are_advised_against(void **state)
{
    (void)state;
    struct gp_end end = of(0.1);
    end.host[GP_HOST_COPY] = made(200, 200 * 4096, 200, 20e-3);
    assert_true(is_advised(&end, "host_copies"));
    assert_false(is_advised(&end, "host_waits"));
    assert_false(is_advised(&end, "host_allocations"));
    end.host[GP_HOST_COPY].bytes = 200 * 65536;
    assert_false(is_advised(&end, "host_copies"));
    end.host[GP_HOST_COPY] = made(99, 0, 99, 20e-3);
    assert_false(is_advised(&end, "host_copies"));
}

static void allocations_in_a_loop_are_advised_against(void **state)
{
    (void)state;
    struct program p;
    struct gp_end end = of(0.1);
    end.host[GP_HOST_ALLOCATION] = made(60, 0, 60, 10e-3);
    end.host[GP_HOST_FREE] = made(60, 0, 60, 20e-3);
    make_of(&p, &end);
    const struct gp_advice *a = advice_of(&p, "host_allocations");
    assert_non_null(a);
    assert_float_equal(a->gain, 0.3, 1e-9);
    assert_non_null(strstr(a->evidence, "120 times"));
    forget(&p);
    end.host[GP_HOST_FREE].calls = end.host[GP_HOST_FREE].timed = 40;
    assert_false(is_advised(&end, "host_allocations"));
}

/* So many launches of 2 us, beside those of begin. */
static void launch_more(struct program *p, int launches)
{
    struct sample s;
    make_sample(&s, "short");
    set(&s, "gpu__time_duration.sum", 2e3);
    set(&s, "smsp__inst_executed.sum", 0.2 * 4 * SMS * CYCLES * 2e-3);
    for (int i = 0; i < launches; i++)
        gp_summary_launch(p->summary, &s.launch);
}

static void a_host_that_launches_all_the_time_is_the_bound(void **state)
{
    (void)state;
    struct program p;
    struct gp_end end = of(1);
    end.host_launches = 20000;
    begin(&p);
    launch_more(&p, 20000 - LAUNCHES);
    gp_summary_end(p.summary, &end);
    make(&p);
    assert_float_equal(gp_host_launch_interval(&p.rows), 50e-6, 1e-9);
    const struct gp_advice *first = &p.findings.advice.list[0];
    assert_string_equal(first->rule->name, "host_launches");
    /* No more than the time in which no kernel ran. */
    assert_float_equal(first->gain, 1 - GPU_SECONDS - (20000 - LAUNCHES) * 2e-6, 1e-6);
    assert_non_null(strstr(first->evidence, "20000 of them, one every 50.00 us"));
    assert_null(advice_of(&p, "launch_overhead"));
    forget(&p);
    says(&end, "the GPU rests most of the time, so the bound is the host, or copies, and not the "
               "kernels: 20000 launches one by one, one every 50.00 us in the mean");
    /* Launches far from each other, few ones, and a busy GPU. */
    end.seconds = 4.1;
    says(&end, "");
    end.seconds = 0.05;
    end.host_launches = 9999;
    says(&end, "");
    end.host_launches = 20000;
    end.seconds = GPU_SECONDS / 0.51;
    says(&end, "");
}

/* Without it the GPU time of short launches is the matter, and no more than their time is gained.
 */
static void short_launches_gain_no_more_than_their_time(void **state)
{
    (void)state;
    struct program p;
    begin(&p);
    launch_more(&p, 1000);
    make(&p);
    const struct gp_advice *a = advice_of(&p, "launch_overhead");
    assert_non_null(a);
    assert_true(a->gain <= 2e-3 / (2e-3 + GPU_SECONDS));
    forget(&p);
}

/* Kernels that the limit left out, of a time like the others'. */
static void kernels_that_were_left_out_hide_no_idle_gpu(void **state)
{
    (void)state;
    struct program p;
    struct sample s;
    const struct gp_end end = of(0.1);
    make_sample(&s, "left out");
    struct gp_count count = {
        .kernel = "left out", .configuration = s.launch.configuration, .launches = LAUNCHES / 2};
    begin(&p);
    gp_summary_count(p.summary, &count);
    gp_summary_end(p.summary, &end);
    make(&p);
    assert_float_equal(gp_host_idle_share(&p.rows), 1 - 1.5 * GPU_SECONDS / 0.1, 1e-9);
    forget(&p);
    /* Too many, or for another reason, by which they may be the long ones. */
    begin(&p);
    count.launches = LAUNCHES + 1;
    gp_summary_count(p.summary, &count);
    gp_summary_end(p.summary, &end);
    make(&p);
    assert_true(isnan(gp_host_idle_share(&p.rows)));
    forget(&p);
    begin(&p);
    count.launches = LAUNCHES / 2;
    gp_summary_count(p.summary, &count);
    count.reason = (struct gp_reason){GP_CAUSE_COMMUNICATES, "with others"};
    gp_summary_count(p.summary, &count);
    gp_summary_end(p.summary, &end);
    make(&p);
    assert_true(isnan(gp_host_idle_share(&p.rows)));
    forget(&p);
}

static void a_share_of_the_run_is_the_programs(void **state)
{
    (void)state;
    static const char text[] = "[mine]\nof = run\ncondition = launches > 0\nevidence = e\ntext = "
                               "t\nestimate = 0.5\n";
    struct gp_metrics *metrics = shipped();
    struct gp_text problems = {0};
    struct gp_rules *rules = gp_rules_parse(metrics, "f.ini", text, strlen(text), &problems);
    assert_non_null(rules);
    assert_int_equal(rules->count, 0);
    assert_string_equal(gp_text_string(&problems),
                        "f.ini:2: rule mine: of: run: only with 'scope = program'\n");
    gp_text_free(&problems);
    gp_rules_close(rules);
    gp_metrics_close(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_with_most_time_come_first),
        cmocka_unit_test(calls_that_were_timed_stand_for_the_others),
        cmocka_unit_test(few_calls_and_short_ones_are_no_word_worth),
        cmocka_unit_test(a_busy_gpu_is_no_matter_of_the_host),
        cmocka_unit_test(graphs_keep_the_gpu_busy),
        cmocka_unit_test(all_processes_must_have_counts),
        cmocka_unit_test(a_wait_behind_each_launch_is_advised_against),
        cmocka_unit_test(small_copies_in_a_loop_are_advised_against),
        cmocka_unit_test(allocations_in_a_loop_are_advised_against),
        cmocka_unit_test(a_host_that_launches_all_the_time_is_the_bound),
        cmocka_unit_test(short_launches_gain_no_more_than_their_time),
        cmocka_unit_test(kernels_that_were_left_out_hide_no_idle_gpu),
        cmocka_unit_test(a_share_of_the_run_is_the_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
