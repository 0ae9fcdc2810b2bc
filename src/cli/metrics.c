#include "cli/cli.h"
#include "cli/counters.h"
#include "cli/passes.h"
#include "cli/rule_values.h"

#include "base/log.h"
#include "cli/chip.h"
#include "cli/target.h"
#include "metrics/definitions.h"
#include "metrics/facts.h"
#include "metrics/metrics.h"
#include "metrics/weight.h"
#include "report/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHIP, CC, PASSES, FACTS, RULES, MARKDOWN, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [CHIP] = {.name = "chip",
              .argument = "NAME",
              .help = "for this chip (GH100); else for this machine's GPU"},
    [CC] = {.name = "cc", .argument = "X.Y", .help = "for this compute capability (9.0)"},
    [PASSES] = {.name = "passes",
                .help = "how often a kernel runs for each set, or for the metrics named, together"},
    [FACTS] = {.name = "facts",
               .help = "list the facts of devices and launches that a formula may use"},
    [RULES] = {.name = "rules",
               .help = "list the rules of advice, and the values that one may use"},
    [MARKDOWN] = {.name = "markdown",
                  .help = "every metric and set with all its formulas, in Markdown"},
};

/* The subject of a question. */
struct subject {
    struct gp_device device;
    const char *chip; /* NULL: CUPTI cannot be asked */
    struct cli_target target;
};

/* ---- which device ---- */

static bool find_subject(struct subject *s, const char *const *values)
{
    const struct gp_chip_name *chip = gp_chip_name_of(9, 0);
    if (values[CHIP] && !cli_check_chip(values[CHIP]))
        return false;
    if (values[CC] && !values[CHIP]) {
        int cc_major, cc_minor;
        if (!gp_cc_parse(values[CC], &cc_major, &cc_minor)) {
            gp_say("--cc: '%s' is no compute capability; write it like 9.0", values[CC]);
            return false;
        }
        chip = gp_chip_name_of(cc_major, cc_minor);
        cli_target_of(&s->target, cc_major, cc_minor);
    } else {
        cli_target_find(&s->target, values[CHIP]);
        if (s->target.known)
            chip = gp_chip_name_find(s->target.chip);
    }
    s->device = s->target.device;
    s->chip = chip ? chip->name : NULL;
    return true;
}

/* ---- one metric ---- */

static void add_part(struct gp_text *out, const char *what, const char *text)
{
    if (!text[0])
        return;
    gp_text_addf(out, "    %s", what);
    gp_wrap(out, 6, text);
}

static void add_counters(const char *const *names, size_t count, const struct subject *s,
                         struct gp_text *out)
{
    struct gp_text list = {0};
    struct gp_reason *unavailable = calloc(count + 1, sizeof(*unavailable));
    const char *why;
    bool asked = unavailable && s->chip && gp_chip_try(s->chip, names, count, unavailable, &why);
    for (size_t i = 0; i < count; i++) {
        gp_text_addf(&list, "%s%s", i ? ", " : "", names[i]);
        if (asked && unavailable[i].cause)
            gp_text_addf(&list, " (%s)", unavailable[i].text);
    }
    add_part(out, "counters: ", gp_text_string(&list));
    gp_text_free(&list);
    free(unavailable);
}

/* "2 of the hardware and 1 of instrumented code" */
static void add_passes(const struct gp_chip_passes *p, struct gp_text *out)
{
    if (p->hardware || !p->instrumented)
        gp_text_addf(out, "%u of the hardware", p->hardware);
    if (p->instrumented)
        gp_text_addf(out, "%s%u of instrumented code", p->hardware ? " and " : "", p->instrumented);
}

static void add_cost(const struct gp_metrics *m, const struct gp_metric *metric,
                     const struct subject *s, struct gp_text *out)
{
    const char **names, *why;
    size_t count;
    struct gp_chip_passes passes;
    struct gp_text text = {0};
    if (!gp_metric_counters(m, metric, &s->device, &names, &count))
        return;
    if (count) {
        add_counters(names, count, s, out);
        if (s->chip && gp_chip_count_passes(s->chip, names, count, &passes, &why)) {
            gp_text_addf(&text, "%s: ", s->chip);
            add_passes(&passes, &text);
            add_part(out, "passes on ", gp_text_string(&text));
        }
    }
    gp_text_free(&text);
    free(names);
}

static void add_metric(const struct gp_metrics *m, const struct gp_metric *metric,
                       const struct subject *s, struct gp_text *out)
{
    char why[GP_WHY_SIZE];
    struct gp_text formula = {0}, weight = {0};
    gp_text_addf(out, "\n%s%s%s%s%s%s\n", metric->name, metric->unit[0] ? " (" : "", metric->unit,
                 metric->unit[0] ? ")" : "", metric->in_default_set ? ", default" : "",
                 metric->user_defined ? ", user-defined" : "");
    add_part(out, "", metric->description);
    if (gp_metric_formula(metric, &s->device, &formula, why, sizeof(why))) {
        add_part(out, "= ", gp_text_string(&formula));
        gp_metric_weighting_text(metric, &s->device, &weight);
        add_part(out, "mean of several launches weighted by: ", gp_text_string(&weight));
        add_part(out, "source: ", gp_metric_source(metric, &s->device));
        add_part(out, "nvprof: ", metric->nvprof);
        add_cost(m, metric, s, out);
    } else {
        add_part(out, "absent: ", why);
    }
    gp_text_free(&formula);
    gp_text_free(&weight);
}

/* ---- lists ---- */

static void add_line(const struct gp_metric *metric, struct gp_text *out)
{
    const char *absent = gp_metric_absent(metric);
    char head[80];
    snprintf(head, sizeof(head), "  %s%s%s%s", metric->name, metric->unit[0] ? " (" : "",
             metric->unit, metric->unit[0] ? ")" : "");
    gp_text_addf(out, "%-44s ", head);
    if (absent) {
        gp_text_add(out, "absent: ");
        gp_wrap(out, 45, absent);
    } else {
        gp_wrap(out, 45, metric->description);
    }
}

/* Every metric in a line, by class. */
static void add_overview(const struct gp_metrics *m, struct gp_text *out)
{
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const char *metric_class = gp_metrics_at(m, i)->metric_class;
        if (!gp_metrics_begins_class(m, i))
            continue;
        gp_text_addf(out, "\n%s\n", metric_class[0] ? metric_class : "other");
        for (size_t k = i; k < gp_metrics_count(m); k++)
            if (strcmp(gp_metrics_at(m, k)->metric_class, metric_class) == 0)
                add_line(gp_metrics_at(m, k), out);
    }
    gp_text_add(out, "\nsets\n");
    for (size_t i = 0; i < gp_metrics_set_count(m); i++) {
        gp_text_addf(out, "  %-42s ", gp_metrics_set_at(m, i)->name);
        gp_wrap(out, 45, gp_metrics_set_at(m, i)->description);
    }
    gp_text_add(out, "\n'gpuprof metrics NAME' explains one, 'gpuprof metrics --passes' the cost "
                     "of sets;\n'--rules' lists the rules of advice and their values, '--facts' "
                     "the facts of a GPU.\n");
}

/* The metrics asked for. */
static int explain(struct gp_metrics *m, const struct subject *s, int count, char **names,
                   struct gp_text *out)
{
    int answer = CLI_OK;
    gp_text_addf(out, "formulas for compute capability %d.%d\n", s->device.cc_major,
                 s->device.cc_minor);
    for (int i = 0; i < count; i++) {
        struct gp_text problems = {0}, resolved = {0};
        const struct gp_metric *metric = gp_metrics_find(m, names[i]);
        if (metric) {
            add_metric(m, metric, s, out);
        } else if (cli_resolve_metrics(names[i], s->chip, &resolved, &problems) &&
                   gp_metrics_select(m, gp_text_string(&resolved), &problems)) {
            for (size_t k = 0; k < gp_metrics_selected_count(m); k++)
                add_metric(m, gp_metrics_selected(m, k), s, out);
        } else if (!cli_explain_rule_value(names[i], out)) {
            gp_say_lines("", gp_text_string(&problems));
            answer = CLI_USAGE;
        }
        gp_text_free(&problems);
        gp_text_free(&resolved);
    }
    return answer;
}

static void add_facts(struct gp_text *out)
{
    for (size_t i = 0; i < gp_fact_count(); i++) {
        gp_text_addf(out, "%-36s ", gp_fact_at(i)->name);
        gp_wrap(out, 37, gp_fact_at(i)->help);
    }
}

/* ---- the command ---- */

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

static int answer_with(struct gp_metrics *m, const char *const *values, int count, char **names,
                       struct gp_text *out)
{
    struct subject s = {0};
    if (values[MARKDOWN]) {
        cli_add_reference(m, out);
        return CLI_OK;
    }
    if (count == 0 && !values[PASSES]) {
        add_overview(m, out);
        return CLI_OK;
    }
    if (!find_subject(&s, values))
        return CLI_USAGE;
    return values[PASSES] ? cli_list_passes(m, &s.device, s.chip, names, count, out)
                          : explain(m, &s, count, names, out);
}

static int run_metrics(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT];
    int status, first = cli_parse(self, argc, argv, values, &status);
    if (first < 0)
        return status;
    struct gp_text out = {0};
    const char *whole = values[FACTS]      ? "facts"
                        : values[RULES]    ? "rules"
                        : values[MARKDOWN] ? "markdown"
                                           : NULL;
    if (whole && first < argc) {
        gp_say("--%s lists all and takes no name: '%s'", whole, argv[first]);
        return CLI_USAGE;
    }
    if (values[FACTS]) {
        add_facts(&out);
        return cli_print(&out);
    }
    if ((values[CHIP] || values[CC]) && argc == first && !values[PASSES]) {
        gp_say("--%s: the name of a metric is missing, or --passes", values[CHIP] ? "chip" : "cc");
        return CLI_USAGE;
    }
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    int answer = CLI_OK;
    if (!values[RULES])
        answer = answer_with(m, values, argc - first, argv + first, &out);
    else if (!cli_add_rules(m, &out))
        answer = CLI_FAILED;
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
    .help = "List the metrics; explain those named: unit, meaning, formula, source, counters and "
            "passes.",
    .run = run_metrics,
    .options = options,
    .option_count = OPTION_COUNT,
};
