/* Baselines: read, written again, compared with another and judged for drifts. */
#include "check/baseline.h"
#include "check/comparison_verdict.h"
#include "check/drift.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct gp_metrics *metrics;
static struct gp_side other;

static const char other_text[] =
    "{\"type\": \"gpuprof baseline\", \"format\": 1, \"gpuprof\": \"0.1.0\", \"gpu\": {\"name\": "
    "\"G\", \"chip\": \"\", \"cc_major\": 9, \"cc_minor\": 0, \"event_counters\": 0, "
    "\"driver_version\": 1, \"cupti_version\": 1}, \"runs\": 2, \"kernels\": [{\"name\": "
    "\"add<float>(float*)\", \"grid\": [8, 1, 1], \"block\": [32, 1, 1], \"shared_dynamic\": 0, "
    "\"shared_static\": 0, \"registers\": 16, \"local_bytes\": 0, \"launches\": 4, \"runs\": 2, "
    "\"metrics\": {\"duration\": {\"medians\": [1e-6, 2e-6], \"spread\": 1e-8, \"min\": 1e-6, "
    "\"max\": 2e-6, \"launches\": 4}, \"gld_efficiency\": 50}}]}";

static void prepare(void)
{
    setenv("HOME", "/nowhere", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("GPUPROF_METRICS_PATH");
    struct gp_text problems = {0};
    char why[256];
    metrics = gp_metrics_open(&problems);
    gp_text_free(&problems);
    if (!metrics ||
        !gp_baseline_parse("other", other_text, sizeof(other_text) - 1, &other, why, sizeof(why)))
        abort();
}

static void compare(const struct gp_side *a, const struct gp_side *b)
{
    struct gp_comparison c = {0};
    struct gp_verdict v = {0};
    struct gp_text out = {0};
    if (!gp_compare(a, b, metrics, NULL, &c))
        abort();
    gp_comparison_judge(&c, NULL, "b.json", &v);
    gp_comparison_table(&c, "a", "b", 3, &out);
    gp_text_free(&out);
    gp_verdict_free(&v);
    gp_comparison_free(&c);
}

static void use(const struct gp_side *side)
{
    struct gp_text text = {0};
    struct gp_side again = {0};
    struct gp_verdict v = {0};
    char why[512];
    gp_baseline_write(side, &text);
    /* A baseline that was written can be read. */
    if (text.failed ||
        !gp_baseline_parse("again", text.data, text.length, &again, why, sizeof(why)))
        abort();
    compare(side, &other);
    compare(&other, side);
    compare(side, &again);
    gp_drift_judge(side, 5, metrics, NULL, "b.json", &v);
    gp_verdict_free(&v);
    gp_side_free(&again);
    gp_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!metrics)
        prepare();
    struct gp_side side = {0};
    char why[512] = "";
    if (gp_baseline_parse("fuzz", (const char *)bytes, size, &side, why, sizeof(why)))
        use(&side);
    else if (!why[0])
        abort();
    gp_side_free(&side);
    return 0;
}
