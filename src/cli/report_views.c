#include "cli/report_views.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/report_launches.h"
#include "profile/object.h"
#include "profile/reader.h"
#include "report/columns.h"
#include "report/copies.h"
#include "report/merge.h"
#include "report/nvprof.h"
#include "report/side.h"
#include "report/trace.h"
#include "report/view_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE (1u << 16)
enum { READER_GONE = 1, CANNOT_WRITE = 2 }; /* a visitor's answer that ends the reading */

static const struct {
    const char *name;
    enum cli_view view;
} names[] = {{"summary", CLI_VIEW_SUMMARY},  {"times", CLI_VIEW_TIMES},
             {"metrics", CLI_VIEW_METRICS},  {"trace", CLI_VIEW_TRACE},
             {"json", CLI_VIEW_JSON},        {"side", CLI_VIEW_SIDE},
             {"launches", CLI_VIEW_LAUNCHES}};

bool cli_view_find(const char *name, enum cli_view *view)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i].name) == 0) {
            *view = names[i].view;
            return true;
        }
    }
    gp_say("--print: there is no view '%s'; say summary, times, metrics, trace, json, side or "
           "launches",
           name);
    return false;
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

/* ---- reading --------------------------------------------------------------------------------- */

/* Made while a profile is read. */
struct reading {
    const struct cli_views *views;
    const struct gp_metrics *metrics;
    struct gp_filter *filter;
    struct gp_summary *summary; /* or */
    struct gp_trace *trace;     /* or */
    struct gp_columns *columns;
    const char *path;
    json_t *about;
    struct gp_text command;
    long pid;
    bool seen;
    struct gp_merge merge;
    struct gp_copies copies[GP_COPY_KINDS];
    struct gp_device devices[GP_MAX_DEVICES]; /* by their numbers here */
    /* Lines of a trace: printed as they come, or kept to be sorted. */
    struct gp_text lines;
    struct sorted {
        double key;
        size_t order, begin, end;
    } * sorted;
    size_t sorted_count, sorted_capacity;
    int error;
};

static int take_header(void *user, const struct gp_profile_header *header)
{
    struct reading *r = user;
    r->pid = header->pid;
    gp_text_clear(&r->command);
    for (size_t i = 0; i < header->argument_count; i++)
        gp_text_addf(&r->command, "%s%s", i > 0 ? " " : "", header->command[i]);
    if (r->views->which == CLI_VIEW_JSON) {
        json_decref(r->about);
        r->about = gp_report_json_header(r->path, header);
    }
    if (r->summary)
        gp_summary_settings(r->summary, &header->settings);
    r->seen = true;
    gp_merge_begin(&r->merge);
    return 0;
}

static int take_device(void *user, const struct gp_device *device)
{
    struct reading *r = user;
    struct gp_device own = r->views->merge ? *gp_merge_device(&r->merge, device) : *device;
    if (r->summary)
        gp_summary_device(r->summary, &own);
    if (r->trace)
        gp_trace_device(r->trace, &own);
    if (r->columns)
        gp_columns_device(r->columns, &own);
    if (own.ordinal >= 0 && own.ordinal < GP_MAX_DEVICES)
        r->devices[own.ordinal] = own;
    return 0;
}

static int flush(struct reading *r)
{
    r->error = r->lines.failed
                   ? ENOMEM
                   : gp_write_all(STDOUT_FILENO, gp_text_string(&r->lines), r->lines.length);
    gp_text_clear(&r->lines);
    return r->error == 0 ? 0 : r->error == EPIPE ? READER_GONE : CANNOT_WRITE;
}

/* The key for sorting: the largest value first, time from the start; without a value, last. */
static double key_of(const struct reading *r, const struct gp_record *launch)
{
    const struct gp_metric *metric = gp_metrics_find(r->metrics, r->views->sort);
    char why[GP_WHY_SIZE];
    double value;
    if (strcmp(r->views->sort, "start") == 0)
        return -launch->start_ms;
    if (!metric || launch->device < 0 || launch->device >= GP_MAX_DEVICES ||
        !gp_metric_evaluate(metric, &r->devices[launch->device], launch, &value, why, sizeof(why)))
        return -1e308;
    return value;
}

static int keep_line(struct reading *r, const struct gp_record *launch, size_t begin)
{
    if (r->sorted_count == r->sorted_capacity) {
        size_t capacity = r->sorted_capacity ? 2 * r->sorted_capacity : 1024;
        struct sorted *more = realloc(r->sorted, capacity * sizeof(*more));
        if (!more) {
            r->error = ENOMEM;
            return CANNOT_WRITE;
        }
        r->sorted = more;
        r->sorted_capacity = capacity;
    }
    r->sorted[r->sorted_count] =
        (struct sorted){key_of(r, launch), r->sorted_count, begin, r->lines.length};
    r->sorted_count++;
    return 0;
}

static int take_launch(void *user, const struct gp_record *original)
{
    struct reading *r = user;
    struct gp_record launch = *original;
    if (!gp_filter_takes(r->filter, &launch))
        return 0;
    if (r->views->merge)
        launch.device = gp_merge_number(&r->merge, launch.device);
    if (r->summary) {
        gp_summary_launch(r->summary, &launch);
        return 0;
    }
    size_t begin = r->lines.length;
    if (r->trace)
        gp_trace_launch(r->trace, &launch, &r->lines);
    else
        gp_columns_launch(r->columns, &launch, &r->lines);
    if (r->views->sort)
        return keep_line(r, &launch, begin);
    return r->lines.length < AT_ONCE ? 0 : flush(r);
}

static int take_count(void *user, const struct gp_count *original)
{
    struct reading *r = user;
    struct gp_count count = *original;
    if (!r->summary || !gp_filter_counts(r->filter, &count))
        return 0;
    if (r->views->merge)
        count.device = gp_merge_number(&r->merge, count.device);
    gp_summary_count(r->summary, &count);
    return 0;
}

static int take_other(void *user, const char *type, const struct json_t *line)
{
    gp_copies_add(((struct reading *)user)->copies, type, line);
    return 0;
}

static const char *own_name(void *user, const char *name)
{
    return gp_metrics_counter_name(((struct reading *)user)->metrics, name);
}

/* Reads one profile. Returns the answer of the command; a part may have been read in spite of a
 * failure. */
static int read_profile(struct reading *r, const char *path)
{
    struct gp_text notes = {0};
    char why[512] = "";
    const struct gp_profile_visitor visitor = {.user = r,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .other = take_other,
                                               .counter_name = own_name};
    r->path = path;
    int answer = gp_profile_read(path, &visitor, &notes, why, sizeof(why));
    if (answer == -1)
        gp_say("%s", why);
    gp_say_lines("", gp_text_string(&notes));
    gp_text_free(&notes);
    return answer == -1 ? CLI_FAILED : CLI_OK;
}

static void free_reading(struct reading *r)
{
    gp_filter_free(r->filter);
    gp_summary_free(r->summary);
    gp_trace_free(r->trace);
    gp_columns_free(r->columns);
    json_decref(r->about);
    gp_text_free(&r->command);
    gp_text_free(&r->lines);
    free(r->sorted);
    free(r);
}

static struct reading *new_reading(const struct cli_views *v, const struct gp_metrics *m)
{
    struct reading *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->views = v;
    r->metrics = m;
    r->filter = cli_views_filter(v);
    if (r->filter)
        return r;
    free(r);
    return NULL;
}

/* ---- views ----------------------------------------------------------------------------------- */

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
static int print_tables(struct reading *r)
{
    struct gp_text out = {0};
    struct gp_view view = r->views->view;
    view.times = r->views->which == CLI_VIEW_TIMES;
    view.metrics = r->views->which == CLI_VIEW_METRICS;
    const struct gp_nvprof_run run = {
        .pid = r->pid, .command = gp_text_string(&r->command), .copies = r->copies};
    gp_nvprof_tables(r->summary, &view, &run, &out);
    return cli_print(&out);
}

static int by_key(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? 1 : -1;
    return (a->order > b->order) - (a->order < b->order);
}

static void print_sorted(struct reading *r, struct gp_text *kept)
{
    size_t most =
        r->views->top && r->views->top < r->sorted_count ? r->views->top : r->sorted_count;
    qsort(r->sorted, r->sorted_count, sizeof(*r->sorted), by_key);
    for (size_t i = 0; i < most && r->error == 0; i++) {
        gp_text_add_bytes(&r->lines, kept->data + r->sorted[i].begin,
                          r->sorted[i].end - r->sorted[i].begin);
        if (r->lines.length >= AT_ONCE)
            flush(r);
    }
}

static int print_trace(struct reading *r, char **paths, int count)
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
    if (r->columns)
        gp_columns_heading(r->columns, &r->lines);
    else
        gp_trace_heading(r->trace, (long)getpid(), &r->lines);
    flush(r);
    for (int i = 0; i < count && r->error == 0; i++)
        answer = worse(answer, read_profile(r, paths[i]));
    struct gp_text kept = {0};
    if (r->views->sort && r->error == 0) {
        kept = r->lines;
        r->lines = (struct gp_text){0};
        print_sorted(r, &kept);
    }
    if (r->trace)
        gp_trace_footing(r->trace, &r->lines);
    if (r->error == 0)
        flush(r);
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
                          struct reading **readings, int *answer)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        if (!v->merge || made == 0) {
            struct reading *r = new_reading(v, m);
            if (!r || !(r->summary = gp_summary_new(m))) {
                *answer = out_of_memory();
                return made;
            }
            readings[made++] = r;
        }
        *answer = worse(*answer, read_profile(readings[made - 1], paths[i]));
    }
    return made;
}

static int print_side(const struct cli_views *v, struct reading **readings, int count)
{
    const struct gp_summary **summaries = calloc((size_t)count, sizeof(*summaries));
    const char **paths = calloc((size_t)count, sizeof(*paths));
    struct gp_text out = {0};
    int answer = summaries && paths ? CLI_OK : out_of_memory();
    for (int i = 0; answer == CLI_OK && i < count; i++) {
        summaries[i] = readings[i]->summary;
        paths[i] = readings[i]->path;
    }
    if (answer == CLI_OK) {
        gp_side_by_side(summaries, paths, (size_t)count, &v->view, v->top, &out);
        answer = cli_print(&out);
    }
    free(summaries);
    free(paths);
    return answer;
}

static int print_summaries(const struct cli_views *v, struct gp_metrics *m, char **paths, int count)
{
    int answer = CLI_OK;
    struct reading **readings = calloc((size_t)count, sizeof(*readings));
    if (!readings)
        return out_of_memory();
    int made = read_summaries(v, m, paths, count, readings, &answer);
    json_t *profiles = v->which == CLI_VIEW_JSON ? json_array() : NULL;
    if (made > 0 && v->which == CLI_VIEW_SIDE)
        answer = worse(answer, print_side(v, readings, made));
    for (int i = 0; i < made; i++) {
        struct reading *r = readings[i];
        if (profiles && r->seen) {
            json_t *one = gp_report_json(r->about, r->summary, v->top);
            r->about = NULL;
            if (!one || json_array_append_new(profiles, one) != 0)
                answer = out_of_memory();
        } else if (r->seen && v->which != CLI_VIEW_SIDE) {
            answer = worse(answer, print_tables(r));
        }
    }
    if (profiles)
        answer = worse(answer, print_json(profiles));
    for (int i = 0; i < made; i++)
        free_reading(readings[i]);
    free(readings);
    return answer;
}

static int print_launches(char **paths, int count)
{
    int answer = CLI_OK;
    for (int i = 0; i < count; i++)
        answer = worse(answer, cli_print_launches(paths[i]));
    return answer;
}

int cli_views_print(const struct cli_views *v, struct gp_metrics *m, char **paths, int count)
{
    if (v->which == CLI_VIEW_LAUNCHES)
        return print_launches(paths, count);
    /* Those of the first profile, where none are named: columns have to be the same for all. */
    const char *list = v->metrics;
    if (!list && v->which == CLI_VIEW_SIDE)
        list = "duration"; /* differences are to be seen at a glance */
    int answer = v->select(m, paths[0], list);
    if (answer != CLI_OK)
        return answer;
    if (v->which != CLI_VIEW_TRACE)
        return print_summaries(v, m, paths, count);
    struct reading *r = new_reading(v, m);
    if (!r)
        return out_of_memory();
    answer = print_trace(r, paths, count);
    free_reading(r);
    return answer;
}
