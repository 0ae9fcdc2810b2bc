#include "cli/cli.h"
#include "cli/report_html.h"
#include "cli/report_launches.h"
#include "cli/source.h"

#include "base/hash.h"
#include "base/log.h"
#include "profile/reader.h"
#include "report/layout.h"
#include "report/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { METRICS, TOP, DETAILS, PRINT, HTML, OPTION_COUNT };

static const struct cli_option options[OPTION_COUNT] = {
    [METRICS] =
        {"metrics", 'm', "LIST",
         "metrics to show, with commas between them; 'default', 'all'; else all those whose "
         "counters the profile holds ('default' for standard input or a pipe)"},
    [DETAILS] = {"details", 0, NULL, "all metrics of each kernel behind the summary"},
    [TOP] = {"top", 'n', "COUNT", "most kernels to show, those with the most time; 0: all (20)"},
    [HTML] = {"html", 0, "FILE",
              "write one page for a browser instead, with all profiles; -: to standard output"},
    [PRINT] = {"print", 0, "VIEW",
               "what to print: summary; launches: JSON Lines, all that is known of a launch in one "
               "object, which is format 1 of a profile (summary)"},
};

/* ---- which metrics a profile can give ---- */

struct recorded_name {
    UT_hash_handle hh;
    char name[];
};

/* What a first look at the profile finds. */
struct contents {
    struct recorded_name *counters;
    struct gp_device devices[GP_MAX_DEVICES];
    size_t device_count;
};

static int note_device(void *user, const struct gp_device *device)
{
    struct contents *c = user;
    if (c->device_count < GP_MAX_DEVICES)
        c->devices[c->device_count++] = *device;
    return 0;
}

/* Notes the name; counters keep the reader's copy of it, or the definitions' own. */
static const char *note_counter(void *user, const char *name)
{
    struct contents *c = user;
    size_t length = strlen(name);
    struct recorded_name *known = NULL;
    HASH_FIND(hh, c->counters, name, length, known);
    if (known || !(known = calloc(1, sizeof(*known) + length + 1)))
        return NULL;
    memcpy(known->name, name, length);
    HASH_ADD_KEYPTR(hh, c->counters, known->name, length, known);
    if (!known->hh.tbl)
        free(known);
    return NULL;
}

static void forget(struct contents *c)
{
    struct recorded_name *n, *next;
    HASH_ITER(hh, c->counters, n, next)
    {
        HASH_DEL(c->counters, n);
        free(n);
    }
}

/* Whether all counters of the selection were recorded. */
static int is_recorded(const struct contents *c, const struct gp_metrics *m,
                       const struct gp_device *device)
{
    const char **names;
    size_t count;
    if (gp_metrics_counters(m, device, &names, &count) != 0)
        return 0;
    int recorded = 1;
    for (size_t i = 0; i < count && recorded; i++) {
        struct recorded_name *known = NULL;
        HASH_FIND(hh, c->counters, names[i], strlen(names[i]), known);
        recorded = known != NULL;
    }
    free(names);
    return recorded;
}

static int can_be_given(const struct contents *c, struct gp_metrics *m,
                        const struct gp_metric *metric)
{
    struct gp_text ignored = {0};
    char why[GP_WHY_SIZE];
    int answer = 0;
    if (gp_metrics_select(m, metric->name, &ignored) == 0)
        for (size_t i = 0; i < c->device_count && !answer; i++)
            answer = gp_metric_formula(metric, &c->devices[i], &ignored, why, sizeof(why)) == 0 &&
                     is_recorded(c, m, &c->devices[i]);
    gp_text_free(&ignored);
    return answer;
}

/* What comes through a pipe is gone once it was read. */
static int can_be_read_twice(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Selects every metric that the profile has the counters for. A profile that cannot be read twice,
 * or holds none, gets the default set. */
static int select_recorded(struct gp_metrics *m, const char *path, struct gp_text *problems)
{
    struct gp_text list = {0};
    if (can_be_read_twice(path)) {
        struct contents c = {0};
        char why[512];
        const struct gp_profile_visitor visitor = {
            .user = &c, .device = note_device, .counter_name = note_counter};
        gp_profile_read(path, &visitor, NULL, why, sizeof(why));
        if (c.counters)
            for (size_t i = 0; i < gp_metrics_count(m); i++)
                if (can_be_given(&c, m, gp_metrics_at(m, i)))
                    gp_text_addf(&list, "%s,", gp_metrics_at(m, i)->name);
        forget(&c);
    }
    int answer = gp_metrics_select(m, list.length > 0 && !list.failed ? list.data : NULL, problems);
    gp_text_free(&list);
    return answer;
}

/* ---- one profile ---- */

struct reporting {
    const struct gp_metrics *metrics;
    struct gp_summary *summary;
    struct gp_sources *sources; /* NULL: memory ran out, so no line of the source is named */
    struct gp_text *out;
    const char *path;
    int seen; /* something of the profile could be read */
};

static int take_header(void *user, const struct gp_profile_header *header)
{
    struct reporting *r = user;
    struct gp_text line = {0};
    gp_text_addf(&line, "%s:", r->path);
    for (size_t i = 0; i < header->argument_count; i++)
        gp_text_addf(&line, " %s", header->command[i]);
    gp_text_addf(&line, " (process %ld on %s, %s, gpuprof %s)", header->pid, header->host,
                 header->time, header->version);
    gp_wrap(r->out, 3, gp_text_string(&line));
    gp_text_free(&line);
    gp_summary_settings(r->summary, &header->settings);
    r->seen = 1;
    return 0;
}

/* Names that are the definitions' own make metrics quick to compute. */
static const char *own_name(void *user, const char *name)
{
    return gp_metrics_counter_name(((struct reporting *)user)->metrics, name);
}

static int take_device(void *user, const struct gp_device *device)
{
    gp_summary_device(((struct reporting *)user)->summary, device);
    return 0;
}

static int take_launch(void *user, const struct gp_launch *launch)
{
    gp_summary_launch(((struct reporting *)user)->summary, launch);
    return 0;
}

static int take_count(void *user, const struct gp_count *count)
{
    gp_summary_count(((struct reporting *)user)->summary, count);
    return 0;
}

static int take_other(void *user, const char *type, const struct json_t *line)
{
    struct reporting *r = user;
    return r->sources ? cli_take_code(r->sources, type, line) : 0;
}

static int report_file(struct gp_metrics *m, const char *path, const struct gp_table_options *table,
                       struct gp_text *out)
{
    struct gp_text notes = {0};
    char why[512] = "out of memory";
    struct reporting r = {.metrics = m,
                          .summary = gp_summary_new(m),
                          .sources = gp_sources_new(),
                          .out = out,
                          .path = path};
    const struct gp_profile_visitor visitor = {.user = &r,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .other = take_other,
                                               .counter_name = own_name};
    int answer = r.summary ? gp_profile_read(path, &visitor, &notes, why, sizeof(why)) : -1;
    if (answer == 0 || r.seen) {
        struct gp_table_options own = *table;
        own.profile = path;
        own.sources = r.sources;
        gp_table_report(r.summary, &own, out);
        gp_text_add(out, gp_text_string(&notes));
    }
    if (answer != 0)
        gp_say("%s", why);
    gp_summary_free(r.summary);
    gp_sources_free(r.sources);
    gp_text_free(&notes);
    return answer == 0 ? CLI_OK : CLI_FAILED;
}

static int read_top(const char *text, struct gp_table_options *table)
{
    char *end;
    errno = 0;
    unsigned long top = strtoul(text, &end, 10);
    if (errno != 0 || *end || !isdigit((unsigned char)text[0])) {
        gp_say("--top: '%s' is no number of kernels", text);
        return -1;
    }
    table->top = top;
    return 0;
}

static int report_files(struct gp_metrics *m, const char *list,
                        const struct gp_table_options *table, char **paths, int count)
{
    int worst = CLI_OK;
    struct gp_text problems = {0};
    if (list && gp_metrics_select(m, list, &problems) != 0) {
        gp_say_lines("--metrics: ", gp_text_string(&problems));
        worst = CLI_USAGE;
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        struct gp_text out = {0};
        if (i > 0)
            gp_text_add(&out, "\n");
        int answer = CLI_FAILED;
        if (list || select_recorded(m, paths[i], &problems) == 0)
            answer = report_file(m, paths[i], table, &out);
        int printed = cli_print(&out);
        if (printed > answer)
            answer = printed;
        if (answer > worst)
            worst = answer;
    }
    gp_text_free(&problems);
    return worst;
}

/* For the page, which asks profile by profile. `list`: what --metrics says, or NULL. */
static int select_for_page(struct gp_metrics *m, const char *path, const void *list)
{
    struct gp_text problems = {0};
    bool selected =
        (list ? gp_metrics_select(m, list, &problems) : select_recorded(m, path, &problems)) == 0;
    if (!selected)
        gp_say_lines("--metrics: ", gp_text_string(&problems));
    gp_text_free(&problems);
    return selected ? CLI_OK : list ? CLI_USAGE : CLI_FAILED;
}

static int print_launches(char **paths, int count)
{
    int worst = CLI_OK;
    for (int i = 0; i < count; i++) {
        int answer = cli_print_launches(paths[i]);
        worst = answer > worst ? answer : worst;
    }
    return worst;
}

static int run_report(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT];
    int status, first = cli_parse(self, argc, argv, values, &status);
    if (first < 0)
        return status;
    struct gp_table_options table = {.top = 20};
    table.details = values[DETAILS] != NULL;
    if (values[TOP] && read_top(values[TOP], &table) != 0)
        return CLI_USAGE;
    if (first >= argc) {
        gp_say("there is no profile to report on ('gpuprof help report' tells more)");
        return CLI_USAGE;
    }
    const char *view = values[PRINT] ? values[PRINT] : "summary";
    if (strcmp(view, "launches") == 0)
        return print_launches(argv + first, argc - first);
    if (strcmp(view, "summary") != 0) {
        gp_say("--print: there is no view '%s'; say summary or launches", view);
        return CLI_USAGE;
    }
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    int answer = values[HTML]
                     ? cli_report_html(values[HTML], m, select_for_page, values[METRICS],
                                       argv + first, argc - first)
                     : report_files(m, values[METRICS], &table, argv + first, argc - first);
    gp_metrics_close(m);
    return answer;
}

const struct cli_command cli_report = {
    .name = "report",
    .arguments = "[options] FILE...",
    .help = "Print the report of profiles that --output wrote ('-': standard input).",
    .run = run_report,
    .options = options,
    .option_count = OPTION_COUNT,
};
