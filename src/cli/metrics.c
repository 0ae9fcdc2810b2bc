#include "cli/cli.h"

#include "base/log.h"
#include "metrics/definitions.h"
#include "metrics/facts.h"
#include "metrics/metrics.h"
#include "report/layout.h"

#include <stdio.h>
#include <string.h>

enum { CC, FACTS, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [CC] = {"cc", 0, "X.Y", "show the formulas for this compute capability (9.0)"},
    [FACTS] = {"facts", 0, NULL, "list the facts of devices and launches that a formula may use"},
};

static void add_metric(const struct gp_metric *metric, const struct gp_device *device,
                       struct gp_text *out)
{
    char why[GP_WHY_SIZE];
    struct gp_text formula = {0};
    gp_text_addf(out, "\n%s%s%s%s%s%s\n", metric->name, metric->unit[0] ? " (" : "", metric->unit,
                 metric->unit[0] ? ")" : "", metric->in_default_set ? ", default" : "",
                 metric->user_defined ? ", user-defined" : "");
    if (metric->description[0]) {
        gp_text_add(out, "    ");
        gp_wrap(out, 4, metric->description);
    }
    if (gp_metric_formula(metric, device, &formula, why, sizeof(why)) == 0) {
        gp_text_add(out, "    = ");
        gp_wrap(out, 6, gp_text_string(&formula));
    } else {
        gp_text_add(out, "    absent: ");
        gp_wrap(out, 6, why);
    }
    const char *source = gp_metric_source(metric, device);
    if (source[0]) {
        gp_text_add(out, "    source: ");
        gp_wrap(out, 6, source);
    }
    gp_text_free(&formula);
}

static void add_facts(struct gp_text *out)
{
    for (size_t i = 0; i < gp_fact_count(); i++) {
        gp_text_addf(out, "%-36s ", gp_fact_at(i)->name);
        gp_wrap(out, 37, gp_fact_at(i)->help);
    }
}

/* The metrics asked for, all when none were. */
static int list_metrics(struct gp_metrics *m, const struct gp_device *device, int count,
                        char **names, struct gp_text *out)
{
    int answer = CLI_OK;
    gp_text_addf(out, "formulas for compute capability %d.%d\n", device->cc_major,
                 device->cc_minor);
    for (size_t i = 0; count == 0 && i < gp_metrics_count(m); i++)
        add_metric(gp_metrics_at(m, i), device, out);
    for (int i = 0; i < count; i++) {
        struct gp_text problems = {0};
        if (gp_metrics_select(m, names[i], &problems) == 0) {
            for (size_t k = 0; k < gp_metrics_selected_count(m); k++)
                add_metric(gp_metrics_selected(m, k), device, out);
        } else {
            gp_say_lines("", gp_text_string(&problems));
            answer = CLI_USAGE;
        }
        gp_text_free(&problems);
    }
    return answer;
}

struct gp_metrics *cli_open_metrics(void)
{
    struct gp_text problems = {0};
    struct gp_metrics *m = gp_metrics_open(&problems);
    gp_say_lines("", gp_text_string(&problems));
    gp_text_free(&problems);
    if (!m)
        gp_say("out of memory");
    return m;
}

static int run_metrics(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT];
    int status, first = cli_parse(self, argc, argv, values, &status);
    if (first < 0)
        return status;
    struct gp_device device = {.cc_major = 9};
    if (values[CC] && gp_cc_parse(values[CC], &device.cc_major, &device.cc_minor) != 0) {
        gp_say("--cc: '%s' is no compute capability; write it like 9.0", values[CC]);
        return CLI_USAGE;
    }
    device.event_counters =
        device.cc_major < 7; /* later ones have ranges, with a CUPTI that does */
    struct gp_text out = {0};
    if (values[FACTS]) {
        add_facts(&out);
        return cli_print(&out);
    }
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    int answer = list_metrics(m, &device, argc - first, argv + first, &out);
    gp_metrics_close(m);
    if (answer != CLI_OK) {
        gp_text_free(&out);
        return answer;
    }
    return cli_print(&out);
}

const struct cli_command cli_metrics = {
    .name = "metrics",
    .arguments = "[options] [METRIC...]",
    .help = "List the metrics: unit, meaning, formula and source.",
    .run = run_metrics,
    .options = options,
    .option_count = OPTION_COUNT,
};
