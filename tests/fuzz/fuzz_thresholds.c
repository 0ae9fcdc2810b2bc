/* Files of thresholds and of tolerances; launches and names are judged by those that can be
 * read. */
#include "check/format.h"
#include "check/judge.h"
#include "check/tolerance.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct gp_device device = {.name = "G",
                                        .cc_major = 9,
                                        .sm_count = 132,
                                        .clock_khz = 1980000,
                                        .warp_size = 32,
                                        .max_threads_per_sm = 2048};

static void judge(const struct gp_thresholds *t, const struct gp_metrics *m)
{
    static const char *const kernels[] = {"k", "_Z9vectorAddPKfS0_Pfi", "_Z3addIfEvPT_"};
    static const struct gp_counter counters[] = {
        {.name = "gpu__time_duration.sum", .value = 1000},
        {.name = "smsp__inst_executed.sum", .value = -1},
        {.name = "dram__bytes_read.sum", .absent = GP_REASON_TEXT(OTHER, "not there")},
    };
    struct gp_judge *j = gp_judge_new(t, m);
    struct gp_verdict v = {0};
    struct gp_text out = {0};
    gp_judge_process(j);
    gp_judge_device(j, &device);
    for (unsigned i = 0; i < 6; i++) {
        const struct gp_record launch = {.index = i,
                                         .kernel = kernels[i % 3],
                                         .grid = {1 + i, 1, 1},
                                         .block = {32, 1, 1},
                                         .passes = 2,
                                         .counters = counters,
                                         .counter_count = i % 4};
        gp_judge_launch(j, &launch);
    }
    gp_judge_finish(j, &v);
    gp_verdict_sort(&v);
    const struct gp_occasion occasion = {.title = "t", .held = "", .host = "h", .time = "t"};
    for (const struct gp_format *f = gp_formats; f->name; f++) {
        gp_text_clear(&out);
        f->write(&v, &occasion, &out);
        if (out.failed)
            abort();
    }
    gp_text_free(&out);
    gp_verdict_free(&v);
    gp_judge_free(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* Formulas become metrics, so each input has its own. */
    static const char definitions[] =
        "[duration]\nunit = s\nformula = gpu__time_duration.sum / 1e9\n"
        "[inst]\nunit = count\nformula = smsp__inst_executed.sum\n"
        "[share]\nunit = %\nformula = 100 * inst / duration\n";
    struct gp_text problems = {0};
    struct gp_metrics *m =
        gp_metrics_parse("fuzz.ini", definitions, sizeof(definitions) - 1, &problems);
    if (!m)
        return 0;
    struct gp_thresholds *t = gp_thresholds_parse("t.ini", (const char *)bytes, size, m, &problems);
    if (t)
        judge(t, m);
    else if (problems.length == 0)
        abort(); /* a refused file has a reason */
    gp_thresholds_free(t);
    gp_text_clear(&problems);
    struct gp_tolerances *rules =
        gp_tolerances_parse("t.ini", (const char *)bytes, size, &problems);
    if (!rules && problems.length == 0)
        abort();
    gp_tolerance_of(rules, "vectorAdd(float*)", "duration");
    gp_tolerance_fails(rules, "vectorAdd(float*)", GP_EVENT_NEW);
    gp_tolerances_free(rules);
    gp_metrics_close(m);
    gp_text_free(&problems);
    return 0;
}
