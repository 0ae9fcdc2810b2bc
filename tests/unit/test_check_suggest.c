/* check/suggest: proposed thresholds, held to made-up runs that vary as those of a GPU (noise.h):
 * how often does an unchanged program break them, how often is a slower one found? */
#include "check/kinds.h"
#include "check/statistics.h"
#include "check/suggest.h"

#include "h200.h"
#include "noise.h"
#include "shipped.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Launches of one kernel and configuration in a run. */
struct part {
    const char *kernel; /* mangled */
    double seconds;
    int launches;
    unsigned grid;
    double other;    /* this share of them takes four times as long; chance says which */
    double present;  /* this share of them is made, others are not; chance says which. 0: all */
    int skipped;     /* so many more are not measured, for a reason */
    int passed_over; /* so many more are counted only */
};

/* Counts of each launch, and the part by which they vary from launch to launch. */
static double sectors = 4096, vary_sectors, requested_bytes = 131072;

#define MOST_PARTS 24

struct program {
    struct part parts[MOST_PARTS];
};

static double slower = 1, more_bytes = 1; /* the change to a program */

static void add_launch(struct gp_judge *judge, const struct part *part, uint64_t index, double time,
                       struct gp_reason skipped)
{
    const double factor = more_bytes * (1 + vary_sectors * gaussian());
    const struct gp_counter counters[] = {
        {.name = "gpu__time_duration.sum", .value = 1e9 * time},
        {.name = "sm__warps_active.avg.pct_of_peak_sustained_active",
         .value = 80 * (1 + 0.002 * gaussian())},
        {.name = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", .value = 100},
        {.name = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
         .value = floor(sectors * factor)},
        {.name = "smsp__sass_data_bytes_mem_global_op_ld.sum",
         .value = floor(requested_bytes * more_bytes)},
        {.name = "dram__bytes_read.sum", .value = 5e7 * more_bytes * (1 + 0.0001 * gaussian())}};
    const struct gp_record launch = {.index = index,
                                     .kernel = part->kernel,
                                     .grid = {part->grid ? part->grid : 1024, 1, 1},
                                     .block = {256, 1, 1},
                                     .shared_carveout = -1,
                                     .skipped = skipped,
                                     .counter_count = skipped.cause ? 0 : 6,
                                     .counters = counters};
    gp_judge_launch(judge, &launch);
}

static void add_part(struct gp_judge *judge, const struct part *part, const struct noisy_run *run)
{
    struct noisy_run of_part = *run;
    uint64_t index = 0;
    for (int i = 0; i < part->launches; i++) {
        if (part->present > 0 && uniform() > part->present)
            continue;
        double work = part->other > 0 && uniform() < part->other ? 4 : 1;
        add_launch(judge, part, index++, noisy_time(&of_part, slower * work * part->seconds),
                   GP_NO_REASON);
    }
    for (int i = 0; i < part->skipped; i++)
        add_launch(judge, part, index++, 0, GP_REASON(RUNS_ONCE));
    const struct gp_count count = {.kernel = part->kernel,
                                   .grid = {part->grid ? part->grid : 1024, 1, 1},
                                   .block = {256, 1, 1},
                                   .launches = index + (uint64_t)part->passed_over};
    if (count.launches > index)
        gp_judge_count(judge, &count);
}

static void add_run(struct gp_judge *judge, const struct program *p, const struct noise *noise,
                    double gpu)
{
    struct noisy_run run = noisy_run(noise, gpu);
    gp_judge_run(judge, "run.jsonl");
    gp_judge_process(judge);
    gp_judge_device(judge, &h200);
    for (int i = 0; i < MOST_PARTS && p->parts[i].kernel; i++)
        add_part(judge, &p->parts[i], &run);
}

static bool opened(struct gp_suggest_values *values, struct gp_metrics *m)
{
    struct gp_text problems = {0};
    return gp_suggest_values_open(values, m, &problems);
}

static struct gp_text proposed_of(struct gp_suggest_values *values, size_t runs)
{
    const struct gp_side_origin origin = {.device = h200, .gpuprof = "0.1.0"};
    const struct gp_suggest_asked asked = {
        .margin = 0.1, .from = "run.jsonl", .runs = runs, .origin = &origin};
    struct gp_text text = {0};
    assert_true(gp_suggest_values_finish(values));
    gp_suggest_thresholds(values, &asked, &text);
    assert_false(text.failed);
    gp_suggest_values_free(values);
    return text;
}

/* The file that is proposed from so many runs of the program. */
static struct gp_text proposed(struct gp_metrics *m, const struct program *p,
                               const struct noise *noise, int runs)
{
    struct gp_suggest_values values;
    double gpu = gaussian();
    assert_true(opened(&values, m));
    for (int i = 0; i < runs; i++)
        add_run(values.judge, p, noise, gpu);
    return proposed_of(&values, (size_t)runs);
}

static struct gp_thresholds *parsed(struct gp_metrics *m, const struct gp_text *text)
{
    struct gp_text problems = {0};
    struct gp_thresholds *t = gp_thresholds_parse("t.ini", text->data, text->length, m, &problems);
    if (!t)
        fail_msg("%s\n%s", gp_text_string(&problems), text->data);
    gp_text_free(&problems);
    return t;
}

/* Whether a run of the program breaks a bound of a metric ("": of any). */
static bool breaks(struct gp_metrics *m, const struct gp_thresholds *t, const struct program *p,
                   const struct noise *noise, double gpu, const char *metric)
{
    struct gp_judge *judge = gp_judge_new(t, m);
    struct gp_verdict verdict = {0};
    bool broken = false;
    add_run(judge, p, noise, gpu);
    gp_judge_finish(judge, &verdict);
    for (size_t i = 0; i < verdict.count; i++)
        broken |= verdict.outcomes[i].status == GP_VIOLATED &&
                  strstr(verdict.outcomes[i].rule, metric) != NULL;
    assert_int_not_equal(gp_verdict_status(&verdict), GP_CHECK_UNJUDGED);
    gp_verdict_free(&verdict);
    gp_judge_free(judge);
    return broken;
}

/* The number in front of " %" behind a word of the line that has `rule`; NAN without either. */
static double percent(const struct gp_text *text, const char *rule, const char *word)
{
    const char *line = strstr(text->data, rule), *end = line ? strchr(line, '\n') : NULL;
    const char *at = line ? strstr(line, word) : NULL;
    return at && at < end ? strtod(at + strlen(word), NULL) : NAN;
}

/* How many of so many runs break a bound of the metric. */
static int broken(struct gp_metrics *m, const struct gp_thresholds *t, const struct program *p,
                  const struct noise *noise, int runs, const char *metric)
{
    double gpu = gaussian(); /* another day, or another GPU of the model */
    int count = 0;
    for (int i = 0; i < runs; i++)
        count += breaks(m, t, p, noise, gpu, metric);
    return count;
}

struct rates {
    int unchanged, alarms; /* runs; of these with a broken bound */
    int files, promises;   /* files; of these with a bound of a time that finds 20 %, as it says */
    int slower, found;     /* runs that are 20 % slower than such a file's; of these found */
};

/* Proposes files, each from so many runs, and holds runs of an unchanged and of a slower program to
 * them. */
static struct rates rates_of(struct gp_metrics *m, const struct program *p,
                             const struct noise *noise, int runs, int files)
{
    struct rates r = {.files = files};
    for (int file = 0; file < files; file++) {
        struct gp_text text = proposed(m, p, noise, runs);
        struct gp_thresholds *t = parsed(m, &text);
        r.unchanged += 100;
        r.alarms += broken(m, t, p, noise, 100, "");
        if (percent(&text, " duration <= ", "finds ") <= 20) {
            r.promises++;
            slower = 1.2;
            r.slower += 20;
            r.found += broken(m, t, p, noise, 20, "duration");
            slower = 1;
        }
        gp_thresholds_free(t);
        gp_text_free(&text);
    }
    return r;
}

static void add_rates(struct rates *all, const struct rates *r)
{
    all->unchanged += r->unchanged;
    all->alarms += r->alarms;
    all->files += r->files;
    all->promises += r->promises;
    all->slower += r->slower;
    all->found += r->found;
}

static struct program one_kernel(double microseconds, int launches)
{
    return (struct program){
        .parts = {{.kernel = "_Z1kv", .seconds = 1e-6 * microseconds, .launches = launches}}};
}

/* At most so many alarms of 10000 runs; and so many of 100 slower runs found where 95 are promised.
 */
static void hold(const struct rates *r, int alarms, int found)
{

    if (r->alarms * 10000.0 > (double)alarms * r->unchanged)
        fail_msg("%d of %d unchanged runs break a bound", r->alarms, r->unchanged);
    if (100 * r->found < found * r->slower)
        fail_msg("%d of %d slower runs are found", r->found, r->slower);
}

static void kernels_of_all_lengths(void **state)
{
    (void)state;
    /* The least part of the files, in percent, with a bound that finds a kernel 20 % slower. */
    const struct {
        double us;
        int launches, runs, promised;
    } cases[] = {
        {2, 1, 5, 0},    {2, 100, 5, 90},  {3, 5, 5, 50},    {3, 20, 5, 90},   {5, 2, 5, 0},
        {5, 3, 5, 50},   {5, 10, 3, 50},   {8, 1, 5, 0},     {8, 1, 10, 90},   {8, 2, 5, 100},
        {8, 10, 5, 100}, {8, 100, 5, 100}, {8, 10, 1, 0},    {8, 10, 2, 50},   {20, 1, 5, 100},
        {20, 2, 5, 100}, {20, 1, 1, 0},    {60, 1, 5, 100},  {60, 2, 3, 90},   {60, 20, 2, 90},
        {60, 20, 1, 0},  {300, 1, 5, 100}, {300, 10, 3, 90}, {4000, 1, 5, 90}, {4000, 1, 1, 0},
        {1e5, 1, 5, 90}, {1e5, 3, 3, 90},
    };
    struct gp_metrics *m = shipped();
    struct rates all = {0};
    noise_seed = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct program p = one_kernel(cases[i].us, cases[i].launches);
        struct rates r = rates_of(m, &p, &usual_noise, cases[i].runs, 8);
        if (100 * r.promises < cases[i].promised * r.files)
            fail_msg("%g us, %d launches, %d runs: %d of %d files find 20 %%", cases[i].us,
                     cases[i].launches, cases[i].runs, r.promises, r.files);
        add_rates(&all, &r);
    }
    assert_true(all.unchanged > 20000);
    hold(&all, 2, 95);
    gp_metrics_close(m);
}

static void kernels_that_are_launched_ten_thousand_times(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = one_kernel(3, 10000);
    noise_seed = 2;
    struct gp_text text = proposed(m, &p, &usual_noise, 2);
    struct gp_thresholds *t = parsed(m, &text);
    assert_int_equal(broken(m, t, &p, &usual_noise, 5, ""), 0);
    slower = 1.25;
    assert_int_equal(broken(m, t, &p, &usual_noise, 2, "duration"), 2);
    slower = 1;
    gp_thresholds_free(t);
    gp_text_free(&text);
    gp_metrics_close(m);
}

/* Runs that vary by three times as much as usual, launches by four times; more that are held up,
 * and for longer. */
static void noisier_machines(void **state)
{
    (void)state;
    struct noise busy = usual_noise, held_up = usual_noise;
    busy.of_run = 0.02;
    busy.of_launch = 0.03;
    held_up.held_up = 0.1;
    held_up.held_up_seconds = 3e-6;
    struct gp_metrics *m = shipped();
    noise_seed = 3;
    for (int i = 0; i < 2; i++) {
        struct rates all = {0};
        for (int runs = 1; runs <= 5; runs += 2) {
            const struct program few = one_kernel(60, 1), many = one_kernel(10, 10);
            struct rates r = rates_of(m, &few, i ? &held_up : &busy, runs, 8);
            add_rates(&all, &r);
            r = rates_of(m, &many, i ? &held_up : &busy, runs, 8);
            add_rates(&all, &r);
        }
        hold(&all, 10, 90);
    }
    gp_metrics_close(m);
}

/* All lines of a file together. */
static void a_program_of_twenty_kernels(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct program p = {0};
    static char names[20][16];
    int alarms = 0;
    noise_seed = 4;
    for (int i = 0; i < 20; i++) {
        snprintf(names[i], sizeof(names[i]), "_Z2k%cv", 'a' + i);
        p.parts[i] =
            (struct part){.kernel = names[i], .seconds = 4e-6 * (1 + i), .launches = 1 + i % 5};
    }
    for (int file = 0; file < 10; file++) {
        struct gp_text text = proposed(m, &p, &usual_noise, 5);
        struct gp_thresholds *t = parsed(m, &text);
        assert_true(t->count >= 10);
        alarms += broken(m, t, &p, &usual_noise, 100, "");
        slower = 1.2;
        assert_int_equal(broken(m, t, &p, &usual_noise, 10, "duration"), 10);
        slower = 1;
        gp_thresholds_free(t);
        gp_text_free(&text);
    }
    if (alarms > 1)
        fail_msg("%d of 1000 runs", alarms);
    gp_metrics_close(m);
}

/* A clock of a microsecond: a kernel of five ticks, and one of sixty. */
static void a_coarse_clock(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct noise coarse = usual_noise;
    coarse.tick = 1.024e-6;
    struct rates all = {0};
    noise_seed = 5;
    for (int runs = 1; runs <= 5; runs += 2) {
        const struct program few = one_kernel(5, 20), many = one_kernel(60, 20);
        struct rates r = rates_of(m, &few, &coarse, runs, 8);
        assert_int_equal(r.promises, 0);
        add_rates(&all, &r);
        r = rates_of(m, &many, &coarse, runs, 8);
        assert_true(runs < 5 || r.promises > 0);
        add_rates(&all, &r);
    }
    hold(&all, 5, 95);
    gp_metrics_close(m);
}

static void the_times_show_the_tick(void **state)
{
    (void)state;
    const struct {
        double tick, us;
        int launches;
        const char *shown; /* NULL: no tick is named */
    } cases[] = {
        {1.024e-6, 60, 20, ", the clock's tick of 1024 ns.\n"},
        {32e-9, 60, 20, ", the clock's tick of 32 ns.\n"},
        {1e-9, 60, 20, NULL}, /* a clock without a step */
        {1.024e-6, 60, 1, ", the clock's tick of 500 ns (CUDA's manual; these times are too few)"},
        {32e-9, 60.096, 1, NULL}, /* too few, but not of a coarse clock */
    };
    struct gp_metrics *m = shipped();
    noise_seed = 20;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct noise noise = {.tick = cases[i].tick};
        noise.of_launch = cases[i].launches > 1 ? 0.02 : 0;
        const struct program p = one_kernel(cases[i].us, cases[i].launches);
        struct gp_text text = proposed(m, &p, &noise, 1);
        const char *tick = strstr(text.data, ", the clock's tick of ");
        if (cases[i].shown ? !tick || strncmp(tick, cases[i].shown, strlen(cases[i].shown)) != 0
                           : tick != NULL)
            fail_msg("case %zu:\n%s", i, text.data);
        gp_text_free(&text);
    }
    gp_metrics_close(m);
}

/* Block sizes that are tried once each, and 100 short launches beside a long one. */
static const struct program sweep = {
    .parts = {
        {.kernel = "_Z1kv", .seconds = 213e-6, .launches = 1, .grid = 1},
        {.kernel = "_Z1kv", .seconds = 330e-6, .launches = 1, .grid = 2},
        {.kernel = "_Z1kv", .seconds = 580e-6, .launches = 1, .grid = 3},
        {.kernel = "_Z1kv", .seconds = 1800e-6, .launches = 1, .grid = 4},
        {.kernel = "_Z1kv", .seconds = 3600e-6, .launches = 1, .grid = 5},
    }};
static const struct program long_and_short = {
    .parts = {
        {.kernel = "_Z1kv", .seconds = 10e-6, .launches = 100, .grid = 1},
        {.kernel = "_Z1kv", .seconds = 1e-3, .launches = 1, .grid = 2},
    }};
/* Batches of eight sizes, in other numbers each time. */
static const struct program by_chance = {
    .parts = {
        {.kernel = "_Z1kv", .seconds = 10e-6, .launches = 20, .present = 0.5, .grid = 1},
        {.kernel = "_Z1kv", .seconds = 20e-6, .launches = 20, .present = 0.5, .grid = 2},
        {.kernel = "_Z1kv", .seconds = 40e-6, .launches = 20, .present = 0.5, .grid = 3},
        {.kernel = "_Z1kv", .seconds = 80e-6, .launches = 20, .present = 0.5, .grid = 4},
        {.kernel = "_Z1kv", .seconds = 90e-6, .launches = 20, .present = 0.5, .grid = 5},
        {.kernel = "_Z1kv", .seconds = 100e-6, .launches = 20, .present = 0.5, .grid = 6},
    }};

static void several_configurations(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct rates all = {0};
    noise_seed = 6;
    for (int runs = 1; runs <= 5; runs += 2) {
        struct rates r = rates_of(m, &sweep, &usual_noise, runs, 8);
        assert_int_equal(r.promises, runs == 1 ? 0 : r.files);
        add_rates(&all, &r);
        r = rates_of(m, &long_and_short, &usual_noise, runs, 8);
        assert_int_equal(r.promises, runs == 1 ? 0 : r.files);
        add_rates(&all, &r);
        r = rates_of(m, &by_chance, &usual_noise, runs, 8);
        add_rates(&all, &r);
    }
    hold(&all, 5, 95);
    gp_metrics_close(m);
}

static void a_file_explains_several_configurations(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    noise_seed = 7;
    struct gp_text text = proposed(m, &long_and_short, &usual_noise, 3);
    assert_non_null(strstr(text.data, "; 100.0 % of the time, 101 launches in a run, "
                                      "2 configurations\n"
                                      ";   each is launched equally often in all runs\n"));
    assert_non_null(strstr(text.data, "\ntotal duration <= 2."));
    gp_text_free(&text);
    text = proposed(m, &long_and_short, &usual_noise, 1);
    assert_non_null(strstr(text.data, ";   how often each is launched differs from run to run, or "
                                      "is known of one run alone"));
    assert_null(strstr(text.data, "total duration"));
    gp_text_free(&text);
    text = proposed(m, &by_chance, &usual_noise, 3);
    assert_non_null(strstr(text.data, " configurations\n;   how often each is launched differs"));
    assert_non_null(strstr(text.data, "\np"));
    gp_text_free(&text);
    /* The longest are now a few, now none: the bound keeps away from them. */
    const struct program seldom = {
        .parts = {
            {.kernel = "_Z1kv", .seconds = 10e-6, .launches = 50, .grid = 1},
            {.kernel = "_Z1kv", .seconds = 100e-6, .launches = 20, .present = 0.5, .grid = 2},
            {.kernel = "_Z1kv", .seconds = 800e-6, .launches = 4, .present = 0.3, .grid = 3},
        }};
    text = proposed(m, &seldom, &usual_noise, 5);
    assert_null(strstr(text.data, "left out"));
    gp_text_free(&text);
    gp_metrics_close(m);
}

/* In one configuration, as the number of elements is a parameter. */
static void launches_of_two_kinds(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct rates all = {0};
    noise_seed = 8;
    for (int runs = 1; runs <= 5; runs += 2) {
        for (int i = 0; i < 3; i++) {
            const struct program p = {.parts = {{.kernel = "_Z1kv",
                                                 .seconds = 10e-6,
                                                 .launches = 100,
                                                 .other = 0.05 + 0.2 * i}}};
            struct rates r = rates_of(m, &p, &usual_noise, runs, 8);
            /* Few of the other kind are never the median. */
            assert_true(i > 0 || runs < 3 || r.promises == r.files);
            add_rates(&all, &r);
        }
    }
    hold(&all, 5, 95);
    gp_metrics_close(m);
}

static void sampled_runs(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = {
        .parts = {
            {.kernel = "_Z1kv", .seconds = 20e-6, .launches = 5, .passed_over = 995, .grid = 1},
            {.kernel = "_Z1kv", .seconds = 40e-6, .launches = 5, .passed_over = 95, .grid = 2},
        }};
    noise_seed = 9;
    struct gp_text text = proposed(m, &p, &usual_noise, 3);
    assert_non_null(strstr(text.data, "; 100.0 % of the time, 1100 launches in a run, 10 of them "
                                      "measured, 2 configurations\n"));
    assert_non_null(
        strstr(text.data, "\ntotal duration <= 2")); /* ms: 1000 of 20 us and 100 of 40 */
    gp_text_free(&text);
    struct rates r = rates_of(m, &p, &usual_noise, 3, 8);
    assert_int_equal(r.promises, r.files);
    hold(&r, 5, 95);
    gp_metrics_close(m);
}

/* ---- counts ---- */

static void exact_counts_have_no_margin(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = one_kernel(50, 3);
    noise_seed = 10;
    struct gp_text text = proposed(m, &p, &usual_noise, 2);
    assert_non_null(strstr(text.data, "\ngld_transactions <= 4096  ; 4096 in 2 runs\n"));
    assert_non_null(
        strstr(text.data, "\ngld_requested_bytes <= 131072 B  ; 131.07 kB in 2 runs\n"));
    assert_non_null(strstr(text.data, "\ngld_efficiency >= 90 %  ; 100 % in 2 runs, margin 10 %"));
    struct gp_thresholds *t = parsed(m, &text);
    more_bytes = 1 + 1.0 / 4096;
    assert_int_equal(broken(m, t, &p, &usual_noise, 3, "gld_transactions"), 3);
    assert_int_equal(broken(m, t, &p, &usual_noise, 3, "gld_requested_bytes"), 3);
    more_bytes = 1;
    assert_int_equal(broken(m, t, &p, &usual_noise, 20, ""), 0);
    gp_thresholds_free(t);
    gp_text_free(&text);
    gp_metrics_close(m);
}

/* As kernels of Hopper that ask barriers until the answer is yes. */
static void counts_that_vary_have_a_margin(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = one_kernel(50, 10);
    int alarms = 0, unchanged = 0;
    noise_seed = 11;
    sectors = 5e7;
    for (int runs = 1; runs <= 5; runs++) {
        for (int file = 0; file < 8; file++) {
            vary_sectors = file % 2 ? 0.0015 : 0.00001;
            struct gp_text text = proposed(m, &p, &usual_noise, runs);
            struct gp_thresholds *t = parsed(m, &text);
            unchanged += 100;
            alarms += broken(m, t, &p, &usual_noise, 100, "gld_transactions");
            more_bytes = 1.05;
            assert_int_equal(broken(m, t, &p, &usual_noise, 10, "gld_transactions"), 10);
            more_bytes = 1;
            gp_thresholds_free(t);
            gp_text_free(&text);
        }
    }
    vary_sectors = 0;
    sectors = 4096;
    if (alarms > 0)
        fail_msg("%d of %d", alarms, unchanged);
    gp_metrics_close(m);
}

/* One run cannot show whether a count repeats. 5 % more are found all the same. */
static void counts_of_one_run_have_a_small_margin(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = one_kernel(50, 1);
    noise_seed = 12;
    /* With every mantissa, as bounds are rounded. */
    for (sectors = 1000; sectors < 11000; sectors += 97) {
        struct gp_text text = proposed(m, &p, &usual_noise, 1);
        struct gp_thresholds *t = parsed(m, &text);
        more_bytes = 1.01;
        assert_int_equal(broken(m, t, &p, &usual_noise, 1, "gld_"), 0);
        more_bytes = 1.05;
        assert_int_equal(broken(m, t, &p, &usual_noise, 1, "gld_transactions"), 1);
        assert_int_equal(broken(m, t, &p, &usual_noise, 1, "gld_requested_bytes"), 1);
        more_bytes = 1;
        assert_true(percent(&text, "gld_transactions", "finds ") <= 5);
        gp_thresholds_free(t);
        gp_text_free(&text);
    }
    sectors = 4096;
    gp_metrics_close(m);
}

/* ---- the file ---- */

static void a_file_explains_itself(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    noise_seed = 13;
    const struct program p = one_kernel(8, 20);
    struct gp_text text = proposed(m, &p, &usual_noise, 5);
    assert_non_null(
        strstr(text.data, "; From run.jsonl (5 runs), on NVIDIA H200, gpuprof 0.1.0.\n"));
    assert_non_null(strstr(text.data,
                           "\n; 100.0 % of the time, 20 launches in a run, 1 configuration\n"
                           "[k()]\n"
                           "required\n"
                           "median duration <= 8."));
    assert_non_null(strstr(text.data, " us in 5 runs, margin 1"));
    assert_null(strstr(text.data, "One run does not show"));
    gp_text_free(&text);
    text = proposed(m, &p, &usual_noise, 1);
    assert_non_null(strstr(text.data, " (1 run), on"));
    assert_non_null(strstr(text.data, "; One run does not show how far runs lie apart"));
    assert_non_null(strstr(text.data, " in one run, margin 2"));
    gp_text_free(&text);
    const struct program shortest = one_kernel(1.5, 1);
    text = proposed(m, &shortest, &usual_noise, 1);
    assert_non_null(strstr(text.data, "\n; left out: median duration, 1."));
    assert_null(strstr(text.data, "\nmedian duration"));
    gp_text_free(&text);
    gp_metrics_close(m);
}

/* The margin that was asked for is the least. */
static void a_margin_is_the_least_margin(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    struct gp_suggest_values values;
    const struct gp_side_origin origin = {.device = h200, .gpuprof = "0.1.0"};
    const struct gp_suggest_asked asked = {
        .margin = 0.5, .from = "run.jsonl", .runs = 5, .origin = &origin};
    const struct program p = one_kernel(100, 20);
    struct gp_text text = {0};
    noise_seed = 14;
    assert_true(opened(&values, m));
    for (int i = 0; i < 5; i++)
        add_run(values.judge, &p, &usual_noise, 0);
    assert_true(gp_suggest_values_finish(&values));
    gp_suggest_thresholds(&values, &asked, &text);
    assert_non_null(strstr(text.data, "margin 50 %, finds 5"));
    assert_non_null(strstr(text.data, "gld_efficiency >= 50 %"));
    gp_text_free(&text);
    gp_suggest_values_free(&values);
    gp_metrics_close(m);
}

/* Two runs of 100 and 110 us: the distance of one more from their mean. */
static void a_margin_begins_at_the_mean(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct noise none = {.tick = 1e-9};
    const struct program quick = one_kernel(100, 20), slow = one_kernel(110, 20);
    const double seconds[] = {100e-6, 110e-6};
    struct gp_suggest_values values;
    struct gp_next next;
    noise_seed = 21;
    assert_true(opened(&values, m));
    add_run(values.judge, &quick, &none, 0);
    add_run(values.judge, &slow, &none, 0);
    struct gp_text text = proposed_of(&values, 2);
    struct gp_thresholds *t = parsed(m, &text);
    gp_next_find((struct gp_runs){seconds, 2}, gp_expected_time(105e-6, 20, 0, GP_BLUR / 20, 32e-9),
                 &next);
    const struct gp_threshold *rule = &t->sections[0].rules[0];
    assert_string_equal(rule->metric->name, "duration");
    assert_true(next.margin > 0.2 * 105e-6);
    if (fabs(rule->bound - (105e-6 + next.margin)) > 0.6e-6)
        fail_msg("%g s, not %g s", rule->bound, 105e-6 + next.margin);
    gp_thresholds_free(t);
    gp_text_free(&text);
    gp_metrics_close(m);
}

static void launches_without_a_value_break_no_bound(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = {
        .parts = {{.kernel = "_Z1kv", .seconds = 20e-6, .launches = 5, .skipped = 2}}};
    noise_seed = 15;
    struct gp_text text = proposed(m, &p, &usual_noise, 2);
    assert_non_null(strstr(text.data, "7 launches in a run, 5 of them measured, 1 conf"));
    struct gp_thresholds *t = parsed(m, &text);
    assert_int_equal(broken(m, t, &p, &usual_noise, 20, ""), 0);
    gp_thresholds_free(t);
    gp_text_free(&text);
    gp_metrics_close(m);
}

static void a_kernel_of_some_runs_is_not_required(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program with = {
        .parts = {{.kernel = "_Z1kv", .seconds = 20e-6, .launches = 5},
                  {.kernel = "_Z4tuner", .seconds = 20e-6, .launches = 5}}};
    struct program without = with;
    without.parts[1].kernel = NULL;
    struct gp_suggest_values values;
    noise_seed = 16;
    assert_true(opened(&values, m));
    add_run(values.judge, &with, &usual_noise, 0);
    add_run(values.judge, &without, &usual_noise, 0);
    struct gp_text text = proposed_of(&values, 2);
    assert_non_null(
        strstr(text.data, ";   in 1 of 2 runs, so it is not required\n[_Z4tuner]\nmedian"));
    assert_non_null(strstr(text.data, "[k()]\nrequired\n"));
    struct gp_thresholds *t = parsed(m, &text);
    assert_int_equal(broken(m, t, &without, &usual_noise, 5, ""), 0);
    assert_int_equal(broken(m, t, &with, &usual_noise, 5, ""), 0);
    gp_thresholds_free(t);
    gp_text_free(&text);
    gp_metrics_close(m);
}

/* Names of templates are long: 3000 letters, and more. */
static void names_may_have_any_length(void **state)
{
    (void)state;
    const int lengths[] = {510, 513, 3000, 20000};
    struct gp_metrics *m = shipped();
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char *name = malloc((size_t)lengths[i] + 32);
        assert_non_null(name);
        int n = sprintf(name, "_Z%d", lengths[i]);
        memset(name + n, 'k', (size_t)lengths[i]);
        strcpy(name + n + lengths[i], "Pf");
        const struct program p = {.parts = {{.kernel = name, .seconds = 100e-6, .launches = 2}}};
        struct gp_text text = proposed(m, &p, &usual_noise, 2);
        struct gp_thresholds *t = parsed(m, &text);
        assert_int_equal(broken(m, t, &p, &usual_noise, 2, ""), 0);
        more_bytes = 2;
        assert_int_equal(broken(m, t, &p, &usual_noise, 2, ""), 2);
        more_bytes = 1;
        gp_thresholds_free(t);
        gp_text_free(&text);
        free(name);
    }
    gp_metrics_close(m);
}

/* "f(float*)" as a glob would match "f(float*, float*)" too; and a name may end the section. */
static void a_section_is_for_one_kernel(void **state)
{
    (void)state;
    struct gp_metrics *m = shipped();
    const struct program p = {.parts = {{.kernel = "_Z1fPf", .seconds = 1e-4, .launches = 2},
                                        {.kernel = "_Z1fPfS_", .seconds = 1e-4, .launches = 2},
                                        {.kernel = "odd]\n[*", .seconds = 1e-4, .launches = 2},
                                        {.kernel = "no ;name", .seconds = 1e-4, .launches = 2},
                                        {.kernel = " nor this", .seconds = 1e-4, .launches = 2}}};
    struct gp_text text = proposed(m, &p, &usual_noise, 1);
    assert_non_null(strstr(text.data, "[f(float\\*)]"));
    assert_non_null(strstr(text.data, "[f(float*, float*)]"));
    assert_non_null(strstr(text.data, "; left out: no ;name... is no name that a section can"));
    assert_non_null(strstr(text.data, "; left out:  nor this... is no name that a section can"));
    struct gp_thresholds *t = parsed(m, &text);
    assert_int_equal(t->count, 3);
    for (size_t i = 0; i < 3; i++) {
        struct gp_kernel_names names;
        int matches = 0;
        assert_true(gp_kernel_names_find(p.parts[i].kernel, &names));
        for (size_t k = 0; k < t->count; k++)
            matches += gp_selector_matches(&t->sections[k].selector, &names);
        assert_int_equal(matches, 1);
        gp_kernel_names_free(&names);
    }
    gp_thresholds_free(t);
    gp_text_free(&text);
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_all_lengths),
        cmocka_unit_test(kernels_that_are_launched_ten_thousand_times),
        cmocka_unit_test(noisier_machines),
        cmocka_unit_test(a_program_of_twenty_kernels),
        cmocka_unit_test(a_coarse_clock),
        cmocka_unit_test(the_times_show_the_tick),
        cmocka_unit_test(several_configurations),
        cmocka_unit_test(a_file_explains_several_configurations),
        cmocka_unit_test(launches_of_two_kinds),
        cmocka_unit_test(sampled_runs),
        cmocka_unit_test(exact_counts_have_no_margin),
        cmocka_unit_test(counts_that_vary_have_a_margin),
        cmocka_unit_test(counts_of_one_run_have_a_small_margin),
        cmocka_unit_test(a_file_explains_itself),
        cmocka_unit_test(a_margin_is_the_least_margin),
        cmocka_unit_test(a_margin_begins_at_the_mean),
        cmocka_unit_test(launches_without_a_value_break_no_bound),
        cmocka_unit_test(a_kernel_of_some_runs_is_not_required),
        cmocka_unit_test(names_may_have_any_length),
        cmocka_unit_test(a_section_is_for_one_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
