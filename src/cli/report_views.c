#include "cli/report_views.h"

#include "base/log.h"
#include "cli/anonymous.h"
#include "cli/cli.h"
#include "cli/report_launches.h"
#include "cli/view_reading.h"
#include "profile/object.h"
#include "report/nvprof.h"
#include "report/side.h"
#include "report/view_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum cli_view view;
} names[] = {{"summary", CLI_VIEW_SUMMARY},   {"times", CLI_VIEW_TIMES},
             {"metrics", CLI_VIEW_METRICS},   {"trace", CLI_VIEW_TRACE},
             {"json", CLI_VIEW_JSON},         {"side", CLI_VIEW_SIDE},
             {"launches", CLI_VIEW_LAUNCHES}, {"markdown", CLI_VIEW_MARKDOWN}};

bool cli_view_find(const char *name, enum cli_view *view)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i].name) == 0) {
            *view = names[i].view;
            return true;
        }
    }
    gp_say("--print: there is no view '%s'; say summary, times, metrics, trace, json, side, "
           "launches or markdown",
           name);
    return false;
}

const char *cli_view_path(const struct cli_views *v, const char *path)
{
    return v->anonymous ? cli_file_name(path) : path;
}

struct gp_filter *cli_views_filter(const struct cli_views *v)
{
    char why[512];
    struct gp_filter *filter =
        gp_filter_new(v->kernels, v->devices, v->skip, v->count, why, sizeof(why));
    if (!filter)
        gp_say("%s", why);
    return filter;
}

void cli_say_filtered(const struct gp_filter *filter)
{
    struct gp_text line = {0};
    gp_filter_explain(filter, &line);
    if (line.length > 0)
        gp_say("%s", gp_text_string(&line));
    gp_text_free(&line);
}

bool cli_views_check(const struct cli_views *v, const struct gp_metrics *m)
{
    char why[512];
    struct gp_filter *filter = cli_views_filter(v);
    if (!filter)
        return false;
    gp_filter_free(filter);
    if (v->columns && v->which != CLI_VIEW_TRACE) {
        gp_say("--columns goes with --print trace");
        return false;
    }
    struct gp_columns *columns =
        v->columns ? gp_columns_new(v->columns, m, &v->view, why, sizeof(why)) : NULL;
    if (v->columns && !columns) {
        gp_say("%s", why);
        return false;
    }
    gp_columns_free(columns);
    if (v->sort && v->which != CLI_VIEW_TRACE) {
        gp_say("--sort goes with --print trace; other views are in the order of time");
        return false;
    }
    if (v->sort && strcmp(v->sort, "start") != 0 && !gp_metrics_find(m, v->sort)) {
        gp_say("--sort: there is no metric '%s' (nor is it 'start')", v->sort);
        return false;
    }
    bool has_csv = v->which == CLI_VIEW_TIMES || v->which == CLI_VIEW_METRICS ||
                   v->which == CLI_VIEW_TRACE || v->which == CLI_VIEW_SIDE;
    if (v->view.csv && !has_csv) {
        gp_say("--csv goes with --print times, metrics, trace or side");
        return false;
    }
    return true;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int out_of_memory(void)
{
    gp_say("out of memory");
    return CLI_FAILED;
}

/* nvprof's tables of one summary. */
static int print_tables(struct cli_reading *r)
{
    struct gp_text out = {0};
    struct gp_view view = r->views->view;
    view.times = r->views->which == CLI_VIEW_TIMES;
    view.metrics = r->views->which == CLI_VIEW_METRICS;
    const struct gp_nvprof_run run = {.pid = r->pid,
                                      .command =
                                          r->views->anonymous ? NULL : gp_text_string(&r->command),
                                      .copies = r->copies};
    gp_nvprof_tables(r->summary, &view, &run, &out);
    return cli_print(&out);
}

static int by_key(const void *x, const void *y)
{
    const struct cli_sorted_line *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return (a->order > b->order) - (a->order < b->order);
}

static void print_sorted(struct cli_reading *r, struct gp_text *kept)
{
    size_t most =
        r->views->top && r->views->top < r->sorted_count ? r->views->top : r->sorted_count;
    if (most > 0)
        qsort(r->sorted, r->sorted_count, sizeof(*r->sorted), by_key);
    for (size_t i = 0; i < most && r->error == 0; i++) {
        gp_text_add_bytes(&r->lines, kept->data + r->sorted[i].begin,
                          r->sorted[i].end - r->sorted[i].begin);
        if (r->lines.length >= CLI_LINES_AT_ONCE)
            cli_reading_flush(r);
    }
}

static int print_trace(struct cli_reading *r, char **paths, int count)
{
    struct gp_view view = r->views->view;
    char why[512];
    int answer = CLI_OK;
    view.trace = true;
    view.metrics = r->views->metrics != NULL;
    if (r->views->columns)
        r->columns = gp_columns_new(r->views->columns, r->metrics, &view, why, sizeof(why));
    else
        r->trace = gp_trace_new(r->metrics, &view);
    if (!r->columns && !r->trace)
        return out_of_memory();
    if (!view.csv && (r->columns || view.metrics) && !(r->names = gp_name_slots_new(view.mangled)))
        return out_of_memory();
    if (r->columns)
        gp_columns_defer_names(r->columns, r->names);
    else
        gp_trace_defer_names(r->trace, r->names);
    if (r->trace && !view.metrics)
        cli_reading_find_start(r, paths, count);
    for (int i = 0; i < count && r->error == 0; i++)
        answer = worse(answer, cli_reading_profile(r, paths[i]));
    cli_say_filtered(r->filter);
    struct gp_text kept = {0};
    if (r->views->sort && r->error == 0) {
        if (r->names)
            gp_name_slots_fill(r->names, &r->lines);
        kept = r->lines;
        r->lines = (struct gp_text){0};
        print_sorted(r, &kept);
    }
    if (r->trace && r->seen)
        gp_trace_footing(r->trace, &r->lines);
    if (r->error == 0)
        cli_reading_flush(r);
    gp_text_free(&kept);
    if (r->error == 0 || r->error == EPIPE)
        return answer;
    gp_say("standard output: %s", strerror(r->error));
    return CLI_FAILED;
}

/* The end of the process frees it all. */
static int print_json(json_t *profiles)
{
    struct gp_object root = gp_object_new(NULL);
    struct gp_text out = {0};
    gp_object_put(&root, root.object, "format", json_string("gpuprof report"));
    gp_object_put(&root, root.object, "version", json_integer(GP_REPORT_JSON_VERSION));
    gp_object_put(&root, root.object, "profiles", profiles);
    if (!gp_object_finish(&root, &out))
        return out_of_memory();
    gp_text_add(&out, "\n");
    return cli_print(&out);
}

/* Summaries of the profiles, one for each or one for all. Returns how many. */
static int read_summaries(const struct cli_views *v, struct gp_metrics *m, char **paths, int count,
                          struct cli_reading **readings, int *answer)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        if (!v->merge || made == 0) {
            struct cli_reading *r = cli_reading_new(v, m);
            if (!r || !(r->summary = gp_summary_new(m))) {
                *answer = out_of_memory();
                return made;
            }
            readings[made++] = r;
        }
        *answer = worse(*answer, cli_reading_profile(readings[made - 1], paths[i]));
    }
    for (int i = 0; i < made; i++)
        cli_say_filtered(readings[i]->filter);
    return made;
}

static int print_side(const struct cli_views *v, struct cli_reading **readings, int count)
{
    const struct gp_summary **summaries = calloc((size_t)count, sizeof(*summaries));
    const char **paths = calloc((size_t)count, sizeof(*paths));
    struct gp_text out = {0};
    int answer = summaries && paths ? CLI_OK : out_of_memory();
    size_t shown = 0;
    for (int i = 0; answer == CLI_OK && i < count; i++) {
        if (!readings[i]->seen)
            continue;
        summaries[shown] = readings[i]->summary;
        paths[shown++] = cli_view_path(v, readings[i]->path);
    }
    if (shown > 0) {
        gp_side_by_side(summaries, paths, shown, &v->view, v->top, &out);
        answer = cli_print(&out);
    }
    free(summaries);
    free(paths);
    return answer;
}

static int print_summaries(const struct cli_views *v, struct gp_metrics *m, char **paths, int count)
{
    int answer = CLI_OK;
    struct cli_reading **readings = calloc((size_t)count, sizeof(*readings));
    if (!readings)
        return out_of_memory();
    int made = read_summaries(v, m, paths, count, readings, &answer);
    json_t *profiles = v->which == CLI_VIEW_JSON ? json_array() : NULL;
    if (made > 0 && v->which == CLI_VIEW_SIDE)
        answer = worse(answer, print_side(v, readings, made));
    for (int i = 0; i < made; i++) {
        struct cli_reading *r = readings[i];
        if (profiles && r->seen) {
            if (v->anonymous && r->sources)
                gp_sources_hide(r->sources);
            json_t *one = gp_report_json(r->about, r->summary, r->copies, r->sources, v->top);
            r->about = NULL;
            if (!one || json_array_append_new(profiles, one) != 0)
                answer = out_of_memory();
        } else if (r->seen && v->which != CLI_VIEW_SIDE) {
            answer = worse(answer, print_tables(r));
        }
    }
    if (json_array_size(profiles) > 0)
        answer = worse(answer, print_json(profiles));
    else
        json_decref(profiles);
    for (int i = 0; i < made; i++)
        cli_reading_free(readings[i]);
    free(readings);
    return answer;
}

static int print_launches(const struct cli_views *v, char **paths, int count)
{
    int answer = CLI_OK;
    for (int i = 0; i < count; i++) {
        struct gp_filter *filter = cli_views_filter(v);
        if (!filter)
            return CLI_USAGE;
        answer = worse(answer, cli_print_launches(paths[i], filter, v));
        cli_say_filtered(filter);
        gp_filter_free(filter);
    }
    return answer;
}

int cli_views_print(const struct cli_views *v, struct gp_metrics *m, char **paths, int count)
{
    if (v->which == CLI_VIEW_LAUNCHES)
        return print_launches(v, paths, count);
    /* The metrics of the first profile are shown where none are named: columns have to be the same
     * for all. */
    const char *list = v->metrics;
    if (!list && v->which == CLI_VIEW_SIDE)
        list = "duration"; /* differences are to be seen at a glance */
    int answer = v->select(m, paths[0], list);
    if (answer != CLI_OK)
        return answer;
    if (v->which != CLI_VIEW_TRACE)
        return print_summaries(v, m, paths, count);
    struct cli_reading *r = cli_reading_new(v, m);
    if (!r)
        return out_of_memory();
    answer = print_trace(r, paths, count);
    cli_reading_free(r);
    return answer;
}
