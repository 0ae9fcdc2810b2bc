#include "cli/run_metrics.h"

#include "base/log.h"
#include "base/text.h"
#include "cli/apart.h"
#include "cli/chip.h"
#include "cli/counters.h"
#include "cli/target.h"
#include "metrics/metrics.h"
#include "report/nvprof_values.h"

#include <stdio.h>
#include <string.h>

/* One of the two options. */
struct asked {
    const char *option, *list;
    struct gp_text *resolved;
};

static struct gp_text metrics_list, events_list;

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* The next name of a list behind *at, "" at its end. */
static void next_word(const char **at, char *word, size_t size)
{
    *at += strspn(*at, ", \t\n");
    size_t length = strcspn(*at, ", \t\n");
    snprintf(word, size, "%.*s", (int)length, *at);
    *at += length;
}

static bool is_set(const struct gp_metrics *m, const char *name)
{
    if (strcmp(name, "default") == 0 || strcmp(name, "all") == 0)
        return true;
    for (size_t i = 0; i < gp_metrics_set_count(m); i++)
        if (strcmp(gp_metrics_set_at(m, i)->name, name) == 0)
            return true;
    return false;
}

static bool has_set(const struct gp_metrics *m, const char *list)
{
    char word[256];
    for (next_word(&list, word, sizeof(word)); *word; next_word(&list, word, sizeof(word)))
        if (is_set(m, word))
            return true;
    return false;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* In --events `all` is every event, as in nvprof. */
static void add_all_events(const struct gp_metrics *m, struct gp_text *list)
{
    for (size_t i = 0; i < gp_metrics_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_at(m, i);
        if (gp_nvprof_has_event(metric) && !gp_metric_absent(metric))
            gp_text_addf(list, "%s%s", list->length ? "," : "", metric->name);
    }
}

static void expand_events(const struct gp_metrics *m, const char *list, struct gp_text *out)
{
    while (*(list += strspn(list, ", \t\n"))) {
        size_t length = strcspn(list, ", \t\n");
        if (is_word(list, length, "all")) {
            add_all_events(m, out);
        } else {
            gp_text_add(out, out->length ? "," : "");
            gp_text_add_bytes(out, list, length);
        }
        list += length;
    }
}

/* A counter may be called a metric or an event. */
static bool may_be_event(const struct gp_metric *metric)
{
    return gp_nvprof_has_event(metric) || strcmp(metric->metric_class, "counter") == 0;
}

static bool are_events(const struct gp_metrics *m, const char *list)
{
    char word[256];
    for (next_word(&list, word, sizeof(word)); *word; next_word(&list, word, sizeof(word))) {
        const struct gp_metric *metric = gp_metrics_find(m, word);
        bool is_event = metric ? may_be_event(metric) : !is_set(m, word);
        if (is_event || strcmp(word, "all") == 0)
            continue;
        gp_say("--events: '%s' is a %s, no event; ask for it with --metrics", word,
               metric ? "metric" : "set");
        return false;
    }
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Whether the names are there, on any GPU. */
static bool check_names(struct gp_metrics *m, const struct asked *asked, const char *chip)
{
    struct gp_text list = {0}, problems = {0};
    char before[32];
    if (!asked->list[strspn(asked->list, ", \t\n")]) {
        gp_say("%s: the list is empty", asked->option);
        return false;
    }
    if (asked->resolved == &events_list)
        expand_events(m, asked->list, &list);
    else
        gp_text_add(&list, asked->list);
    gp_text_clear(asked->resolved);
    bool good = cli_resolve_metrics(gp_text_string(&list), chip, asked->resolved, &problems) &&
                gp_metrics_select(m, gp_text_string(asked->resolved), &problems);
    snprintf(before, sizeof(before), "%s: ", asked->option);
    gp_say_lines(before, gp_text_string(&problems));
    gp_text_free(&problems);
    gp_text_free(&list);
    return good && (asked->resolved != &events_list || are_events(m, asked->list));
}

/* ---- this GPU -------------------------------------------------------------------------------- */

static bool is_defined_for(const struct gp_metric *metric, int cc_major, int cc_minor)
{
    struct cli_target target;
    char why[GP_WHY_SIZE];
    cli_target_of(&target, cc_major, cc_minor);
    return cli_target_has(&target, metric, why, sizeof(why));
}

/* Then no GPU has to be asked for, which may take a second. */
static bool is_defined_everywhere(const struct gp_metric *metric)
{
    static const int old[][2] = {{3, 0}, {3, 5}, {3, 7}, {5, 0}, {5, 2}, {6, 0}, {6, 1}, {7, 0}};
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        if (!is_defined_for(metric, old[i][0], old[i][1]))
            return false;
    for (size_t i = 0; i < gp_chip_name_count(); i++) {
        const struct gp_chip_name *chip = gp_chip_name_at(i);
        if (!is_defined_for(metric, chip->cc_major, chip->cc_minor))
            return false;
    }
    return true;
}

/* Whether a metric of the list, named itself, is one that some GPUs do not have. */
static bool is_worth_asking(const struct gp_metrics *m, const char *list)
{
    char word[256];
    for (next_word(&list, word, sizeof(word)); *word; next_word(&list, word, sizeof(word))) {
        const struct gp_metric *metric = gp_metrics_find(m, word);
        if (metric && !is_defined_everywhere(metric))
            return true;
    }
    return false;
}

/* Says which metrics, named themselves, the GPU does not have. */
static void say_absent(const struct gp_metrics *m, const struct asked *asked,
                       const struct cli_target *target)
{
    const char *at = asked->list;
    char word[256], why[GP_WHY_SIZE];
    for (next_word(&at, word, sizeof(word)); *word; next_word(&at, word, sizeof(word))) {
        const struct gp_metric *metric = gp_metrics_find(m, word);
        if (metric && !cli_target_has(target, metric, why, sizeof(why)))
            gp_say("%s: '%s'%s%s: %s", asked->option, word, target->known ? " on " : "",
                   target->known ? target->name : "", why);
    }
}

static bool has_any(const struct gp_metrics *m, const struct cli_target *target)
{
    char why[GP_WHY_SIZE];
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++)
        if (cli_target_has(target, gp_metrics_selected(m, i), why, sizeof(why)))
            return true;
    return false;
}

/* ---- counters that are counted by themselves ------------------------------------------------- */

typedef bool is_kind(const struct gp_metric *metric, const struct gp_device *device);

/* The index of the first such metric in the selection; its length where there is none. */
static size_t find_selected(const struct gp_metrics *m, const struct gp_device *device, is_kind *is)
{
    size_t i = 0;
    while (i < gp_metrics_selected_count(m) && !is(gp_metrics_selected(m, i), device))
        i++;
    return i;
}

static bool is_named(const char *list, const char *name)
{
    char word[256];
    for (next_word(&list, word, sizeof(word)); *word; next_word(&list, word, sizeof(word)))
        if (strcmp(word, name) == 0)
            return true;
    return false;
}

/* The first metric of NVLink or PCIe that is named itself, NULL where sets alone have them. */
static const char *named_apart(const struct gp_metrics *m, const char *list,
                               const struct gp_device *device)
{
    for (size_t i = 0; i < gp_metrics_selected_count(m); i++) {
        const struct gp_metric *metric = gp_metrics_selected(m, i);
        if (cli_metric_is_apart(metric, device) && is_named(list, metric->name))
            return metric->name;
    }
    return NULL;
}

/* Says that NVLink and PCIe are asked for together with other counters. False where they were named
 * for themselves; of sets, as `all` is one, CUPTI counts those that come first. */
static bool check_apart(const struct gp_metrics *m, const char *list,
                        const struct gp_device *device)
{
    const size_t apart = find_selected(m, device, cli_metric_is_apart);
    const size_t other = find_selected(m, device, cli_metric_bars_apart);
    const size_t end = gp_metrics_selected_count(m);
    if (apart == end || other == end)
        return true;
    const char *named = named_apart(m, list, device);
    const char *last = gp_metrics_selected(m, apart < other ? other : apart)->name;
    if (named)
        gp_say("--metrics: '%s': " CLI_APART "; ask for it in a run of its own, without '%s'",
               named, gp_metrics_selected(m, other)->name);
    else
        gp_say("--metrics: " CLI_APART ": '%s' and its like have no value in this run; ask for "
               "them in a run of their own",
               last);
    return !named;
}

/* ---- both options ---------------------------------------------------------------------------- */

static bool select_both(struct gp_metrics *m, struct gp_text *list)
{
    struct gp_text problems = {0};
    gp_text_addf(list, "%s%s%s", gp_text_string(&metrics_list),
                 metrics_list.length && events_list.length ? "," : "",
                 gp_text_string(&events_list));
    bool selected = !list->failed && gp_metrics_select(m, gp_text_string(list), &problems);
    gp_text_free(&problems);
    return selected;
}

static bool check_on_gpu(struct gp_metrics *m, const struct asked *asked, size_t count,
                         const char *chip)
{
    struct cli_target target = {.device = {.cc_major = 9}};
    struct gp_text list = {0};
    bool worth = false, good = select_both(m, &list);
    for (size_t i = 0; i < count; i++)
        worth |= is_worth_asking(m, asked[i].list);
    if (chip || worth)
        cli_target_find(&target, chip);
    for (size_t i = 0; good && worth && i < count; i++)
        say_absent(m, &asked[i], &target);
    good = good && (!worth || has_any(m, &target)) &&
           check_apart(m, gp_text_string(&list), &target.device);
    gp_text_free(&list);
    return good;
}

bool run_metrics_check(const char *metrics, const char *events, const char *chip,
                       struct run_metrics *lists)
{
    struct asked asked[2];
    size_t count = 0;
    *lists = (struct run_metrics){"", "", false};
    if (!metrics && !events)
        return true;
    /* The library reports mistakes in the user's own definitions, once. */
    struct gp_text about_definitions = {0};
    struct gp_metrics *m = gp_metrics_open(&about_definitions);
    bool good = true;
    if (metrics)
        asked[count++] = (struct asked){"--metrics", metrics, &metrics_list};
    if (events)
        asked[count++] = (struct asked){"--events", events, &events_list};
    for (size_t i = 0; m && good && i < count; i++)
        good = check_names(m, &asked[i], chip);
    good = good && (!m || check_on_gpu(m, asked, count, chip));
    if (!m)
        gp_say("out of memory");
    else if (!good)
        gp_say_lines("", gp_text_string(&about_definitions));
    *lists = (struct run_metrics){gp_text_string(&metrics_list), gp_text_string(&events_list),
                                  m && metrics && has_set(m, metrics)};
    gp_metrics_close(m);
    gp_text_free(&about_definitions);
    return m && good;
}
