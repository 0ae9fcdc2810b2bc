/* check/compare, check/drift: made-up runs of an unchanged program (noise.h) raise no alarm. */
#include "check/comparison_verdict.h"
#include "check/drift.h"
#include "check/fold.h"

#include "h200.h"
#include "noise.h"
#include "shipped.h"

#include <stdio.h>

#define KERNELS 20

/* Twenty kernels of 3 to 60 us. */
struct program {
    int launches; /* of each in a run; 0: one to five */
    double slower;
};

static void add_launch(struct gp_fold *f, const char *kernel, uint64_t index, double time)
{
    const struct gp_counter counters[] = {
        {.name = "gpu__time_duration.sum", .value = 1e9 * time},
        {.name = "sm__warps_active.avg.pct_of_peak_sustained_active",
         .value = 80 * (1 + 0.002 * gaussian())},
        {.name = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum", .value = 4096},
        {.name = "dram__bytes_read.sum", .value = 5e7 * (1 + 0.0001 * gaussian())},
        {.name = "dram__bytes_write.sum", .value = fabs(1e5 + 6e4 * gaussian())}};
    const struct gp_record launch = {.index = index,
                                     .kernel = kernel,
                                     .grid = {1024, 1, 1},
                                     .block = {256, 1, 1},
                                     .shared_carveout = -1,
                                     .counter_count = sizeof(counters) / sizeof(counters[0]),
                                     .counters = counters};
    gp_fold_launch(f, &launch);
}

static void add_run(struct gp_fold *f, const struct program *p, double gpu)
{
    struct noisy_run run = noisy_run(&usual_noise, gpu);
    gp_fold_run(f);
    gp_fold_process(f, "0.1.0");
    gp_fold_device(f, &h200);
    for (int i = 0; i < KERNELS; i++) {
        struct noisy_run of_kernel = run;
        char name[16];
        snprintf(name, sizeof(name), "_Z2k%cv", 'a' + i);
        int launches = p->launches ? p->launches : 1 + i % 5;
        for (int n = 0; n < launches; n++)
            add_launch(f, name, (uint64_t)n, noisy_time(&of_kernel, p->slower * 3e-6 * (1 + i)));
    }
}

static struct gp_side side_of(const struct gp_metrics *m, const struct program *p, int runs)
{
    struct gp_side side = {0};
    char why[256] = "";
    struct gp_fold *f = gp_fold_new(m, &side);
    assert_non_null(f);
    for (int i = 0; i < runs; i++)
        add_run(f, p, 0);
    if (!gp_fold_finish(f, why, sizeof(why)))
        fail_msg("%s", why);
    return side;
}

static size_t violations(const struct gp_metrics *m, const struct gp_side *a,
                         const struct gp_side *b)
{
    struct gp_comparison c = {0};
    struct gp_verdict v = {0};
    assert_true(gp_compare(a, b, m, NULL, &c));
    gp_comparison_judge(&c, NULL, "b.json", &v);
    size_t count = v.violated;
    gp_verdict_free(&v);
    gp_comparison_free(&c);
    return count;
}

static size_t drifts(const struct gp_metrics *m, const struct gp_side *side)
{
    struct gp_verdict v = {0};
    gp_drift_judge(side, 11, m, NULL, "h.db", &v);
    size_t count = v.violated;
    gp_verdict_free(&v);
    return count;
}

static struct gp_metrics *metrics(void)
{
    struct gp_metrics *m = shipped();
    struct gp_text problems = {0};
    assert_true(gp_metrics_select(m,
                                  "duration,achieved_occupancy,gld_transactions,dram_read_bytes,"
                                  "dram_write_bytes",
                                  &problems));
    return m;
}

static void a_comparison_finds_no_change(void **state)
{
    (void)state;
    struct gp_metrics *m = metrics();
    int alarms = 0, found = 0, compared = 0;
    noise_seed = 1;
    for (int launches = 0; launches <= 20; launches += 10) {
        for (int runs = 1; runs <= 5; runs += 2) {
            for (int trial = 0; trial < 15; trial++) {
                const struct program as_it_was = {launches, 1}, now = {launches, 1.5};
                struct gp_side a = side_of(m, &as_it_was, runs), b = side_of(m, &as_it_was, runs),
                               slow = side_of(m, &now, runs);
                alarms += violations(m, &a, &b) > 0;
                found += violations(m, &a, &slow) > 0;
                compared++;
                gp_side_free(&a);
                gp_side_free(&b);
                gp_side_free(&slow);
            }
        }
    }
    if (alarms > 0 || found < compared)
        fail_msg("%d alarms in %d comparisons, %d changes found", alarms, compared, found);
    gp_metrics_close(m);
}

static void a_history_does_not_drift(void **state)
{
    (void)state;
    struct gp_metrics *m = metrics();
    int alarms = 0, judged = 0;
    noise_seed = 2;
    for (int runs = 5; runs <= 20; runs += 5) {
        for (int trial = 0; trial < 30; trial++) {
            const struct program once = {1, 1}, some = {0, 1};
            struct gp_side side = side_of(m, &once, runs), other = side_of(m, &some, runs);
            alarms += (drifts(m, &side) > 0) + (drifts(m, &other) > 0);
            judged += 2;
            gp_side_free(&side);
            gp_side_free(&other);
        }
    }
    if (alarms > 0)
        fail_msg("%d of %d histories of twenty kernels drift", alarms, judged);
    gp_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comparison_finds_no_change),
        cmocka_unit_test(a_history_does_not_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
