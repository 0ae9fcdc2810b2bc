#include "profile/reader.h"

#include "base/escape.h"
#include "profile/fields.h"
#include "profile/json_fields.h"
#include "profile/once.h"
#include "profile/printable.h"
#include "profile/source.h"
#include "profile/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_LINE (64u << 20)
#define PART (1u << 17)

/* A line that makes no sense: it is left out. Visitors answer otherwise, or the reading would go on
 * after a visitor wanted its end; for them it is an answer like any other. */
enum { LEFT_OUT = INT_MIN };

/* A launch that was written early, kept until it is written in full. */
struct early {
    struct gp_record launch;
    struct gp_counter counters[];
};

struct reading {
    const char *path;
    size_t line;
    const struct gp_profile_visitor *visitor;
    int seen_header;
    int format;      /* of the process at hand */
    bool ended;      /* it has its "end" line */
    bool torn;       /* the file ends in the middle of a line */
    size_t left_out; /* lines */
    struct gp_once once;
    struct early *early[GP_MAX_EARLY]; /* in order */
    size_t early_count;
    char *why;
    size_t why_size;
};

static int fail(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct reading *r, const char *fmt, ...)
{
    int n = snprintf(r->why, r->why_size, "%s:%zu: ", r->path, r->line);
    if (n >= 0 && (size_t)n < r->why_size) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(r->why + n, r->why_size - (size_t)n, fmt, args);
        va_end(args);
    }
    return -1;
}

/* The first such line is said, the others are counted. */
static int leave_out(struct reading *r, const char *why)
{
    if (!r->seen_header)
        return fail(r, "not a gpuprof profile: %s", why);
    if (r->left_out++ == 0)
        fail(r, "%s", why);
    return LEFT_OUT;
}

static void say_how_many(struct reading *r)
{
    char more[64];
    snprintf(more, sizeof(more), "; this line and %zu more are left out", r->left_out - 1);
    size_t length = strlen(r->why), room = r->why_size - length;
    snprintf(r->why + length, room, "%s", r->left_out > 1 ? more : "; the line is left out");
}

static int read_fields(struct reading *r, const json_t *object, const struct gp_field *fields,
                       size_t count, void *record)
{
    char why[128];
    if (gp_json_fields(object, fields, count, GP_FIELDS_ALL, record, why, sizeof(why)))
        return 0;
    return leave_out(r, why);
}

/* ---- early launches ---- */

static void drop_early(struct reading *r, size_t at)
{
    free(r->early[at]);
    r->early_count--;
    memmove(&r->early[at], &r->early[at + 1], (r->early_count - at) * sizeof(struct early *));
}

/* The process ended before these were written in full: the early values are all there is. */
static int give_early_ones(struct reading *r)
{
    int answer = 0;
    while (r->early_count > 0 && answer == 0) {
        if (r->visitor->launch)
            answer = r->visitor->launch(r->visitor->user, &r->early[0]->launch);
        drop_early(r, 0);
    }
    return answer;
}

static int keep_early(struct reading *r, const struct gp_record *launch)
{
    int answer = r->early_count == GP_MAX_EARLY ? give_early_ones(r) : 0;
    if (answer != 0)
        return answer;
    size_t size = launch->counter_count * sizeof(struct gp_counter);
    struct early *early = malloc(sizeof(*early) + size);
    if (!early)
        return fail(r, "out of memory");
    early->launch = *launch;
    if (size > 0)
        memcpy(early->counters, launch->counters, size);
    early->launch.counters = early->counters;
    r->early[r->early_count++] = early;
    return 0;
}

/* A launch written in full replaces its early line. */
static int give_launch(struct reading *r, const struct gp_record *launch)
{
    for (size_t i = 0; i < r->early_count; i++) {
        if (r->early[i]->launch.index == launch->index) {
            drop_early(r, i);
            break;
        }
    }
    return r->visitor->launch ? r->visitor->launch(r->visitor->user, launch) : 0;
}

static void end_process(const struct reading *r)
{
    if (!r->visitor->unfinished || !r->seen_header || r->ended)
        return;
    if (r->torn)
        r->visitor->unfinished(r->visitor->user, "the file ends in the middle of a line");
    else if (r->format >= 2)
        r->visitor->unfinished(r->visitor->user,
                               "it has no line of the process' end: the process was killed or "
                               "ended by _exit, or the file was cut");
}

/* ---- lines that are objects ---- */

static const char *string_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static int read_header(struct reading *r, const json_t *object)
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
    /* Of a profile in front of this one, in the same file: its launches have the same numbers. */
    int answer = give_early_ones(r);
    if (answer != 0)
        return answer;
    end_process(r);
    gp_once_forget(&r->once);
    r->seen_header = 1;
    r->format = (int)json_integer_value(format);
    r->ended = false;
    if (!r->visitor->header)
        return 0;

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
        .version = string_of(object, "gpuprof"),
        .host = string_of(object, "host"),
        .time = string_of(object, "time"),
        .pid = (long)json_integer_value(json_object_get(object, "pid")),
        .argument_count = count,
        .command = arguments,
        .settings = {.sample = json_string_value(json_object_get(object, "sample")),
                     .replay_off = strcmp(string_of(object, "replay"), "off") == 0},
    };
    answer = r->visitor->header(r->visitor->user, &header);
    free(arguments);
    return answer;
}

static int read_device(struct reading *r, const json_t *object)
{
    struct gp_device device = {0};
    int answer = read_fields(r, object, gp_device_fields, gp_device_field_count, &device);
    if (answer != 0)
        return answer;
    return r->visitor->device ? r->visitor->device(r->visitor->user, &device) : 0;
}

/* Fills `counters`, which has room for all of both objects. Returns like read_line. */
static int read_counters(struct reading *r, json_t *values, json_t *reasons,
                         struct gp_counter *counters)
{
    const char *name;
    char why[512];
    json_t *value;
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
            .absent = gp_strings_keep(&r->once.strings, json_string_value(value), NULL)};
        if (!counters->name || !counters->absent)
            return fail(r, "out of memory");
        counters++;
    }
    return 0;
}

/* Of format 1: all that is known of a launch in one object. */
static int read_whole_launch(struct reading *r, const json_t *object,
                             int (*take)(struct reading *, const struct gp_record *))
{
    struct gp_record launch = {.shared_carveout = -1};
    int answer = read_fields(r, object, gp_launch_fields, gp_launch_field_count, &launch);
    if (answer != 0)
        return answer;
    launch.kernel = gp_strings_keep(&r->once.strings, launch.kernel, NULL);
    if (launch.skipped)
        launch.skipped = gp_strings_keep(&r->once.strings, launch.skipped, NULL);
    json_t *values = json_object_get(object, "counters");
    json_t *reasons = json_object_get(object, "absent");
    launch.counter_count = json_object_size(values) + json_object_size(reasons);
    struct gp_counter *counters = calloc(launch.counter_count + 1, sizeof(*counters));
    answer = counters && launch.kernel ? read_counters(r, values, reasons, counters)
                                       : fail(r, "out of memory");
    launch.counters = counters;
    if (answer == 0)
        answer = take(r, &launch);
    free(counters);
    return answer;
}

static int read_launch(struct reading *r, const json_t *object)
{
    return read_whole_launch(r, object, give_launch);
}

static int read_early(struct reading *r, const json_t *object)
{
    return read_whole_launch(r, object, keep_early);
}

static int read_count(struct reading *r, const json_t *object)
{
    struct gp_count count = {0};
    int answer = read_fields(r, object, gp_count_fields, gp_count_field_count, &count);
    if (answer != 0)
        return answer;
    return r->visitor->count ? r->visitor->count(r->visitor->user, &count) : 0;
}

static int read_end(struct reading *r, const json_t *object)
{
    struct gp_end end = {0};
    int answer = read_fields(r, object, gp_end_fields, gp_end_field_count, &end);
    if (answer != 0)
        return answer;
    r->ended = true;
    return r->visitor->end ? r->visitor->end(r->visitor->user, &end) : 0;
}

/* The writer's numbers begin anew. */
static int read_forget(struct reading *r, const json_t *object)
{
    (void)object;
    gp_once_forget(&r->once);
    return 0;
}

static int read_definition(struct reading *r, const char *type, const json_t *object)
{
    char why[256];
    if (gp_once_define(&r->once, type, object, why, sizeof(why)))
        return 0;
    return leave_out(r, why);
}

static int read_typed(struct reading *r, const char *type, const json_t *object)
{
    static const struct {
        const char *type;
        int (*read)(struct reading *, const json_t *);
    } kinds[] = {{"header", read_header}, {"device", read_device}, {"launch", read_launch},
                 {"early", read_early},   {"count", read_count},   {"forget", read_forget},
                 {"end", read_end}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].read(r, object);
    if (gp_once_is_definition(type))
        return read_definition(r, type, object);
    /* A type that this version does not know is one that others added. */
    return r->visitor->other ? r->visitor->other(r->visitor->user, type, object) : 0;
}

static int read_object(struct reading *r, const char *text, size_t length)
{
    char why[256];
    json_error_t error;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        snprintf(why, sizeof(why), "no JSON: %s", error.text);
        return leave_out(r, why);
    }
    if (!gp_make_printable(object)) {
        json_decref(object);
        return fail(r, "out of memory");
    }
    const char *type = json_string_value(json_object_get(object, "type"));
    int answer;
    /* An array that begins with a string is one of a type that others added. */
    if (r->seen_header && json_is_string(json_array_get(object, 0)))
        answer = 0;
    else if (!type)
        answer = leave_out(r, "there is no \"type\"");
    else if (!r->seen_header && strcmp(type, "header") != 0)
        answer = fail(r, "a profile begins with its header");
    else
        answer = read_typed(r, type, object);
    json_decref(object);
    return answer;
}

/* ---- lines that are arrays ---- */

static bool begins_with(const char *text, size_t length, const char *begin, size_t begin_length)
{
    return length >= begin_length && memcmp(text, begin, begin_length) == 0;
}

static int read_array(struct reading *r, const char *text, size_t length)
{
    static const char launch_begin[] = "[\"launch\",", early_begin[] = "[\"early\",";
    bool is_launch = begins_with(text, length, launch_begin, sizeof(launch_begin) - 1);
    bool is_early = begins_with(text, length, early_begin, sizeof(early_begin) - 1);
    if ((!is_launch && !is_early) || !r->seen_header)
        return read_object(r, text, length);
    if (!r->visitor->launch)
        return 0;
    size_t begin = is_launch ? sizeof(launch_begin) - 1 : sizeof(early_begin) - 1;
    struct gp_record launch;
    char why[256];
    if (text[length - 1] != ']')
        return leave_out(r, "the line does not end in ]");
    if (!gp_once_launch(&r->once, text + begin, text + length - 1, &launch, why, sizeof(why)))
        return leave_out(r, why);
    return is_launch ? give_launch(r, &launch) : keep_early(r, &launch);
}

static int read_line(struct reading *r, const char *text, size_t length)
{
    int answer = text[0] == '[' ? read_array(r, text, length) : read_object(r, text, length);
    return answer == LEFT_OUT ? 0 : answer;
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
static int read_last_line(struct reading *r, const char *text, size_t length, struct gp_text *notes)
{
    r->line++;
    if (is_complete(text, length))
        return read_line(r, text, length);
    if (!r->seen_header)
        return fail(r, "not a gpuprof profile");
    r->torn = true;
    if (notes) {
        gp_text_add_escaped(notes, r->path, strlen(r->path));
        gp_text_addf(notes,
                     ":%zu: the last line is incomplete and left out; the program was probably "
                     "ended while writing it\n",
                     r->line);
    }
    return 0;
}

/* Takes whole lines out of `text`. Returns like read_line. */
static int read_lines(struct reading *r, struct gp_text *text)
{
    char *at = text->data, *end = text->data + text->length, *newline;
    int answer = 0;
    while (answer == 0 && (newline = memchr(at, '\n', (size_t)(end - at)))) {
        r->line++;
        if (newline > at)
            answer = read_line(r, at, (size_t)(newline - at));
        at = newline + 1;
    }
    size_t rest = (size_t)(end - at);
    memmove(text->data, at, rest);
    text->length = rest;
    return answer;
}

/* Reads up to the end, or to where the file cannot be read on. */
static int read_all(struct reading *r, struct gp_source *source, struct gp_text *text)
{
    char *part = malloc(PART), why[256];
    int answer = part ? 0 : fail(r, "out of memory");
    ssize_t n = 1;
    while (answer == 0 && (n = gp_source_read(source, part, PART, why, sizeof(why))) > 0) {
        gp_text_add_bytes(text, part, (size_t)n);
        if (text->failed)
            answer = fail(r, "out of memory");
        else if (memchr(part, '\n', (size_t)n))
            answer = read_lines(r, text);
        else if (text->length > LARGEST_LINE)
            answer = fail(r, "not a gpuprof profile (a line is longer than 64 MiB)");
    }
    if (n < 0) {
        snprintf(r->why, r->why_size, "%s: %s%s", r->path, why,
                 r->seen_header ? "; the rest is left out" : "");
        answer = -1;
    }
    free(part);
    return answer;
}

static int read_source(struct reading *r, struct gp_source *source, struct gp_text *notes)
{
    struct gp_text text = {0};
    int answer = read_all(r, source, &text);
    if (answer == 0 && text.length > 0)
        answer = read_last_line(r, text.data, text.length, notes);
    else if (answer == 0 && r->seen_header && notes && gp_source_is_unfinished(source))
        gp_text_addf(notes, "%s: the file was not completed; the program was probably ended\n",
                     r->path);
    if (answer == 0 && !r->seen_header) {
        snprintf(r->why, r->why_size, "%s: empty, not a gpuprof profile", r->path);
        answer = -1;
    }
    gp_text_free(&text);
    /* Also where the rest cannot be read: these launches came in front of it. */
    int early = answer == 0 || answer == -1 ? give_early_ones(r) : 0;
    if (early == 0 && (answer == 0 || answer == -1))
        end_process(r);
    if (answer == 0 && r->left_out > 0) {
        say_how_many(r);
        answer = -1;
    }
    return early ? early : answer;
}

int gp_profile_read(const char *path, const struct gp_profile_visitor *visitor,
                    struct gp_text *notes, char *why, size_t why_size)
{
    struct reading *r = calloc(1, sizeof(*r));
    struct gp_source *source = r ? gp_source_open(path) : NULL;
    if (!source) {
        snprintf(why, why_size, "%s: %s", path, r ? strerror(errno) : "out of memory");
        free(r);
        return -1;
    }
    *r = (struct reading){.path = strcmp(path, "-") == 0 ? "standard input" : path,
                          .visitor = visitor,
                          .once = {.own_name = visitor->counter_name, .user = visitor->user},
                          .why = why,
                          .why_size = why_size};
    int answer = read_source(r, source, notes);
    while (r->early_count > 0)
        drop_early(r, r->early_count - 1);
    gp_once_free(&r->once);
    gp_source_close(source);
    free(r);
    return answer;
}
