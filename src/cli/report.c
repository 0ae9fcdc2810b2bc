#include "cli/cli.h"
#include "cli/report_html.h"
#include "cli/report_views.h"
#include "cli/source.h"

#include "base/escape.h"
#include "base/hash.h"
#include "base/log.h"
#include "profile/reader.h"
#include "report/colour.h"
#include "report/copies.h"
#include "report/layout.h"
#include "report/merge.h"
#include "report/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    METRICS,
    TOP,
    DETAILS,
    KERNELS,
    DEVICES,
    SKIP,
    COUNT,
    PRINT,
    HTML,
    TRACE,
    CSV,
    COLUMNS,
    SORT,
    UNIT,
    DEMANGLING,
    MERGE,
    SIDE,
    OPTION_COUNT
};

#define WHAT "Content"
#define HOW "Form"
#define SEVERAL "Several profiles"

static const struct cli_option options[OPTION_COUNT] = {
    [METRICS] =
        {"metrics", 'm', "LIST",
         "metrics to show, with commas between them; 'default', 'all'; else all those whose "
         "counters the profile holds ('default' for standard input or a pipe)",
         WHAT, NULL, "--metrics", "--metrics", 1},
    [DETAILS] = {"details", 0, NULL,
                 "all metrics of each kernel behind the summary, as with --metrics", WHAT, NULL,
                 NULL, "--page details", 0},
    [TOP] = {"top", 'n', "COUNT",
             "most kernels to show, those with the most time; of a trace that is sorted, launches; "
             "0: all (20)",
             WHAT, NULL, NULL, NULL, 0},
    [KERNELS] = {"kernels", 'k', "FILTER",
                 "only kernels whose name matches this regular expression (also as "
                 "regex:EXPRESSION, or ::NAME:INVOCATION)",
                 WHAT, "kernel-name", "--kernels", "-k, --kernel-name", 0},
    [DEVICES] = {"devices", 0, "LIST", "only launches on these GPUs, with commas between them",
                 WHAT, NULL, "--devices", "--devices", 0},
    [SKIP] = {"launch-skip", 0, "N", "leave out the first N launches", WHAT, NULL, NULL,
              "-s, --launch-skip", 0},
    [COUNT] = {"launch-count", 'c', "N", "show N launches, and no later ones", WHAT, NULL, NULL,
               "-c, --launch-count", 0},

    [PRINT] = {"print", 0, "VIEW",
               "summary: the report; times, metrics: nvprof's tables; trace: a line for each "
               "launch; json: the summary for programs; side: a column for each profile; launches: "
               "JSON Lines, the whole record of a launch in one object (summary)",
               HOW, NULL, NULL, NULL, 0},
    [HTML] = {"html", 0, "FILE",
              "write a page for a browser instead, with all profiles; -: to standard output", HOW,
              NULL, NULL, NULL, 0},
    [TRACE] = {"print-gpu-trace", 0, NULL, "as --print trace", HOW, NULL, "--print-gpu-trace", NULL,
               0},
    [CSV] = {"csv", 0, NULL,
             "comma-separated values, of --print times, metrics (if none is said), trace or side",
             HOW, NULL, "--csv", "--csv", 0},
    [COLUMNS] = {"columns", 0, "LIST",
                 "the columns of the trace: metrics, fields of a launch, name", HOW, NULL, NULL,
                 NULL, 0},
    [SORT] = {"sort", 0, "METRIC",
              "order of the trace: the largest value of this metric first, or 'start'", HOW, NULL,
              NULL, NULL, 0},
    [UNIT] = {"normalized-time-unit", 'u', "UNIT", "the unit of times: s, ms, us, ns, auto (auto)",
              HOW, "unit", "-u, --normalized-time-unit", NULL, 0},
    [DEMANGLING] = {"demangling", 0, "on|off",
                    "off: names of kernels are as the compiler made them (on)", HOW, NULL,
                    "--demangling", NULL, 0},

    [MERGE] = {"merge", 0, NULL, "all profiles as if they were one", SEVERAL, NULL, NULL, NULL, 0},
    [SIDE] = {"side-by-side", 0, NULL, "as --print side", SEVERAL, NULL, NULL, NULL, 0},
};

/* ---- which metrics a profile can give ---- */

struct recorded_name {
    UT_hash_handle hh;
    char name[];
};

/* Found by a first reading of the profile. */
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
static bool is_recorded(const struct contents *c, const struct gp_metrics *m,
                        const struct gp_device *device)
{
    const char **names;
    size_t count;
    if (!gp_metrics_counters(m, device, &names, &count))
        return false;
    bool recorded = true;
    for (size_t i = 0; i < count && recorded; i++) {
        struct recorded_name *known = NULL;
        HASH_FIND(hh, c->counters, names[i], strlen(names[i]), known);
        recorded = known != NULL;
    }
    free(names);
    return recorded;
}

static bool can_be_given(const struct contents *c, struct gp_metrics *m,
                         const struct gp_metric *metric)
{
    struct gp_text ignored = {0};
    char why[GP_WHY_SIZE];
    bool answer = false;
    if (gp_metrics_select(m, metric->name, &ignored))
        for (size_t i = 0; i < c->device_count && !answer; i++)
            answer = gp_metric_formula(metric, &c->devices[i], &ignored, why, sizeof(why)) &&
                     is_recorded(c, m, &c->devices[i]);
    gp_text_free(&ignored);
    return answer;
}

/* Bytes that come through a pipe are gone once they were read. */
static bool can_be_read_twice(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* Selects every metric that the profile has the counters for. A profile that cannot be read twice,
 * or holds none, gets the default set. */
static bool select_recorded(struct gp_metrics *m, const char *path, struct gp_text *problems)
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
    bool answer =
        gp_metrics_select(m, list.length > 0 && !list.failed ? list.data : NULL, problems);
    gp_text_free(&list);
    return answer;
}

/* ---- one profile ---- */

struct reporting {
    const struct gp_metrics *metrics;
    struct gp_filter *filter;
    struct gp_merge merge;
    struct gp_copies copies[GP_COPY_KINDS];
    struct gp_summary *summary;
    struct gp_sources *sources; /* NULL: out of memory, so no line of the source is named */
    struct gp_text *out;
    const char *path;
    int seen; /* something of the profile could be read */
    size_t processes;
};

/* More processes are counted, longer commands cut: the report behind them is one screen. */
#define MOST_PROCESSES 3
#define LONGEST_COMMAND 240

/* At most so many bytes, whole letters. */
static size_t letters(const struct gp_text *text, size_t most)
{
    while (most > 0 && ((unsigned char)text->data[most] & 0xC0) == 0x80)
        most--;
    return most;
}

static void add_process(struct reporting *r, const struct gp_profile_header *header)
{
    struct gp_text line = {0}, command = {0};
    for (size_t i = 0; i < header->argument_count && command.length <= LONGEST_COMMAND; i++)
        gp_text_addf(&command, " %s", header->command[i]);
    gp_text_add_escaped(&line, r->path, strlen(r->path));
    gp_text_add(&line, ":");
    if (command.length > LONGEST_COMMAND) {
        gp_text_add_bytes(&line, gp_text_string(&command), letters(&command, LONGEST_COMMAND));
        gp_text_add(&line, "...");
    } else {
        gp_text_add(&line, gp_text_string(&command));
    }
    gp_text_addf(&line, " (process %ld on %s, %s, gpuprof %s)", header->pid, header->host,
                 header->time, header->version);
    gp_wrap(r->out, 3, gp_text_string(&line));
    r->out->failed |= line.failed || command.failed;
    gp_text_free(&line);
    gp_text_free(&command);
}

static int take_header(void *user, const struct gp_profile_header *header)
{
    struct reporting *r = user;
    if (++r->processes <= MOST_PROCESSES)
        add_process(r, header);
    gp_summary_settings(r->summary, &header->settings);
    r->seen = 1;
    gp_merge_begin(&r->merge);
    return 0;
}

/* Names that are the definitions' own make metrics quick to compute. */
static const char *own_name(void *user, const char *name)
{
    return gp_metrics_counter_name(((struct reporting *)user)->metrics, name);
}

static int take_device(void *user, const struct gp_device *device)
{
    struct reporting *r = user;
    gp_summary_device(r->summary, gp_merge_device(&r->merge, device));
    return 0;
}

static int take_launch(void *user, const struct gp_record *launch)
{
    struct reporting *r = user;
    struct gp_record own = *launch;
    own.device = gp_merge_number(&r->merge, launch->device);
    if (gp_filter_takes(r->filter, launch))
        gp_summary_launch(r->summary, &own);
    return 0;
}

static int take_count(void *user, const struct gp_count *count)
{
    struct reporting *r = user;
    struct gp_count own = *count;
    own.device = gp_merge_number(&r->merge, count->device);
    if (gp_filter_counts(r->filter, count))
        gp_summary_count(r->summary, &own);
    return 0;
}

/* The time is the whole process's, not that of some launches. */
static int take_end(void *user, const struct gp_end *end)
{
    struct reporting *r = user;
    if (gp_filter_takes_all(r->filter))
        gp_summary_end(r->summary, end);
    return 0;
}

static int take_other(void *user, const char *type, const struct json_t *line)
{
    struct reporting *r = user;
    gp_copies_add(r->copies, type, line);
    return r->sources ? cli_take_code(r->sources, type, line) : 0;
}

/* Reports on `count` profiles together. */
static int report_together(struct gp_metrics *m, const struct cli_views *views,
                           const struct gp_table_options *table, char **paths, int count,
                           struct gp_text *out)
{
    struct gp_text notes = {0};
    char why[512];
    int worst = CLI_OK;
    struct reporting r = {.metrics = m,
                          .filter = cli_views_filter(views),
                          .summary = gp_summary_new(m),
                          .sources = gp_sources_new(),
                          .out = out};
    const struct gp_profile_visitor visitor = {.user = &r,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .end = take_end,
                                               .other = take_other,
                                               .counter_name = own_name};
    bool ready = r.summary && r.filter;
    if (!ready) {
        gp_say("out of memory");
        worst = CLI_FAILED;
    }
    for (int i = 0; ready && i < count; i++) {
        r.path = paths[i];
        if (gp_profile_read(paths[i], &visitor, &notes, why, sizeof(why)) != 0) {
            gp_say("%s", why);
            worst = CLI_FAILED;
        }
    }
    if (r.seen) {
        struct gp_table_options own = *table;
        if (r.processes > MOST_PROCESSES)
            gp_text_addf(out, "and %zu more processes\n", r.processes - MOST_PROCESSES);
        own.profile = count == 1 ? paths[0] : NULL;
        own.sources = r.sources;
        gp_table_report(r.summary, &own, out);
        gp_copies_table(r.copies, out);
        gp_text_add(out, gp_text_string(&notes));
    }
    gp_filter_free(r.filter);
    gp_summary_free(r.summary);
    gp_sources_free(r.sources);
    gp_text_free(&notes);
    return worst;
}

static bool read_top(const char *text, struct gp_table_options *table)
{
    char *end;
    errno = 0;
    unsigned long top = strtoul(text, &end, 10);
    if (errno != 0 || *end || !isdigit((unsigned char)text[0])) {
        gp_say("--top: '%s' is no number of kernels", text);
        return false;
    }
    table->top = top;
    return true;
}

/* --metrics, or all that the profile has the counters for. */
static int select_metrics(struct gp_metrics *m, const char *path, const char *list)
{
    struct gp_text problems = {0};
    bool answer =
        list ? gp_metrics_select(m, list, &problems) : select_recorded(m, path, &problems);
    if (!answer)
        gp_say_lines("--metrics: ", gp_text_string(&problems));
    gp_text_free(&problems);
    return answer ? CLI_OK : list ? CLI_USAGE : CLI_FAILED;
}

/* As cli_print, with colour where standard output is a terminal that shows it. */
static int print_coloured(struct gp_text *report)
{
    if (!gp_colour_wanted(isatty(STDOUT_FILENO) == 1) || report->failed)
        return cli_print(report);
    struct gp_text coloured = {0};
    gp_colour(gp_text_string(report), &coloured);
    gp_text_free(report);
    return cli_print(&coloured);
}

static int report_files(struct gp_metrics *m, const struct cli_views *views,
                        const struct gp_table_options *table, char **paths, int count)
{
    int worst = CLI_OK, step = views->merge ? count : 1;
    for (int i = 0; i < count; i += step) {
        struct gp_text out = {0};
        if (i > 0)
            gp_text_add(&out, "\n");
        int answer = select_metrics(m, paths[i], views->metrics);
        if (answer == CLI_USAGE)
            return answer;
        if (answer == CLI_OK)
            answer = report_together(m, views, table, paths + i, step, &out);
        int printed = print_coloured(&out);
        if (printed > answer)
            answer = printed;
        if (answer > worst)
            worst = answer;
    }
    return worst;
}

/* False after a message. */
static bool read_views(const char *const *values, struct cli_views *views)
{
    const char *unit = values[UNIT], *demangling = values[DEMANGLING];
    *views = (struct cli_views){.metrics = values[METRICS],
                                .kernels = values[KERNELS],
                                .devices = values[DEVICES],
                                .skip = values[SKIP],
                                .count = values[COUNT],
                                .columns = values[COLUMNS],
                                .sort = values[SORT],
                                .merge = values[MERGE] != NULL,
                                .select = select_metrics};
    views->view.csv = values[CSV] != NULL;
    if (values[PRINT] && !cli_view_find(values[PRINT], &views->which))
        return false;
    if (!values[PRINT])
        views->which = values[SIDE]                                       ? CLI_VIEW_SIDE
                       : values[TRACE] || values[COLUMNS] || values[SORT] ? CLI_VIEW_TRACE
                       : values[CSV]                                      ? CLI_VIEW_METRICS
                                                                          : CLI_VIEW_SUMMARY;
    if (unit && strcmp(unit, "auto") != 0 &&
        !(views->view.unit = gp_view_unit(unit, strlen(unit)))) {
        gp_say("--normalized-time-unit: '%s' is none of s, ms, us, ns, auto", unit);
        return false;
    }
    if (demangling && strcmp(demangling, "on") != 0 && strcmp(demangling, "off") != 0) {
        gp_say("--demangling: '%s' is neither on nor off", demangling);
        return false;
    }
    views->view.mangled = demangling && strcmp(demangling, "off") == 0;
    return true;
}

/* Whether the page can be made, so that nothing is read in vain; false after saying why not. */
static bool may_write(const char *page)
{
    struct gp_text folder = {0};
    const char *slash = strrchr(page, '/');
    gp_text_add_bytes(&folder, slash ? page : ".", slash ? (size_t)(slash - page) + 1 : 1);
    bool may = access(page, F_OK) == 0 ? access(page, W_OK) == 0
                                       : access(gp_text_string(&folder), W_OK | X_OK) == 0;
    if (!may)
        gp_say("--html: %s: %s", page, strerror(errno));
    gp_text_free(&folder);
    return may;
}

/* False after saying which file is none, cannot be read or, for the page, cannot be made. */
static bool check_files(const char *page, char **paths, int count)
{
    for (int i = 0; i < count; i++) {
        struct stat about;
        bool is_file = strcmp(paths[i], "-") == 0 ||
                       (access(paths[i], R_OK) == 0 && stat(paths[i], &about) == 0);
        if (is_file && strcmp(paths[i], "-") != 0 && S_ISDIR(about.st_mode)) {
            errno = EISDIR;
            is_file = false;
        }
        if (!is_file) {
            gp_say("%s: %s", paths[i], strerror(errno));
            return false;
        }
    }
    return !page || strcmp(page, "-") == 0 || may_write(page);
}

/* `page`: the file for a browser; NULL: print. */
static int print_report(const struct cli_views *views, const struct gp_table_options *table,
                        const char *page, char **paths, int count)
{
    struct gp_metrics *m = cli_open_metrics();
    if (!m)
        return CLI_FAILED;
    bool sensible = cli_views_check(views, m) &&
                    (!views->metrics || select_metrics(m, NULL, views->metrics) == CLI_OK) &&
                    check_files(page, paths, count);
    int answer = !sensible                          ? CLI_USAGE
                 : page                             ? cli_report_html(page, views, m, paths, count)
                 : views->which == CLI_VIEW_SUMMARY ? report_files(m, views, table, paths, count)
                                                    : cli_views_print(views, m, paths, count);
    gp_metrics_close(m);
    return answer;
}

static int run_report(const struct cli_command *self, int argc, char **argv)
{
    const char *values[OPTION_COUNT];
    int status, first = cli_parse(self, argc, argv, values, &status);
    if (first < 0)
        return status;
    struct gp_table_options table = {.top = 20};
    table.details = values[DETAILS] || values[METRICS];
    struct cli_views views;
    if ((values[TOP] && !read_top(values[TOP], &table)) || !read_views(values, &views))
        return CLI_USAGE;
    views.top = values[TOP] ? table.top : 0;
    if (values[HTML] && views.which != CLI_VIEW_SUMMARY) {
        gp_say("--html: a page has all views of its own; leave out the other one");
        return CLI_USAGE;
    }
    if (first >= argc) {
        gp_say("there is no profile to report on ('gpuprof help report' tells more)");
        return CLI_USAGE;
    }
    return print_report(&views, &table, values[HTML], argv + first, argc - first);
}

const struct cli_command cli_report = {
    .name = "report",
    .arguments = "[options] FILE...",
    .help = "Print the report of profiles that --output wrote ('-': standard input).",
    .run = run_report,
    .options = options,
    .option_count = OPTION_COUNT,
};
