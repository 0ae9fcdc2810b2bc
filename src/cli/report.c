#include "cli/cli.h"
#include "cli/paths.h"
#include "cli/recorded.h"
#include "cli/report_html.h"
#include "cli/report_views.h"
#include "cli/summing.h"

#include "base/escape.h"
#include "base/log.h"
#include "base/terminal.h"
#include "report/colour.h"
#include "report/layout.h"
#include "report/screen.h"
#include "report/table.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
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
    BYTES,
    ANONYMOUS,
    COLUMNS,
    SORT,
    UNIT,
    DEMANGLING,
    MERGE,
    SIDE,
    ALONE,
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
         WHAT, NULL, "--metrics", "--metrics", 1, NULL},
    [DETAILS] =
        {"details", 0, NULL,
         "behind the summary the metrics that people read first, of each kernel; --metrics all: "
         "every one",
         WHAT, NULL, NULL, "--page details", 0, NULL},
    [TOP] = {"top", 'n', "COUNT",
             "most kernels to show, those with the most time; of a trace that is sorted, launches; "
             "0: all (10 in the summary, 20 in its details, all in other views)",
             WHAT, NULL, NULL, NULL, 0, NULL},
    [KERNELS] = {"kernels", 'k', "FILTER",
                 "only kernels whose name matches this regular expression (also as "
                 "regex:EXPRESSION, or ::NAME:INVOCATION)",
                 WHAT, "kernel-name", "--kernels", "-k, --kernel-name", 0,
                 "join names, as in --kernels 'foo|bar'"},
    [DEVICES] = {"devices", 0, "LIST", "only launches on these GPUs, with commas between them",
                 WHAT, NULL, "--devices", "--devices", 0, NULL},
    [SKIP] = {"launch-skip", 0, "N", "leave out the first N launches", WHAT, NULL, NULL,
              "-s, --launch-skip", 0, NULL},
    [COUNT] = {"launch-count", 'c', "N", "show N launches, and no later ones", WHAT, NULL, NULL,
               "-c, --launch-count", 0, NULL},

    [PRINT] =
        {"print", 0, "VIEW",
         "summary: the report; times, metrics: nvprof's tables; trace: a line for each "
         "launch; json: the summary for programs; side: a column for each profile; launches: "
         "JSON Lines, the whole record of a launch in one object; markdown: the report for the "
         "summary of a CI job and for coding agents (summary)",
         HOW, NULL, NULL, NULL, 0, NULL},
    [HTML] = {"html", 0, "FILE",
              "write a page for a browser instead, with all profiles; -: to standard output", HOW,
              NULL, NULL, NULL, 0, NULL},
    [TRACE] = {"print-gpu-trace", 0, NULL, "as --print trace", HOW, NULL, "--print-gpu-trace", NULL,
               0, NULL},
    [CSV] = {"csv", 0, NULL,
             "comma-separated values, of --print times, metrics (if none is said), trace or side",
             HOW, NULL, "--csv", "--csv", 0, NULL},
    [BYTES] = {"max-bytes", 0, "N",
               "the longest text of --print markdown, of all profiles together: parts behind it "
               "are left out, which a line "
               "says",
               HOW, NULL, NULL, NULL, 0, NULL},
    [ANONYMOUS] = {"anonymous", 0, NULL,
                   "name neither the command line nor the host nor folders, in any view; the page "
                   "has no text of the source, and --print launches no machine code",
                   HOW, NULL, NULL, NULL, 0, NULL},
    [COLUMNS] = {"columns", 0, "LIST",
                 "the columns of the trace: metrics, fields of a launch, name", HOW, NULL, NULL,
                 NULL, 0, NULL},
    [SORT] = {"sort", 0, "METRIC",
              "order of the trace: the largest value of this metric first, or 'start'", HOW, NULL,
              NULL, NULL, 0, NULL},
    [UNIT] = {"normalized-time-unit", 'u', "UNIT", "the unit of times: s, ms, us, ns, auto (auto)",
              HOW, "unit", "-u, --normalized-time-unit", NULL, 0, NULL},
    [DEMANGLING] = {"demangling", 0, "on|off",
                    "off: names of kernels are as the compiler made them (on)", HOW, NULL,
                    "--demangling", NULL, 0, NULL},

    [MERGE] = {"merge", 0, NULL, "all profiles as if they were one", SEVERAL, NULL, NULL, NULL, 0,
               NULL},
    [SIDE] = {"side-by-side", 0, NULL, "as --print side", SEVERAL, NULL, NULL, NULL, 0, NULL},
    [ALONE] = {"alone", 0, NULL,
               "each FILE by itself: else the first file of a run of several processes stands for "
               "all of them",
               SEVERAL, NULL, NULL, NULL, 0, NULL},
};

/* ---- one profile ---- */

struct reporting {
    struct cli_summing summing;
    struct gp_text *out;
    size_t width;            /* columns of its lines */
    struct gp_text *command; /* of the first process, for a heading; NULL: lines for all of them */
    size_t processes;
};

/* More processes are counted, longer commands cut: the report behind them is one screen. */
#define LEAST_BYTES 1000 /* of Markdown: its heading fits in */
#define MOST_PROCESSES 3
#define LONGEST_COMMAND 240

/* At most so many bytes, whole letters. */
static size_t letters(const struct gp_text *text, size_t most)
{
    while (most > 0 && ((unsigned char)text->data[most] & 0xC0) == 0x80)
        most--;
    return most;
}

static void add_process(void *user, const struct gp_profile_header *header)
{
    struct reporting *r = user;
    if (++r->processes > MOST_PROCESSES)
        return;
    struct gp_text line = {0}, command = {0};
    for (size_t i = 0; i < header->argument_count && command.length <= LONGEST_COMMAND; i++)
        gp_text_addf(&command, " %s", header->command[i]);
    if (r->command) {
        if (r->processes == 1 && command.length > 0)
            gp_text_add(r->command, gp_text_string(&command) + 1);
        gp_text_free(&command);
        return;
    }
    const char *path = strcmp(r->summing.path, "-") == 0 ? "-" : header->path;
    gp_text_add_escaped(&line, path, strlen(path));
    gp_text_add(&line, command.length > 0 ? ":" : "");
    if (command.length > LONGEST_COMMAND) {
        gp_text_add_bytes(&line, gp_text_string(&command), letters(&command, LONGEST_COMMAND));
        gp_text_add(&line, "...");
    } else {
        gp_text_add(&line, gp_text_string(&command));
    }
    gp_text_addf(&line, " (process %ld%s%s, %s, gpuprof %s)", header->pid,
                 header->host[0] ? " on " : "", header->host, header->time, header->version);
    gp_wrap_to(r->out, r->width, 3, gp_text_string(&line));
    r->out->failed |= line.failed || command.failed;
    gp_text_free(&line);
    gp_text_free(&command);
}

static void add_notes(const char *notes, size_t width, struct gp_text *out)
{
    for (size_t length; *notes; notes += length + 1) {
        length = strcspn(notes, "\n");
        struct gp_text line = {0};
        gp_text_add_bytes(&line, notes, length);
        gp_wrap_to(out, width, 3, gp_text_string(&line));
        gp_text_free(&line);
    }
}

/* Reports on `count` profiles together. `begin`: as in struct cli_summing. False where the profile
 * goes on with other counters, and nothing is reported. */
static bool report_together(struct gp_metrics *m, const struct cli_views *views,
                            const struct gp_table_options *table, char **paths, int count,
                            const struct cli_recorded *begin, struct gp_text *out, int *answer)
{
    const bool markdown = views->which == CLI_VIEW_MARKDOWN;
    struct gp_text notes = {0}, command = {0};
    struct reporting r = {
        .out = out, .width = gp_screen_width(table->width), .command = markdown ? &command : NULL};
    const size_t before = out->length;
    r.summing.begin = begin;
    r.summing.user = &r;
    r.summing.process = add_process;
    *answer = cli_sum_profiles(&r.summing, views, m, paths, count, &notes);
    const bool whole = !r.summing.has_others;
    if (!whole && out->length > before) {
        out->data[before] = '\0';
        out->length = before;
    }
    if (whole && r.summing.seen) {
        struct gp_table_options own = *table;
        own.markdown = markdown;
        own.most_bytes = views->most_bytes;
        own.command = command.length > 0 ? gp_text_string(&command) : NULL;
        if (r.processes > MOST_PROCESSES && !markdown)
            gp_text_addf(out, "and %zu more processes\n", r.processes - MOST_PROCESSES);
        own.profile = count == 1 ? cli_view_path(views, paths[0]) : NULL;
        own.sources = r.summing.sources;
        own.copies = r.summing.copies;
        own.notes = markdown ? gp_text_string(&notes) : NULL;
        gp_table_report(r.summing.summary, &own, out);
        if (!markdown) {
            gp_copies_table(r.summing.copies, out);
            add_notes(gp_text_string(&notes), r.width, out);
        }
    }
    cli_summing_free(&r.summing);
    gp_text_free(&notes);
    gp_text_free(&command);
    return whole;
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
    table->kernels = top ? top : SIZE_MAX;
    return true;
}

static bool read_bytes(const char *text, const struct cli_views *views, size_t *most)
{
    char *end;
    if (views->which != CLI_VIEW_MARKDOWN) {
        gp_say("--max-bytes goes with --print markdown");
        return false;
    }
    errno = 0;
    unsigned long long bytes = strtoull(text, &end, 10);
    if (errno != 0 || *end || !isdigit((unsigned char)text[0]) || bytes < LEAST_BYTES) {
        gp_say("--max-bytes: '%s' is no number of bytes from %d on", text, LEAST_BYTES);
        return false;
    }
    *most = bytes;
    return true;
}

/* --metrics, or all that the profile has the counters for. */
static int select_metrics(struct gp_metrics *m, const char *path, const char *list)
{
    struct gp_text problems = {0};
    bool answer =
        list ? gp_metrics_select(m, list, &problems) : cli_select_recorded(m, path, &problems);
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

/* One profile, read once where it goes on as it begins. */
static int report_recorded(struct gp_metrics *m, const struct cli_views *views,
                           const struct gp_table_options *table, char *path, struct gp_text *out)
{
    struct gp_text problems = {0};
    struct cli_recorded *begin;
    int answer;
    bool selected = cli_select_begin(m, path, &begin, &problems);
    bool whole = selected && report_together(m, views, table, &path, 1, begin, out, &answer);
    if (selected && !whole) {
        selected = cli_select_recorded(m, path, &problems);
        if (selected)
            report_together(m, views, table, &path, 1, NULL, out, &answer);
    }
    if (!selected)
        gp_say_lines("--metrics: ", gp_text_string(&problems));
    cli_recorded_free(begin);
    gp_text_free(&problems);
    return selected ? answer : CLI_FAILED;
}

static int report_some(struct gp_metrics *m, const struct cli_views *views,
                       const struct gp_table_options *table, char **paths, int count,
                       struct gp_text *out)
{
    if (!views->metrics && count == 1)
        return report_recorded(m, views, table, paths[0], out);
    int answer = select_metrics(m, paths[0], views->metrics);
    if (answer == CLI_OK)
        report_together(m, views, table, paths, count, NULL, out, &answer);
    return answer;
}

static int report_files(struct gp_metrics *m, const struct cli_views *views,
                        const struct gp_table_options *table, char **paths, int count)
{
    int worst = CLI_OK, step = views->merge ? count : 1, reports = count / step;
    struct cli_views own = *views;
    if (views->most_bytes > 0) {
        /* A blank line stands between two reports. */
        own.most_bytes = (views->most_bytes + 1) / (size_t)reports - 1;
        if (own.most_bytes < LEAST_BYTES) {
            gp_say("--max-bytes: too few for %d reports; each takes %d", reports, LEAST_BYTES);
            return CLI_USAGE;
        }
    }
    for (int i = 0; i < count; i += step) {
        struct gp_text out = {0};
        if (i > 0)
            gp_text_add(&out, "\n");
        int answer = report_some(m, &own, table, paths + i, step, &out);
        int printed = views->which == CLI_VIEW_MARKDOWN ? cli_print(&out) : print_coloured(&out);
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
                                .anonymous = values[ANONYMOUS] != NULL,
                                .alone = values[ALONE] != NULL,
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
    if (!page || strcmp(page, "-") == 0)
        return true;
    return cli_check_spared("--html", page, (const char *const *)paths, count) && may_write(page);
}

/* The report, on a screen or in Markdown. */
static bool is_report(const struct cli_views *views)
{
    return views->which == CLI_VIEW_SUMMARY || views->which == CLI_VIEW_MARKDOWN;
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
    if (sensible && !views->alone)
        count = cli_leave_out_members(paths, count);
    if (sensible && views->merge)
        cli_say_repeated(paths, count);
    int answer = !sensible          ? CLI_USAGE
                 : page             ? cli_report_html(page, views, m, paths, count)
                 : is_report(views) ? report_files(m, views, table, paths, count)
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
    table.every_metric = values[METRICS] != NULL;
    table.width = gp_terminal_columns(STDOUT_FILENO);
    struct cli_views views;
    if ((values[TOP] && !read_top(values[TOP], &table)) || !read_views(values, &views))
        return CLI_USAGE;
    if (values[BYTES] && !read_bytes(values[BYTES], &views, &views.most_bytes))
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
