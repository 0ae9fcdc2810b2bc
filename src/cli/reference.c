/* `gpuprof metrics --markdown`: every metric, from the definitions. Says nothing of this machine,
 * so it is the same everywhere. */
#include "cli/cli.h"

#include "cli/chip.h"

#include <string.h>

/* One chip of each compute capability, for the differences. */
static const struct gp_device devices[] = {
    {.cc_major = 9},
    {.cc_major = 7, .cc_minor = 5},
    {.cc_major = 8},
    {.cc_major = 8, .cc_minor = 6},
    {.cc_major = 8, .cc_minor = 9},
    {.cc_major = 10},
    {.cc_major = 12},
    {.cc_major = 3, .cc_minor = 5, .event_counters = 1},
    {.cc_major = 6, .event_counters = 1},
};
#define DEVICES (sizeof(devices) / sizeof(devices[0]))

static void add_escaped(struct gp_text *out, const char *text)
{
    for (const char *p = text; *p; p++)
        gp_text_addf(out, *p == '|' || *p == '<' ? "\\%c" : "%c", *p);
}

/* The formula on the device, or why there is none. */
static void formula_on(const struct gp_metric *metric, const struct gp_device *device,
                       struct gp_text *formula)
{
    char why[GP_WHY_SIZE];
    gp_text_clear(formula);
    if (!gp_metric_formula(metric, device, formula, why, sizeof(why)))
        gp_text_addf(formula, "absent: %s", why);
}

/* Formulas that differ from the first device's, each with the devices that have it. */
static void add_formulas(const struct gp_metric *metric, struct gp_text *out)
{
    struct gp_text formulas[DEVICES] = {{0}};
    for (size_t d = 0; d < DEVICES; d++)
        formula_on(metric, &devices[d], &formulas[d]);
    gp_text_addf(out, "- `%s`\n", gp_text_string(&formulas[0]));
    for (size_t d = 1; d < DEVICES; d++) {
        const char *formula = gp_text_string(&formulas[d]);
        size_t same = 0;
        while (strcmp(gp_text_string(&formulas[same]), formula) != 0)
            same++;
        if (same < d || strstr(formula, "is not defined for"))
            continue;
        gp_text_addf(out, "- compute capability %d.%d", devices[d].cc_major, devices[d].cc_minor);
        for (size_t k = d + 1; k < DEVICES; k++)
            if (strcmp(gp_text_string(&formulas[k]), formula) == 0)
                gp_text_addf(out, ", %d.%d", devices[k].cc_major, devices[k].cc_minor);
        gp_text_addf(out, ": `%s`\n", formula);
    }
    for (size_t d = 0; d < DEVICES; d++)
        gp_text_free(&formulas[d]);
}

static void add_metric(const struct gp_metric *metric, struct gp_text *out)
{
    gp_text_addf(out, "\n### %s\n\n", metric->name);
    add_escaped(out, metric->description);
    gp_text_addf(out, ". Unit: %s%s.\n\n", metric->unit[0] ? metric->unit : "none",
                 metric->in_default_set ? "; in the default set" : "");
    const char *absent = gp_metric_absent(metric);
    if (absent) {
        gp_text_addf(out, "Absent: %s.\n", absent);
        return;
    }
    add_formulas(metric, out);
    gp_text_add(out, "- source: ");
    add_escaped(out, metric->source);
    gp_text_add(out, "\n");
    if (metric->nvprof[0])
        gp_text_addf(out, "- nvprof: %s\n", metric->nvprof);
}

void cli_add_reference(const struct gp_metrics *m, struct gp_text *out)
{
    gp_text_add(
        out, "# Metrics reference\n\n"
             "Every metric, written from its definition by `gpuprof metrics --markdown`. The first "
             "formula is that of compute capability 9.0, others are given where they differ.\n\n"
             "## sets\n\n| set | metrics |\n| --- | --- |\n| default |");
    size_t said = 0;
    for (size_t i = 0; i < gp_metrics_count(m); i++)
        if (gp_metrics_at(m, i)->in_default_set)
            gp_text_addf(out, "%s %s", said++ ? "," : "", gp_metrics_at(m, i)->name);
    gp_text_add(out, " |\n");
    for (size_t i = 0; i < gp_metrics_set_count(m); i++)
        gp_text_addf(out, "| %s: %s | %s |\n", gp_metrics_set_at(m, i)->name,
                     gp_metrics_set_at(m, i)->description, gp_metrics_set_at(m, i)->metrics);
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const char *metric_class = gp_metrics_at(m, i)->metric_class;
        if (!gp_metrics_begins_class(m, i))
            continue;
        gp_text_addf(out, "\n## %s\n", metric_class);
        for (size_t k = i; k < gp_metrics_count(m); k++)
            if (strcmp(gp_metrics_at(m, k)->metric_class, metric_class) == 0)
                add_metric(gp_metrics_at(m, k), out);
    }
}
