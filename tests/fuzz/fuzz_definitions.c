/* Definition files, and everything that is made of them. */
#include "metrics/metrics.h"

#include <stdint.h>
#include <stdlib.h>

static const struct gp_device devices[] = {
    {.cc_major = 9, .sm_count = 132, .clock_khz = 1980000, .warp_size = 32},
    {.cc_major = 3, .cc_minor = 5, .sm_count = 13, .event_counters = 1},
};

static void use(struct gp_metrics *m, const struct gp_device *device)
{
    const char **names = NULL;
    size_t count = 0;
    if (!gp_metrics_counters(m, device, &names, &count))
        return;
    /* Every second counter was measured. */
    struct gp_counter *counters = calloc(count + 1, sizeof(*counters));
    for (size_t i = 0; counters && i < count; i++)
        counters[i] =
            (struct gp_counter){.name = names[i],
                                .value = (double)i,
                                .absent = i % 2 ? GP_REASON_TEXT(OTHER, "odd") : GP_NO_REASON};
    const struct gp_record launch = {
        .kernel = "k",
        .grid = {8, 1, 1},
        .block = {32, 1, 1},
        .passes = 2,
        .counters = counters,
        .counter_count = counters ? count : 0,
    };
    struct gp_text text = {0};
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_selected(m, i);
        char why[GP_WHY_SIZE];
        double value;
        gp_metric_evaluate(metric, device, &launch, &value, NULL);
        gp_text_clear(&text);
        gp_metric_formula(metric, device, &text, why, sizeof(why));
    }
    gp_text_free(&text);
    free(counters);
    free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_parse("fuzz.ini", (const char *)bytes, size, &problems);
    if (m && gp_metrics_count(m) > 0 && gp_metrics_select(m, "all", &problems))
        for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
            use(m, &devices[i]);
    gp_metrics_close(m);
    gp_text_free(&problems);
    return 0;
}
