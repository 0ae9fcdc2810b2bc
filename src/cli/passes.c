#include "cli/passes.h"

#include "base/log.h"
#include "cli/apart.h"
#include "cli/chip.h"
#include "cli/cli.h"
#include "cli/counters.h"

#include <stdlib.h>

struct listing {
    struct gp_metrics *metrics;
    const struct gp_device *device;
    const char *chip;
    struct gp_text *out;
    bool has_apart; /* a row of NVLink's and PCIe's counters was added */
};

static int fail(const char *why)
{
    gp_say("%s", why);
    return CLI_FAILED;
}

/* The row of those counters of the selection that CUPTI counts together. */
static int add_row(struct listing *l, const char *name, const char *const *counters, size_t count,
                   size_t metrics)
{
    struct gp_chip_passes passes = {0};
    const char *why;
    if (!gp_chip_count_passes(l->chip, counters, count, &passes, &why))
        return fail(why);
    gp_text_addf(l->out, "%-12s %8u %12u %8zu\n", name, passes.hardware, passes.instrumented,
                 metrics);
    return CLI_OK;
}

/* Puts the counters of NVLink and PCIe behind the others; returns how many those are. */
static size_t part(const char **counters, size_t count, const char **ordered)
{
    size_t others = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        if (!cli_counter_is_apart(counters[i]))
            ordered[others++] = counters[i];
    for (size_t i = 0; i < count; i++)
        if (cli_counter_is_apart(counters[i]))
            ordered[others + at++] = counters[i];
    return others;
}

static size_t count_apart(const struct listing *l)
{
    size_t apart = 0;
    for (size_t i = 0; i < gp_metrics_selected_count(l->metrics); i++)
        apart += cli_metric_is_apart(gp_metrics_selected(l->metrics, i), l->device);
    return apart;
}

static bool bars_apart(const struct listing *l)
{
    for (size_t i = 0; i < gp_metrics_selected_count(l->metrics); i++)
        if (cli_metric_bars_apart(gp_metrics_selected(l->metrics, i), l->device))
            return true;
    return false;
}

/* A row for the selection, and one for the counters that need a run of their own. */
static int add_rows(struct listing *l, const char *name)
{
    const char **counters = NULL;
    size_t count = 0;
    if (!gp_metrics_counters(l->metrics, l->device, &counters, &count))
        return fail("out of memory");
    const char **ordered = calloc(count + 1, sizeof(*ordered));
    int answer = ordered ? CLI_OK : fail("out of memory");
    const size_t selected = gp_metrics_selected_count(l->metrics), apart = count_apart(l);
    if (answer == CLI_OK && (!apart || !bars_apart(l))) {
        answer = add_row(l, name, counters, count, selected);
    } else if (answer == CLI_OK) {
        const size_t others = part(counters, count, ordered);
        answer = add_row(l, name, ordered, others, selected - apart);
        if (answer == CLI_OK)
            answer = add_row(l, "NVLink, PCIe", ordered + others, count - others, apart);
        l->has_apart = true;
    }
    free(ordered);
    free(counters);
    return answer;
}

static int list_one(struct listing *l, const char *name, const char *list)
{
    struct gp_text problems = {0}, resolved = {0};
    bool selected = cli_resolve_metrics(list, l->chip, &resolved, &problems) &&
                    gp_metrics_select(l->metrics, gp_text_string(&resolved), &problems);
    gp_say_lines("", gp_text_string(&problems));
    gp_text_free(&problems);
    gp_text_free(&resolved);
    return selected ? add_rows(l, name) : CLI_USAGE;
}

static int list_sets(struct listing *l)
{
    int answer = list_one(l, "default", "default");
    for (size_t i = 0; answer == CLI_OK && i < gp_metrics_set_count(l->metrics); i++) {
        const char *name = gp_metrics_set_at(l->metrics, i)->name;
        answer = list_one(l, name, name);
    }
    return answer == CLI_OK ? list_one(l, "all", "all") : answer;
}

static int list_together(struct listing *l, char **names, int count)
{
    struct gp_text list = {0};
    for (int i = 0; i < count; i++)
        gp_text_addf(&list, "%s%s", i ? "," : "", names[i]);
    int answer = list_one(l, count == 1 ? names[0] : "together", gp_text_string(&list));
    gp_text_free(&list);
    return answer;
}

int cli_list_passes(struct gp_metrics *m, const struct gp_device *device, const char *chip,
                    char **names, int count, struct gp_text *out)
{
    struct listing l = {.metrics = m, .device = device, .chip = chip, .out = out};
    if (!chip) {
        gp_say("--passes: CUPTI knows no chip of this compute capability; --chip names one");
        return CLI_USAGE;
    }
    gp_text_addf(out, "runs of a kernel on %s, beside the program's own\n\n", chip);
    gp_text_addf(out, "%-12s %8s %12s %8s\n", "set", "hardware", "instrumented", "metrics");
    int answer = count ? list_together(&l, names, count) : list_sets(&l);
    if (l.has_apart)
        gp_text_add(out, "\n" CLI_APART ": ask for these metrics in a run of their own.\n");
    return answer;
}
