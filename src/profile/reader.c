#include "profile/reader.h"

#include "base/escape.h"
#include "profile/blanks.h"
#include "profile/fields.h"
#include "profile/json_fields.h"
#include "profile/launch_queue.h"
#include "profile/once.h"
#include "profile/printable.h"
#include "profile/run_files.h"
#include "profile/source.h"
#include "profile/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The writer's longest line holds the cubin of a kernel, of 8 MiB at most; in another one stands an
 * array for each of its instructions. */
#define LARGEST_LINE (16u << 20)
#define TOO_LONG "it is longer than 16 MiB"
#define TOO_MANY_PARTS "it has more than a million objects and arrays"
/* So many lines that make no sense are passed over before the rest is. */
#define MOST_LEFT_OUT 1000000
#define PART (1u << 17)

/* A launch that was written early, kept until it is written in full. There is room for one counter
 * more, its time. */
struct early {
    struct gp_record launch;
    struct gp_counter counters[];
};

struct reading {
    const char *path;
    size_t line;
    const struct gp_profile_visitor *visitor;
    bool seen_header;
    int format;        /* of the process at hand */
    bool ended;        /* it has its "end" line */
    bool is_snapshot;  /* it was taken while the process ran */
    bool torn;         /* the file ends in the middle of a line */
    bool stopped;      /* by a failure, or by a visitor */
    bool failed;       /* `why` says it */
    bool in_long_line; /* the text goes on in a line that is too long */
    bool compressed;
    size_t left_out;              /* lines */
    struct gp_unfinished process; /* the one at hand, in case it is */
    struct gp_once once;
    struct early *early[GP_MAX_EARLY]; /* in order */
    size_t early_count;
    struct gp_launch_queue queue; /* where the visitor wants them in order */
    char *why;
    size_t why_size;
};

/* The functions below answer true where a line, or all of a part, was taken. Where they answer
 * false a line was left out and the reading goes on, or it has stopped. */

/* Ends the reading. */
static bool fail(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct reading *r, const char *fmt, ...)
{
    int n = snprintf(r->why, r->why_size, "%s:%zu: ", r->path, r->line);
    if (n >= 0 && (size_t)n < r->why_size) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(r->why + n, r->why_size - (size_t)n, fmt, args);
        va_end(args);
    }
    r->stopped = r->failed = true;
    return false;
}

/* Ends the reading for a mistake in the file as a whole. */
static void fail_file(struct reading *r, const char *why, const char *more)
{
    snprintf(r->why, r->why_size, "%s: %s%s", r->path, why, more);
    r->stopped = r->failed = true;
}

/* A line that makes no sense. The first such line is reported, the others are counted. */
static bool leave_out(struct reading *r, const char *why)
{
    if (!r->seen_header)
        return fail(r, "not a gpuprof profile%s: %s", r->compressed ? ", or damaged" : "", why);
    if (r->left_out++ == 0)
        snprintf(r->why, r->why_size, "%s:%zu: %s", r->path, r->line, why);
    if (r->left_out == MOST_LEFT_OUT)
        r->stopped = true;
    return false;
}

/* Passes a visitor's answer on. */
static bool visited(struct reading *r, bool goes_on)
{
    if (!goes_on)
        r->stopped = true;
    return goes_on;
}

static void say_how_many(struct reading *r)
{
    char more[96];
    snprintf(more, sizeof(more), "; this line and %zu more are left out%s", r->left_out - 1,
             r->left_out == MOST_LEFT_OUT ? ", and the rest of the file" : "");
    size_t length = strlen(r->why), room = r->why_size - length;
    snprintf(r->why + length, room, "%s", r->left_out > 1 ? more : "; the line is left out");
}

static bool read_fields(struct reading *r, const json_t *object, const struct gp_field *fields,
                        size_t count, void *record)
{
    char why[128];
    return gp_json_fields(object, fields, count, GP_FIELDS_ALL, record, why, sizeof(why)) ||
           leave_out(r, why);
}

/* ---- launches ---- */

static bool give_first_queued(struct reading *r)
{
    bool goes_on = r->visitor->launch(r->visitor->user, gp_launch_queue_first(&r->queue));
    gp_launch_queue_drop(&r->queue);
    return visited(r, goes_on);
}

static bool give_queued(struct reading *r)
{
    bool goes_on = true;
    while (goes_on && gp_launch_queue_first(&r->queue))
        goes_on = give_first_queued(r);
    return goes_on;
}

static bool give(struct reading *r, const struct gp_record *launch)
{
    if (!r->visitor->launch)
        return true;
    if (!r->visitor->in_order)
        return visited(r, r->visitor->launch(r->visitor->user, launch));
    if (gp_launch_queue_is_full(&r->queue) && !give_first_queued(r))
        return false;
    return gp_launch_queue_add(&r->queue, launch) || fail(r, "out of memory");
}

static void drop_early(struct reading *r, size_t at)
{
    free(r->early[at]);
    r->early_count--;
    memmove(&r->early[at], &r->early[at + 1], (r->early_count - at) * sizeof(struct early *));
}

/* The duration's counter of a launch; NULL where it has none. */
static struct gp_counter *duration_of(struct early *early)
{
    for (size_t i = 0; i < early->launch.counter_count; i++)
        if (strcmp(early->counters[i].name, GP_DURATION_COUNTER) == 0)
            return &early->counters[i];
    return NULL;
}

static bool has_other_values(const struct early *early)
{
    for (size_t i = 0; i < early->launch.counter_count; i++)
        if (!early->counters[i].absent.cause &&
            strcmp(early->counters[i].name, GP_DURATION_COUNTER) != 0)
            return true;
    return false;
}

/* Nothing more will be known of it. */
static void count_early(struct reading *r, struct early *early)
{
    const struct gp_counter *duration = duration_of(early);
    if (has_other_values(early)) {
        r->process.partly++;
        return;
    }
    *(duration && !duration->absent.cause ? &r->process.timed : &r->process.begun) += 1;
    if (!early->launch.skipped.cause)
        early->launch.skipped = GP_REASON(NOT_READ);
}

/* The process ended before these were written in full: the early values are all there is. */
static bool give_early_ones(struct reading *r)
{
    bool goes_on = true;
    while (r->early_count > 0 && goes_on) {
        count_early(r, r->early[0]);
        goes_on = r->visitor->early
                      ? visited(r, r->visitor->early(r->visitor->user, &r->early[0]->launch))
                      : give(r, &r->early[0]->launch);
        drop_early(r, 0);
    }
    return goes_on;
}

/* No launch of the process comes any more. */
static bool give_the_rest(struct reading *r)
{
    return give_early_ones(r) && give_queued(r);
}

/* The number of the launch among the early ones; their count where it is none of them. */
static size_t find_early(const struct reading *r, uint64_t index)
{
    size_t i = 0;
    while (i < r->early_count && r->early[i]->launch.index != index)
        i++;
    return i;
}

static bool keep_early(struct reading *r, const struct gp_record *launch)
{
    const size_t before = find_early(r, launch->index);
    if (before < r->early_count)
        drop_early(r, before);
    if (r->early_count == GP_MAX_EARLY && !give_early_ones(r))
        return false;
    size_t size = launch->counter_count * sizeof(struct gp_counter);
    struct early *early = malloc(sizeof(*early) + size + sizeof(early->counters[0]));
    if (!early)
        return fail(r, "out of memory");
    early->launch = *launch;
    if (size > 0)
        memcpy(early->counters, launch->counters, size);
    early->launch.counters = early->counters;
    r->early[r->early_count++] = early;
    return true;
}

/* A launch written in full replaces its early line. */
static bool give_launch(struct reading *r, const struct gp_record *launch)
{
    const size_t before = find_early(r, launch->index);
    if (before < r->early_count)
        drop_early(r, before);
    r->process.whole++;
    return give(r, launch);
}

/* The time of a launch that was written early. Only the first such line finds it without one. */
static bool take_time(struct reading *r, uint64_t index, double duration_ns)
{
    const size_t at = find_early(r, index);
    struct early *early = at < r->early_count ? r->early[at] : NULL;
    struct gp_counter *duration = early ? duration_of(early) : NULL;
    const char *name = duration ? duration->name : gp_once_name(&r->once, GP_DURATION_COUNTER);
    if (!name)
        return fail(r, "out of memory");
    if (early && !duration)
        duration = &early->counters[early->launch.counter_count++];
    if (duration)
        *duration = (struct gp_counter){.name = name, .value = duration_ns};
    return true;
}

static void end_process(struct reading *r)
{
    struct gp_unfinished *p = &r->process;
    const uint64_t lines = p->whole + p->partly + p->timed + p->begun;
    if (!r->visitor->unfinished || !r->seen_header || r->ended || (!r->torn && r->format < 2))
        return;
    p->path = r->path;
    p->torn = r->torn;
    p->why = r->torn ? "the file ends in the middle of a line"
             : r->is_snapshot
                 ? "it is a snapshot: the process ran on"
                 : "it has no line of the process' end: the process was killed or ended by "
                   "_exit, or the file was cut";
    p->launches = lines > p->launches ? lines : p->launches;
    if (!r->visitor->launch) /* lines of launches were not read */
        p->launches = 0;
    r->visitor->unfinished(r->visitor->user, p);
}

/* ---- lines that are objects ---- */

static const char *string_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static bool read_header(struct reading *r, const json_t *object)
{
    const json_t *format = json_object_get(object, "format");
    if (!gp_json_is_between(format, 1, INT_MAX))
        return fail(r, "\"format\" must be a whole number from 1");
    if (json_integer_value(format) > GP_PROFILE_FORMAT)
        return fail(r, "format %d, written by gpuprof %s; this gpuprof reads formats up to %d",
                    (int)json_integer_value(format), string_of(object, "gpuprof"),
                    GP_PROFILE_FORMAT);
    char why[128];
    if (!gp_once_columns(&r->once, json_object_get(object, "columns"), why, sizeof(why)))
        return fail(r, "%s", why);
    /* A profile in front of this one, in the same file, gives its rest first: its launches have the
     * same numbers. */
    if (!give_the_rest(r))
        return false;
    end_process(r);
    gp_once_forget(&r->once);
    r->seen_header = true;
    r->format = (int)json_integer_value(format);
    r->ended = r->is_snapshot = false;
    r->process =
        (struct gp_unfinished){.pid = (long)json_integer_value(json_object_get(object, "pid"))};
    if (!r->visitor->header)
        return true;

    const json_t *command = json_object_get(object, "command");
    size_t count = json_array_size(command);
    const char **arguments = calloc(count + 1, sizeof(const char *));
    if (!arguments)
        return fail(r, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *s = json_string_value(json_array_get(command, i));
        arguments[i] = s ? s : "";
    }
    const struct gp_profile_header header = {
        .path = r->path,
        .version = string_of(object, "gpuprof"),
        .host = string_of(object, "host"),
        .time = string_of(object, "time"),
        .pid = r->process.pid,
        .argument_count = count,
        .command = arguments,
        .settings = {.sample = json_string_value(json_object_get(object, "sample")),
                     .overhead = json_string_value(json_object_get(object, "overhead")),
                     .window = json_string_value(json_object_get(object, "window")),
                     .replay_off = strcmp(string_of(object, "replay"), "off") == 0},
    };
    bool goes_on = r->visitor->header(r->visitor->user, &header);
    free(arguments);
    return visited(r, goes_on);
}

static bool read_device(struct reading *r, const json_t *object)
{
    struct gp_device device = {0};
    if (!read_fields(r, object, gp_device_fields, gp_device_field_count, &device))
        return false;
    return !r->visitor->device || visited(r, r->visitor->device(r->visitor->user, &device));
}

/* Fills `counters`, which has room for all values and reasons of the object. */
static bool read_counters(struct reading *r, const json_t *object, struct gp_counter *counters)
{
    const char *name;
    char why[512];
    json_t *value, *values = json_object_get(object, "counters");
    json_t *reasons = json_object_get(object, "absent");
    const json_t *causes = json_object_get(object, GP_CAUSES_FIELD);
    json_object_foreach(values, name, value)
    {
        if (!json_is_number(value)) {
            snprintf(why, sizeof(why), "counter \"%s\" must be a number", name);
            return leave_out(r, why);
        }
        *counters = (struct gp_counter){.name = gp_once_name(&r->once, name),
                                        .value = json_number_value(value)};
        if (!counters++->name)
            return fail(r, "out of memory");
    }
    json_object_foreach(reasons, name, value)
    {
        if (!json_is_string(value)) {
            snprintf(why, sizeof(why), "the reason why \"%s\" is absent must be a string", name);
            return leave_out(r, why);
        }
        *counters = (struct gp_counter){
            .name = gp_once_name(&r->once, name),
            .absent = gp_once_reason(&r->once, json_string_value(value), causes)};
        if (!counters->name || !counters->absent.text)
            return fail(r, "out of memory");
        counters++;
    }
    return true;
}

/* Reads a launch of format 1: all that is known of it in one object. */
static bool read_whole_launch(struct reading *r, const json_t *object,
                              bool (*take)(struct reading *, const struct gp_record *))
{
    struct gp_record launch = {.shared_carveout = -1};
    if (!read_fields(r, object, gp_launch_fields, gp_launch_field_count, &launch))
        return false;
    launch.kernel = gp_strings_keep(&r->once.strings, launch.kernel, NULL);
    if (launch.skipped.cause)
        launch.skipped.text = gp_strings_keep(&r->once.strings, launch.skipped.text, NULL);
    launch.counter_count = json_object_size(json_object_get(object, "counters")) +
                           json_object_size(json_object_get(object, "absent"));
    struct gp_counter *counters = calloc(launch.counter_count + 1, sizeof(*counters));
    bool taken =
        counters && launch.kernel ? read_counters(r, object, counters) : fail(r, "out of memory");
    launch.counters = counters;
    taken = taken && take(r, &launch);
    free(counters);
    return taken;
}

static bool read_launch(struct reading *r, const json_t *object)
{
    return read_whole_launch(r, object, give_launch);
}

static bool read_early(struct reading *r, const json_t *object)
{
    return read_whole_launch(r, object, keep_early);
}

static bool read_count(struct reading *r, const json_t *object)
{
    struct gp_count count = {0};
    if (!read_fields(r, object, gp_count_fields, gp_count_field_count, &count) ||
        !read_fields(r, object, gp_reading_fields, gp_reading_field_count, &count))
        return false;
    if (!give_queued(r))
        return false;
    return !r->visitor->count || visited(r, r->visitor->count(r->visitor->user, &count));
}

static bool give_other(struct reading *r, const char *type, const json_t *object)
{
    if (r->visitor->position)
        *r->visitor->position = (struct gp_profile_position){.path = r->path, .line = r->line};
    return !r->visitor->other || visited(r, r->visitor->other(r->visitor->user, type, object));
}

static bool read_sum(struct reading *r, const json_t *object)
{
    struct gp_sum sum = {0};
    if (!read_fields(r, object, gp_sum_fields, gp_sum_field_count, &sum))
        return false;
    r->process.whole += sum.left_out;
    if (!r->visitor->sum)
        return give_other(r, "sum", object);
    return visited(r, r->visitor->sum(r->visitor->user, &sum));
}

static bool read_graph(struct reading *r, const json_t *object)
{
    struct gp_whole_times times = {0};
    if (!read_fields(r, object, gp_whole_fields, gp_whole_field_count, &times))
        return false;
    if (!r->visitor->graph)
        return give_other(r, "graph", object);
    return visited(r, r->visitor->graph(r->visitor->user, &times));
}

static bool read_succession(struct reading *r, const json_t *object)
{
    struct gp_succession s = {0};
    if (!read_fields(r, object, gp_succession_fields, gp_succession_field_count, &s))
        return false;
    if (!r->visitor->succession)
        return give_other(r, "succession", object);
    return visited(r, r->visitor->succession(r->visitor->user, &s));
}

static bool read_passed_over(struct reading *r, const json_t *object)
{
    return json_object_get(object, "reason") ? read_count(r, object)
                                             : leave_out(r, "\"reason\" is missing");
}

static bool read_given_up(struct reading *r, const json_t *object)
{
    const char *reason = json_string_value(json_object_get(object, "reason"));
    if (!reason)
        return leave_out(r, "\"reason\" is missing");
    if (r->visitor->gave_up)
        r->visitor->gave_up(r->visitor->user, reason);
    return true;
}

static bool read_so_far(struct reading *r, const json_t *object)
{
    const json_t *launches = json_object_get(object, "launches");
    if (!gp_json_is_between(launches, 0, INT64_MAX))
        return leave_out(r, "\"launches\" must be a whole number");
    r->process.launches = (uint64_t)json_integer_value(launches);
    r->process.seconds = json_number_value(json_object_get(object, "seconds"));
    r->process.added_seconds = json_number_value(json_object_get(object, "added_seconds"));
    return true;
}

/* The rest was written later, to another file. */
static bool read_snapshot(struct reading *r, const json_t *object)
{
    (void)object;
    r->is_snapshot = true;
    return true;
}

static bool read_end(struct reading *r, const json_t *object)
{
    struct gp_end end = {0};
    end.has_window = json_object_get(object, gp_window_fields[0].name) != NULL;
    end.has_limit = json_object_get(object, gp_limit_fields[0].name) != NULL;
    end.has_host = json_object_get(object, gp_host_fields[0].name) != NULL;
    if (!read_fields(r, object, gp_end_fields, gp_end_field_count, &end) ||
        (end.has_limit && !read_fields(r, object, gp_limit_fields, gp_limit_field_count, &end)) ||
        (end.has_host && !read_fields(r, object, gp_host_fields, gp_host_field_count, &end)) ||
        (end.has_window && !read_fields(r, object, gp_window_fields, gp_window_field_count, &end)))
        return false;
    r->ended = true;
    if (!give_queued(r))
        return false;
    return !r->visitor->end || visited(r, r->visitor->end(r->visitor->user, &end));
}

/* The writer's numbers begin anew. */
static bool read_forget(struct reading *r, const json_t *object)
{
    (void)object;
    gp_once_forget(&r->once);
    return true;
}

static bool read_definition(struct reading *r, const char *type, const json_t *object)
{
    char why[256];
    return gp_once_define(&r->once, type, object, why, sizeof(why)) || leave_out(r, why);
}

static bool read_typed(struct reading *r, const char *type, const json_t *object)
{
    static const struct {
        const char *type;
        bool (*read)(struct reading *, const json_t *);
    } kinds[] = {{"header", read_header},     {"device", read_device},
                 {"launch", read_launch},     {"early", read_early},
                 {"count", read_count},       {"sum", read_sum},
                 {"snapshot", read_snapshot}, {"passed_over", read_passed_over},
                 {"graph", read_graph},       {"succession", read_succession},
                 {"forget", read_forget},     {"given_up", read_given_up},
                 {"so_far", read_so_far},     {"end", read_end}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].read(r, object);
    if (gp_once_is_definition(type))
        return read_definition(r, type, object);
    /* A type that this version does not know is one that others added. */
    return give_other(r, type, object);
}

static bool read_object(struct reading *r, const char *text, size_t length)
{
    char why[256];
    json_error_t error;
    if (gp_json_is_too_large(text, length))
        return leave_out(r, TOO_MANY_PARTS);
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        snprintf(why, sizeof(why), "no JSON: %s", error.text);
        return leave_out(r, why);
    }
    if (!r->visitor->exact && !gp_make_printable(object)) {
        json_decref(object);
        return fail(r, "out of memory");
    }
    const char *type = json_string_value(json_object_get(object, "type"));
    bool taken;
    /* An array that begins with a string is one of a type that others added. */
    if (r->seen_header && json_is_string(json_array_get(object, 0)))
        taken = true;
    else if (!type)
        taken = leave_out(r, "there is no \"type\"");
    else if (!r->seen_header && strcmp(type, "header") != 0)
        taken = fail(r, "a profile begins with its header");
    else
        taken = read_typed(r, type, object);
    json_decref(object);
    return taken;
}

/* ---- lines that are arrays ---- */

/* Behind the `["TYPE",` with which a line begins; NULL where it begins otherwise. */
static const char *behind_type(const char *line, const char *end, const char *type)
{
    const size_t length = strlen(type);
    const char *at = gp_skip_blanks(line + 1, end);
    if ((size_t)(end - at) < length || memcmp(at, type, length) != 0)
        return NULL;
    at = gp_skip_blanks(at + length, end);
    return at < end && *at == ',' ? at + 1 : NULL;
}

/* ["ended",INDEX,NANOSECONDS] */
static bool read_ended(struct reading *r, const char *text, size_t length)
{
    json_t *line = json_loadb(text, length, 0, NULL);
    const json_t *index = json_array_get(line, 1), *duration = json_array_get(line, 2);
    const bool good = json_is_integer(index) && json_is_number(duration);
    const bool taken =
        good ? take_time(r, (uint64_t)json_integer_value(index), json_number_value(duration))
             : leave_out(r, "behind \"ended\" there must be two numbers");
    json_decref(line);
    return taken;
}

/* ["left_out",INDEX] */
static bool read_left_out(struct reading *r, const char *text, size_t length)
{
    json_t *line = json_loadb(text, length, 0, NULL);
    const json_t *index = json_array_get(line, 1);
    const bool good = json_is_integer(index);
    const size_t at = good ? find_early(r, (uint64_t)json_integer_value(index)) : r->early_count;
    json_decref(line);
    if (at < r->early_count)
        drop_early(r, at);
    return good || leave_out(r, "behind \"left_out\" there must be a number");
}

static bool read_array(struct reading *r, const char *text, size_t length)
{
    const char *end = text + length;
    if (r->seen_header && behind_type(text, end, "\"left_out\""))
        return read_left_out(r, text, length);
    if (r->seen_header && behind_type(text, end, "\"ended\""))
        return read_ended(r, text, length);
    const char *in_launch = behind_type(text, end, "\"launch\"");
    const char *in_early = in_launch ? NULL : behind_type(text, end, "\"early\"");
    if ((!in_launch && !in_early) || !r->seen_header)
        return read_object(r, text, length);
    if (!r->visitor->launch)
        return true;
    struct gp_record launch;
    char why[256];
    if (end[-1] != ']')
        return leave_out(r, "the line does not end in ]");
    if (!gp_once_launch(&r->once, in_launch ? in_launch : in_early, end - 1, &launch, why,
                        sizeof(why)))
        return leave_out(r, why);
    return in_launch ? give_launch(r, &launch) : keep_early(r, &launch);
}

static void read_line(struct reading *r, const char *text, size_t length)
{
    (void)(text[0] == '[' ? read_array(r, text, length) : read_object(r, text, length));
}

/* Without the blanks around it, which other programs may write; its length. */
static size_t trim(const char **line, size_t length)
{
    const char *end = *line + length;
    *line = gp_skip_blanks(*line, end);
    while (end > *line && gp_is_blank(end[-1]))
        end--;
    return (size_t)(end - *line);
}

static bool is_complete(const char *text, size_t length)
{
    if (text[0] == '[')
        return text[length - 1] == ']';
    json_t *object = json_loadb(text, length, 0, NULL);
    json_decref(object);
    return object != NULL;
}

/* The last line has no newline: a crash came in between, or an editor left it out. */
static void read_last_line(struct reading *r, const char *text, size_t length,
                           struct gp_text *notes)
{
    r->line++;
    length = trim(&text, length);
    if (length == 0)
        return;
    if (is_complete(text, length)) {
        read_line(r, text, length);
        return;
    }
    if (!r->seen_header) {
        fail(r, "not a gpuprof profile");
        return;
    }
    r->torn = true;
    if (notes) {
        gp_text_add_linef(notes,
                          "%s:%zu: the last line is incomplete and left out; the program was "
                          "probably ended while writing it",
                          r->path, r->line);
    }
}

/* Takes whole lines out of `text`. */
static void read_lines(struct reading *r, struct gp_text *text)
{
    char *at = text->data, *end = text->data + text->length, *newline;
    while (!r->stopped && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        const char *line = at;
        size_t length = trim(&line, (size_t)(newline - at));
        r->line++;
        if (length > 0)
            read_line(r, line, length);
        at = newline + 1;
    }
    size_t rest = (size_t)(end - at);
    memmove(text->data, at, rest);
    text->length = rest;
}

/* Takes a part of the file. A line that is too long is passed over as it comes. */
static void take_part(struct reading *r, const char *part, size_t length, struct gp_text *text)
{
    const char *newline = memchr(part, '\n', length);
    if (r->in_long_line) {
        if (!newline)
            return;
        r->in_long_line = false;
        length -= (size_t)(newline + 1 - part);
        part = newline + 1;
        newline = memchr(part, '\n', length);
    }
    gp_text_add_bytes(text, part, length);
    if (text->failed) {
        fail(r, "out of memory");
    } else if (newline) {
        read_lines(r, text);
    } else if (text->length > LARGEST_LINE) {
        r->line++;
        leave_out(r, TOO_LONG);
        r->in_long_line = true;
        gp_text_clear(text);
    }
}

/* Reads up to the end, or to where the file cannot be read on. */
static void read_all(struct reading *r, struct gp_source *source, struct gp_text *text)
{
    char *part = malloc(PART), why[256];
    ssize_t n = 1;
    if (!part)
        fail(r, "out of memory");
    while (!r->stopped && ((n = gp_source_read(source, part, PART, why, sizeof(why))) > 0 ||
                           (n == 0 && r->visitor->more && r->visitor->more(r->visitor->user)))) {
        r->compressed = gp_source_is_compressed(source);
        take_part(r, part, (size_t)n, text);
    }
    if (n < 0)
        fail_file(r, why, r->seen_header ? "; the rest is left out" : "");
    free(part);
}

static void read_source(struct reading *r, struct gp_source *source, struct gp_text *notes)
{
    struct gp_text text = {0};
    read_all(r, source, &text);
    if (!r->stopped && text.length > 0)
        read_last_line(r, text.data, text.length, notes);
    else if (!r->stopped && r->seen_header && notes && gp_source_is_unfinished(source))
        gp_text_add_linef(notes, "%s: the file was not completed; the program was probably ended",
                          r->path);
    r->torn |= gp_source_is_torn(source) || r->in_long_line;
    if (!r->stopped && !r->seen_header)
        fail_file(r,
                  gp_source_is_unfinished(source) ? "cut before its first line ends"
                                                  : "empty, not a gpuprof profile",
                  "");
    gp_text_free(&text);
    if (r->stopped && !r->failed && r->left_out < MOST_LEFT_OUT)
        return;
    /* Also where the rest cannot be read: these launches came in front of it. */
    if (!give_the_rest(r))
        return;
    end_process(r);
    if (!r->failed && r->left_out > 0) {
        say_how_many(r);
        r->failed = true;
    }
}

/* Closes the source (NULL: it could not be opened, errno says why). False as gp_profile_read.
 * *goes_on: no visitor has ended the reading. */
static bool read_and_close(struct gp_source *source, const char *path,
                           const struct gp_profile_visitor *visitor, struct gp_text *notes,
                           bool *goes_on, char *why, size_t why_size)
{
    struct reading *r = source ? calloc(1, sizeof(*r)) : NULL;
    if (!r) {
        snprintf(why, why_size, "%s: %s", path, source ? "out of memory" : strerror(errno));
        gp_source_close(source);
        return false;
    }
    *r = (struct reading){.path = strcmp(path, "-") == 0 ? "standard input" : path,
                          .visitor = visitor,
                          .once = {.own_name = visitor->counter_name, .user = visitor->user},
                          .why = why,
                          .why_size = why_size};
    read_source(r, source, notes);
    bool read = !r->failed;
    *goes_on = !r->stopped || r->failed;
    while (r->early_count > 0)
        drop_early(r, r->early_count - 1);
    gp_launch_queue_free(&r->queue);
    gp_once_free(&r->once);
    gp_source_close(source);
    free(r);
    return read;
}

static bool read_file(const char *path, const struct gp_profile_visitor *visitor,
                      struct gp_text *notes, bool *goes_on, char *why, size_t why_size)
{
    return read_and_close(gp_source_open(path), path, visitor, notes, goes_on, why, why_size);
}

bool gp_profile_read_open(int fd, const char *path, const struct gp_profile_visitor *visitor,
                          char *why, size_t why_size)
{
    bool goes_on;
    return read_and_close(gp_source_use_apart(fd), path, visitor, NULL, &goes_on, why, why_size);
}

bool gp_profile_read(const char *path, const struct gp_profile_visitor *visitor,
                     struct gp_text *notes, char *why, size_t why_size)
{
    struct gp_run_files files = {0};
    bool goes_on = true, read = read_file(path, visitor, notes, &goes_on, why, why_size);
    if (goes_on && !visitor->alone)
        gp_run_files_of(path, &files);
    for (size_t i = 1; i < files.count && goes_on; i++) {
        /* The first mistake is the one that is said. */
        char unsaid[512];
        const bool first = read;
        read &= read_file(files.list[i], visitor, notes, &goes_on, first ? why : unsaid,
                          first ? why_size : sizeof(unsaid));
    }
    if (read && files.failed) {
        snprintf(why, why_size, "%s: out of memory: other files of its run are left out", path);
        read = false;
    }
    gp_run_files_free(&files);
    return read;
}
