#include "cli/view_reading.h"

#include "base/file.h"
#include "base/log.h"
#include "cli/anonymous.h"
#include "cli/cli.h"
#include "cli/recorded.h"
#include "cli/source.h"
#include "profile/reader.h"
#include "report/view_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file that is no profile gets no heading either. */
static void begin_lines(struct cli_reading *r)
{
    if (r->columns)
        gp_columns_heading(r->columns, &r->lines);
    else
        gp_trace_heading(r->trace, r->pid, &r->lines);
    cli_reading_flush(r);
}

static bool take_header(void *user, const struct gp_profile_header *original)
{
    struct cli_reading *r = user;
    const struct gp_profile_header own = cli_anonymous_header(original);
    const struct gp_profile_header *header = r->views->anonymous ? &own : original;
    r->pid = header->pid;
    gp_text_clear(&r->command);
    for (size_t i = 0; i < header->argument_count; i++)
        gp_text_addf(&r->command, "%s%s", i > 0 ? " " : "", header->command[i]);
    if (r->views->which == CLI_VIEW_JSON) {
        json_decref(r->about);
        r->about = gp_report_json_header(cli_view_path(r->views, r->path), header);
    }
    if (r->summary)
        gp_summary_settings(r->summary, &header->settings);
    else if (!r->seen)
        begin_lines(r);
    r->seen = r->began = true;
    gp_merge_begin(&r->merge);
    return r->error == 0;
}

static bool take_device(void *user, const struct gp_device *device)
{
    struct cli_reading *r = user;
    struct gp_device own = r->views->merge ? *gp_merge_device(&r->merge, device) : *device;
    if (r->summary)
        gp_summary_device(r->summary, &own);
    if (r->trace)
        gp_trace_device(r->trace, &own);
    if (r->columns)
        gp_columns_device(r->columns, &own);
    if (own.ordinal >= 0 && own.ordinal < GP_MAX_DEVICES)
        r->devices[own.ordinal] = own;
    return true;
}

bool cli_reading_flush(struct cli_reading *r)
{
    if (r->names)
        gp_name_slots_fill(r->names, &r->lines);
    r->error = r->lines.failed
                   ? ENOMEM
                   : gp_write_all(STDOUT_FILENO, gp_text_string(&r->lines), r->lines.length);
    gp_text_clear(&r->lines);
    return r->error == 0;
}

/* The key for sorting: the largest value first, time from the start; without a value, last. */
static double key_of(const struct cli_reading *r, const struct gp_record *launch)
{
    const struct gp_metric *metric = gp_metrics_find(r->metrics, r->views->sort);
    double value;
    if (strcmp(r->views->sort, "start") == 0)
        return -launch->start_ms;
    if (!metric || launch->device < 0 || launch->device >= GP_MAX_DEVICES ||
        !gp_metric_evaluate(metric, &r->devices[launch->device], launch, &value, NULL))
        return -1e308;
    return value;
}

static bool keep_line(struct cli_reading *r, const struct gp_record *launch, size_t begin)
{
    if (r->sorted_count == r->sorted_capacity) {
        size_t capacity = r->sorted_capacity ? 2 * r->sorted_capacity : 1024;
        struct cli_sorted_line *more = realloc(r->sorted, capacity * sizeof(*more));
        if (!more) {
            r->error = ENOMEM;
            return false;
        }
        r->sorted = more;
        r->sorted_capacity = capacity;
    }
    r->sorted[r->sorted_count] =
        (struct cli_sorted_line){key_of(r, launch), r->sorted_count, begin, r->lines.length};
    r->sorted_count++;
    return true;
}

static bool take_launch(void *user, const struct gp_record *original)
{
    struct cli_reading *r = user;
    struct gp_record launch = *original;
    if (!gp_filter_takes(r->filter, &launch))
        return true;
    if (r->views->merge)
        launch.device = gp_merge_number(&r->merge, launch.device);
    if (r->summary) {
        gp_summary_launch(r->summary, &launch);
        return true;
    }
    size_t begin = r->lines.length;
    if (r->trace)
        gp_trace_launch(r->trace, &launch, &r->lines);
    else
        gp_columns_launch(r->columns, &launch, &r->lines);
    if (r->views->sort)
        return keep_line(r, &launch, begin);
    size_t most = r->names ? CLI_NAMED_AT_ONCE : CLI_LINES_AT_ONCE;
    return r->lines.length < most || cli_reading_flush(r);
}

static bool take_count(void *user, const struct gp_count *original)
{
    struct cli_reading *r = user;
    struct gp_count count = *original;
    if (!r->summary || !gp_filter_counts(r->filter, &count))
        return true;
    if (r->views->merge)
        count.device = gp_merge_number(&r->merge, count.device);
    gp_summary_count(r->summary, &count);
    return true;
}

static bool take_sum(void *user, const struct gp_sum *original)
{
    struct cli_reading *r = user;
    const struct gp_count of = {.kernel = original->kernel, .device = original->device};
    struct gp_sum sum = *original;
    r->how_ended.left_out += sum.left_out;
    if (!r->summary || !gp_filter_counts(r->filter, &of))
        return true;
    if (r->views->merge)
        sum.device = gp_merge_number(&r->merge, sum.device);
    gp_summary_sum(r->summary, &sum);
    return true;
}

/* The time is that of all its kernels: none can be selected. */
static bool take_graph(void *user, const struct gp_whole_times *times)
{
    struct cli_reading *r = user;
    if (r->summary && gp_filter_takes_all(r->filter))
        gp_summary_graph(r->summary, times);
    return true;
}

static bool take_succession(void *user, const struct gp_succession *original)
{
    struct cli_reading *r = user;
    struct gp_succession own = *original;
    if (!r->summary)
        return true;
    if (r->views->merge)
        own.device = gp_merge_number(&r->merge, own.device);
    gp_summary_succession(r->summary, &own);
    return true;
}

/* The time is the whole process's, not that of some launches. */
static bool take_end(void *user, const struct gp_end *end)
{
    struct cli_reading *r = user;
    if (r->summary && gp_filter_takes_all(r->filter))
        gp_summary_end(r->summary, end);
    return true;
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    struct cli_reading *r = user;
    gp_copies_add(r->copies, type, line);
    return !r->sources || cli_take_code(r->sources, &r->position, type, line);
}

static void take_unfinished(void *user, const struct gp_unfinished *process)
{
    cli_note_unfinished(&((struct cli_reading *)user)->how_ended, process);
}

static void take_given_up(void *user, const char *why)
{
    cli_note_given_up(&((struct cli_reading *)user)->how_ended, why);
}

static const char *own_name(void *user, const char *name)
{
    return gp_metrics_counter_name(((struct cli_reading *)user)->metrics, name);
}

struct searching {
    struct gp_filter *filter;
    struct gp_trace *trace;
};

static bool note_start(void *user, const struct gp_record *launch)
{
    struct searching *s = user;
    if (gp_filter_takes(s->filter, launch))
        gp_trace_begins(s->trace, launch->start_ms);
    return true;
}

void cli_reading_find_start(struct cli_reading *r, char **paths, int count)
{
    struct searching s = {.filter = cli_views_filter(r->views), .trace = r->trace};
    const struct gp_profile_visitor visitor = {.user = &s,
                                               .launch = note_start,
                                               .in_order =
                                                   s.filter && gp_filter_is_by_number(s.filter),
                                               .alone = r->views->alone};
    char why[512]; /* is said when all of it is read */
    for (int i = 0; i < count && s.filter; i++)
        if (cli_can_be_read_twice(paths[i]))
            gp_profile_read(paths[i], &visitor, NULL, why, sizeof(why));
    gp_filter_free(s.filter);
}

int cli_reading_profile(struct cli_reading *r, const char *path)
{
    struct gp_text notes = {0};
    char why[512] = "";
    const struct gp_profile_visitor visitor = {.user = r,
                                               .exact = r->views->which == CLI_VIEW_JSON,
                                               .header = take_header,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .in_order =
                                                   !r->summary || gp_filter_is_by_number(r->filter),
                                               .count = take_count,
                                               .sum = take_sum,
                                               .graph = take_graph,
                                               .succession = take_succession,
                                               .end = take_end,
                                               .unfinished = take_unfinished,
                                               .gave_up = take_given_up,
                                               .position = &r->position,
                                               .other = take_other,
                                               .counter_name = own_name,
                                               .alone = r->views->alone};
    r->path = path;
    r->began = false;
    r->how_ended = (struct cli_how_ended){.path = path, .notes = &notes};
    bool read = gp_profile_read(path, &visitor, &notes, why, sizeof(why));
    if (!read)
        gp_say("%s", why);
    cli_note_left_out(&r->how_ended);
    gp_say_lines("", gp_text_string(&notes));
    gp_text_free(&notes);
    return read && !r->how_ended.torn ? CLI_OK : r->began ? CLI_FAILED : CLI_USAGE;
}

void cli_reading_free(struct cli_reading *r)
{
    gp_filter_free(r->filter);
    gp_summary_free(r->summary);
    gp_sources_free(r->sources);
    gp_trace_free(r->trace);
    gp_columns_free(r->columns);
    gp_name_slots_free(r->names);
    json_decref(r->about);
    gp_text_free(&r->command);
    gp_text_free(&r->lines);
    free(r->sorted);
    free(r);
}

struct cli_reading *cli_reading_new(const struct cli_views *v, const struct gp_metrics *m)
{
    struct cli_reading *r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->views = v;
    r->metrics = m;
    r->filter = cli_views_filter(v);
    r->sources = v->which == CLI_VIEW_JSON ? gp_sources_new() : NULL;
    if (r->filter)
        return r;
    gp_sources_free(r->sources);
    free(r);
    return NULL;
}
