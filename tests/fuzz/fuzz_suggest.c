/* Thresholds that are proposed from launches with any numbers and names: the file must be readable,
 * and the runs that it was made from must keep to it. */
#include "check/suggest.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS 10

static struct gp_metrics *metrics;
static const char *const counters[COUNTERS] = {
    "gpu__time_duration.sum",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "smsp__sass_data_bytes_mem_global_op_ld.sum",
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
    "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_data_bytes_mem_global_op_st.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
};

struct bytes {
    const uint8_t *at, *end;
};

static unsigned take(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

static double take_number(struct bytes *b)
{
    static const double usual[] = {0,      -0.0,   1,      8000,   8032,  8064, 1e308,
                                   -1e308, 5e-324, 1e-9,   99.995, -1,    1e15, 4096,
                                   131072, 33.333, 1e-300, 1e9,    12345, 0.5};
    unsigned which = take(b);
    if (which < sizeof(usual) / sizeof(usual[0]))
        return usual[which];
    return (which + 256.0 * take(b)) * (which % 3 ? 1 : 0.037);
}

static void prepare(void)
{
    /* No files of the user. */
    setenv("HOME", "/nowhere", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("GPUPROF_METRICS_PATH");
    struct gp_text problems = {0};
    metrics = gp_metrics_open(&problems);
    gp_text_free(&problems);
    if (!metrics)
        abort();
}

/* Up to three kernels in each of a few configurations. */
static void add_launch(struct bytes *b, struct gp_judge *judge, char (*names)[64])
{
    struct gp_counter values[COUNTERS];
    const unsigned which = take(b), some = take(b);
    struct gp_record launch = {.kernel = names[which % 3],
                               .grid = {1 + which / 3 % 4, 1, 1},
                               .block = {32, 1, 1},
                               .shared_carveout = -1,
                               .skipped = some % 16 ? GP_NO_REASON : GP_REASON(RUNS_ONCE),
                               .counters = values};
    for (size_t i = 0; i < COUNTERS && some % 16; i++)
        if (some % 5 || i % 2)
            values[launch.counter_count++] =
                (struct gp_counter){.name = counters[i], .value = take_number(b)};
    for (unsigned repeats = 1 + some / 16; repeats > 0; repeats--)
        gp_judge_launch(judge, &launch);
    const struct gp_count count = {
        .kernel = launch.kernel, .configuration = launch.configuration, .launches = some};
    if (some % 7 == 0)
        gp_judge_count(judge, &count);
}

static size_t add_runs(struct bytes b, struct gp_judge *judge)
{
    const struct gp_device device = {.name = "G", .cc_major = 9, .sm_count = 2, .warp_size = 32};
    char names[3][64] = {"_Z1fPf", "_Z1fPfS_"};
    size_t runs = 0, length = take(&b) % 60;
    for (size_t i = 0; i < length; i++)
        names[2][i] = (char)(1 + take(&b) % 255);
    do {
        gp_judge_run(judge, "run");
        gp_judge_process(judge);
        gp_judge_device(judge, &device);
        for (unsigned launches = take(&b) % 8; launches > 0; launches--)
            add_launch(&b, judge, names);
        runs++;
    } while (b.at < b.end);
    return runs;
}

/* Bounds hold for the runs that they were made from, if these agree in their kernels' numbers; a
 * bound of a few runs may be broken by the one that lies far from all others. */
static void judge_again(struct bytes b, const struct gp_thresholds *t)
{
    struct gp_judge *judge = gp_judge_new(t, metrics);
    struct gp_verdict verdict = {0};
    if (!judge)
        abort();
    if (add_runs(b, judge) == 1) {
        gp_judge_finish(judge, &verdict);
        if (gp_verdict_status(&verdict) == GP_CHECK_VIOLATED) {
            for (size_t i = 0; i < verdict.count; i++)
                if (verdict.outcomes[i].status == GP_VIOLATED)
                    fprintf(stderr, "%s: %s\n", verdict.outcomes[i].kernel,
                            verdict.outcomes[i].message);
            abort();
        }
    }
    gp_verdict_free(&verdict);
    gp_judge_free(judge);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!metrics)
        prepare();
    const struct bytes b = {bytes, bytes + size};
    const struct gp_side_origin origin = {.device = {.name = "G", .cc_major = 9},
                                          .gpuprof = "0.1.0"};
    struct gp_suggest_values values;
    struct gp_text out = {0}, problems = {0};
    if (!gp_suggest_values_open(&values, metrics, &problems))
        abort();
    const struct gp_suggest_asked asked = {.margin = size % 2 ? 0.1 : 0,
                                           .from = "run",
                                           .runs = add_runs(b, values.judge),
                                           .origin = &origin};
    if (!gp_suggest_values_finish(&values))
        abort();
    gp_suggest_thresholds(&values, &asked, &out);
    struct gp_thresholds *t =
        gp_thresholds_parse("out", gp_text_string(&out), out.length, metrics, &problems);
    if (t)
        judge_again(b, t);
    else if (!strstr(gp_text_string(&problems), "there is no rule in it")) {
        fprintf(stderr, "%s\n%s\n", gp_text_string(&out), gp_text_string(&problems));
        abort();
    }
    gp_thresholds_free(t);
    gp_suggest_values_free(&values);
    gp_text_free(&out);
    gp_text_free(&problems);
    return 0;
}
