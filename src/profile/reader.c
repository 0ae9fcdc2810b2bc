#include "profile/reader.h"

#include "base/escape.h"
#include "profile/fields.h"
#include "profile/printable.h"
#include "profile/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGEST_LINE (64u << 20)

struct reading {
    const char *path;
    size_t line;
    const struct gp_profile_visitor *visitor;
    int seen_header;
    json_t *early[GP_MAX_EARLY]; /* launches told of early, in order, until told of in full */
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

/* ---- fields ---- */

static int is_between(const json_t *value, json_int_t least, json_int_t most)
{
    return json_is_integer(value) && json_integer_value(value) >= least &&
           json_integer_value(value) <= most;
}

/* Returns what was expected instead, NULL when the field was read. */
static const char *read_field(const struct gp_field *f, const json_t *value, char *at)
{
    switch (f->kind) {
    case GP_FIELD_INT:
        if (!is_between(value, INT_MIN, INT_MAX))
            return "a whole number";
        *(int *)at = (int)json_integer_value(value);
        return NULL;
    case GP_FIELD_UNSIGNED:
    case GP_FIELD_U32:
        if (!is_between(value, 0, UINT32_MAX))
            return "a whole number from 0 to 4294967295";
        *(uint32_t *)at = (uint32_t)json_integer_value(value);
        return NULL;
    case GP_FIELD_U64:
    case GP_FIELD_SIZE:
        /* Above 2^63 the writer stores the same bits as a negative number. */
        if (!json_is_integer(value))
            return "a whole number";
        *(uint64_t *)at = (uint64_t)json_integer_value(value);
        return NULL;
    case GP_FIELD_DOUBLE:
        if (!json_is_number(value))
            return "a number";
        *(double *)at = json_number_value(value);
        return NULL;
    case GP_FIELD_TEXT:
        if (!json_is_string(value))
            return "a string";
        snprintf(at, f->size, "%s", json_string_value(value));
        return NULL;
    case GP_FIELD_STRING:
        if (!json_is_string(value))
            return "a string";
        *(const char **)at = json_string_value(value);
        return NULL;
    case GP_FIELD_EXTENT:
        for (size_t k = 0; k < 3; k++) {
            const json_t *part = json_array_get(value, k);
            if (json_array_size(value) != 3 || !is_between(part, 0, UINT32_MAX))
                return "an array of three whole numbers";
            ((unsigned *)at)[k] = (unsigned)json_integer_value(part);
        }
        return NULL;
    }
    return NULL;
}
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes are read as 64 bits");
_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "unsigned is read as 32 bits");

static int read_fields(struct reading *r, const json_t *object, const struct gp_field *fields,
                       size_t count, void *record)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, fields[i].name);
        if (!value) {
            if (fields[i].needed)
                return fail(r, "there is no \"%s\"", fields[i].name);
            continue;
        }
        const char *expected = read_field(&fields[i], value, (char *)record + fields[i].offset);
        if (expected)
            return fail(r, "\"%s\" must be %s", fields[i].name, expected);
    }
    return 0;
}

/* ---- lines ---- */

static const char *string_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static int read_early_ones(struct reading *r);

static int read_header(struct reading *r, const json_t *object)
{
    const json_t *format = json_object_get(object, "format");
    if (!is_between(format, 1, INT_MAX))
        return fail(r, "\"format\" must be a whole number from 1");
    if (json_integer_value(format) > GP_PROFILE_FORMAT)
        return fail(r, "format %d, written by gpuprof %s; this gpuprof reads format %d",
                    (int)json_integer_value(format), string_of(object, "gpuprof"),
                    GP_PROFILE_FORMAT);
    r->seen_header = 1;
    /* Of a profile in front of this one, in the same file: its launches have the same numbers. */
    if (read_early_ones(r) != 0)
        return -1;
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
    int answer = r->visitor->header(r->visitor->user, &header);
    free(arguments);
    return answer;
}

static int read_device(struct reading *r, const json_t *object)
{
    struct gp_device device = {0};
    if (read_fields(r, object, gp_device_fields, gp_device_field_count, &device) != 0)
        return -1;
    return r->visitor->device ? r->visitor->device(r->visitor->user, &device) : 0;
}

/* Fills `counters`, which has room for all of both objects. */
static int read_counters(struct reading *r, json_t *values, json_t *reasons,
                         struct gp_counter *counters)
{
    const char *name;
    json_t *value;
    json_object_foreach(values, name, value)
    {
        if (!json_is_number(value))
            return fail(r, "counter \"%s\" must be a number", name);
        *counters++ = (struct gp_counter){.name = name, .value = json_number_value(value)};
    }
    json_object_foreach(reasons, name, value)
    {
        if (!json_is_string(value))
            return fail(r, "the reason why \"%s\" is absent must be a string", name);
        *counters++ = (struct gp_counter){.name = name, .absent = json_string_value(value)};
    }
    return 0;
}

static void drop_early(struct reading *r, size_t place)
{
    json_decref(r->early[place]);
    r->early_count--;
    memmove(&r->early[place], &r->early[place + 1], (r->early_count - place) * sizeof(*r->early));
}

/* A launch told of in full needs no early word any more. */
static void forget_early(struct reading *r, const json_t *object)
{
    const json_t *index = json_object_get(object, "index");
    for (size_t i = 0; i < r->early_count; i++) {
        if (json_equal(json_object_get(r->early[i], "index"), index)) {
            drop_early(r, i);
            return;
        }
    }
}

static int read_launch(struct reading *r, const json_t *object)
{
    struct gp_launch launch = {.shared_carveout = -1};
    if (read_fields(r, object, gp_launch_fields, gp_launch_field_count, &launch) != 0)
        return -1;
    forget_early(r, object);
    json_t *values = json_object_get(object, "counters");
    json_t *reasons = json_object_get(object, "absent");
    size_t count = json_object_size(values) + json_object_size(reasons);
    struct gp_counter *counters = calloc(count + 1, sizeof(*counters));
    if (!counters)
        return fail(r, "out of memory");
    int answer = read_counters(r, values, reasons, counters);
    if (answer == 0 && r->visitor->launch) {
        launch.counter_count = count;
        launch.counters = counters;
        answer = r->visitor->launch(r->visitor->user, &launch);
    }
    free(counters);
    return answer;
}

/* The process ended before these were written in full: what was known early is all there is. */
static int read_early_ones(struct reading *r)
{
    int answer = 0;
    while (r->early_count > 0 && answer == 0) {
        json_t *object = json_incref(r->early[0]);
        drop_early(r, 0);
        answer = read_launch(r, object);
        json_decref(object);
    }
    return answer;
}

static int read_early(struct reading *r, const json_t *object)
{
    struct gp_launch launch = {0};
    if (read_fields(r, object, gp_launch_fields, gp_launch_field_count, &launch) != 0)
        return -1;
    int answer = r->early_count == GP_MAX_EARLY ? read_early_ones(r) : 0;
    if (answer == 0)
        r->early[r->early_count++] = json_incref((json_t *)object);
    return answer;
}

static int read_count(struct reading *r, const json_t *object)
{
    struct gp_count count = {0};
    if (read_fields(r, object, gp_count_fields, gp_count_field_count, &count) != 0)
        return -1;
    return r->visitor->count ? r->visitor->count(r->visitor->user, &count) : 0;
}

static int read_line(struct reading *r, const char *text, size_t length)
{
    json_error_t error;
    json_t *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return fail(r, "no JSON: %s", error.text);
    if (!gp_make_printable(object)) {
        json_decref(object);
        return fail(r, "out of memory");
    }
    static const struct {
        const char *type;
        int (*read)(struct reading *, const json_t *);
    } kinds[] = {{"header", read_header},
                 {"device", read_device},
                 {"launch", read_launch},
                 {"early", read_early},
                 {"count", read_count}};
    const char *type = json_string_value(json_object_get(object, "type"));
    int answer = 0;
    if (!type)
        answer = fail(r, "not a line of a gpuprof profile (no \"type\")");
    else if (!r->seen_header && strcmp(type, "header") != 0)
        answer = fail(r, "a profile begins with its header");
    else
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
            if (strcmp(type, kinds[i].type) == 0)
                answer = kinds[i].read(r, object);
    /* A type that this version does not know is one that later versions added. */
    json_decref(object);
    return answer;
}

/* The last line has no newline: a crash came in between, or an editor left it out. */
static int read_last_line(struct reading *r, const char *text, size_t length, struct gp_text *notes)
{
    r->line++;
    json_t *object = json_loadb(text, length, 0, NULL);
    if (object) {
        json_decref(object);
        return read_line(r, text, length);
    }
    if (!r->seen_header)
        return fail(r, "not a gpuprof profile");
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

static int read_file(struct reading *r, int fd, struct gp_text *notes)
{
    struct gp_text text = {0};
    char *part = malloc(1 << 16);
    int answer = part ? 0 : fail(r, "out of memory");
    ssize_t n = 1;
    while (answer == 0 && n != 0) {
        n = read(fd, part, 1 << 16);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            snprintf(r->why, r->why_size, "%s: %s", r->path, strerror(errno));
            answer = -1;
        } else if (n > 0) {
            gp_text_add_bytes(&text, part, (size_t)n);
            if (text.failed)
                answer = fail(r, "out of memory");
            else if (memchr(part, '\n', (size_t)n))
                answer = read_lines(r, &text);
            else if (text.length > LARGEST_LINE)
                answer = fail(r, "not a gpuprof profile (a line is longer than 64 MiB)");
        }
    }
    if (answer == 0 && text.length > 0)
        answer = read_last_line(r, text.data, text.length, notes);
    if (answer == 0 && !r->seen_header) {
        snprintf(r->why, r->why_size, "%s: empty, not a gpuprof profile", r->path);
        answer = -1;
    }
    if (answer == 0)
        answer = read_early_ones(r);
    while (r->early_count > 0)
        drop_early(r, r->early_count - 1);
    gp_text_free(&text);
    free(part);
    return answer;
}

int gp_profile_read(const char *path, const struct gp_profile_visitor *visitor,
                    struct gp_text *notes, char *why, size_t why_size)
{
    struct reading r = {.path = path, .visitor = visitor, .why = why, .why_size = why_size};
    if (strcmp(path, "-") == 0) {
        r.path = "standard input";
        return read_file(&r, STDIN_FILENO, notes);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(why, why_size, "%s: %s", path, strerror(errno));
        return -1;
    }
    int answer = read_file(&r, fd, notes);
    close(fd);
    return answer;
}
