/* Files of rules: each section is a rule or a message, and every rule can be asked. */
#include "report/advice.h"
#include "report/rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct gp_metrics *m;
    static struct gp_summary *summary;
    struct gp_text problems = {0};
    if (!m) {
        static const struct gp_device device = {.cc_major = 9, .sm_count = 132, .warp_size = 32};
        static const struct gp_counter counter = {.name = "gpu__time_duration.sum", .value = 1e6};
        const struct gp_record launch = {.kernel = "k",
                                         .grid = {1, 1, 1},
                                         .block = {32, 1, 1},
                                         .counter_count = 1,
                                         .counters = &counter};
        setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
        m = gp_metrics_open(&problems);
        summary = m ? gp_summary_new(m) : NULL;
        if (!summary)
            abort();
        gp_summary_device(summary, &device);
        gp_summary_launch(summary, &launch);
    }
    struct gp_rules *rules = gp_rules_parse(m, "fuzz.ini", (const char *)bytes, size, &problems);
    struct gp_rows rows;
    struct gp_findings findings = {0};
    if (rules && gp_rows_make(&rows, summary)) {
        gp_findings_make(&findings, rules, &rows, NULL, NULL);
        for (size_t i = 0; i < findings.advice.count; i++)
            if (!(findings.advice.list[i].gain >= 0 && findings.advice.list[i].gain <= 1))
                abort();
        gp_findings_free(&findings);
        gp_rows_free(&rows);
    }
    gp_rules_close(rules);
    gp_text_free(&problems);
    return 0;
}
