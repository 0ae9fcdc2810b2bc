#include "profile/writer.h"

#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "gpuprof_version.h"
#include "profile/number.h"
#include "profile/object.h"
#include "profile/said.h"
#include "profile/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct gp_writer {
    struct gp_output file;
    bool stopped;
    char *path;
    uint64_t devices_written; /* one bit per ordinal */
    struct gp_sink sink;
    struct gp_said said;
    struct gp_text lines, body; /* scratch: the line to be written; the definitions before it */
};

static bool stop(struct gp_writer *w, int error)
{
    w->stopped = true;
    const char *why = error == EBADF    ? "the program has closed its descriptor"
                      : error == EAGAIN ? "its reader does not read on"
                                        : strerror(error);
    gp_say("%s: %s; nothing more is recorded in this profile", w->path, why);
    return false;
}

/* Writes the lines that were made. */
static bool write_lines(struct gp_writer *w, bool complete)
{
    bool failed = !complete || w->lines.failed;
    int error = failed ? ENOMEM : gp_sink_write(&w->sink, w->lines.data, w->lines.length);
    gp_text_clear(&w->lines);
    return error ? stop(w, error) : true;
}

/* Writes the line and frees it. */
static bool write_object(struct gp_writer *w, struct gp_object *line)
{
    bool complete = gp_object_finish(line, &w->lines);
    gp_text_add(&w->lines, "\n");
    return write_lines(w, complete);
}

static void add_own_command(struct gp_object *line, json_t *array)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    struct gp_text all = {0};
    char part[4096];
    ssize_t n;
    while ((n = read(fd, part, sizeof(part))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            gp_text_add_bytes(&all, part, (size_t)n);
    close(fd);
    for (size_t at = 0; !all.failed && at < all.length; at += strlen(all.data + at) + 1)
        gp_object_append(line, array, gp_object_text(all.data + at));
    gp_text_free(&all);
}

/* A field with its usual value is left out. */
static void put_settings(struct gp_object *line, const struct gp_settings *settings)
{
    if (settings && settings->sample)
        gp_object_put(line, line->object, "sample", gp_object_text(settings->sample));
    if (settings && settings->replay_off)
        gp_object_put(line, line->object, "replay", json_string("off"));
}

/* The elements of a launch's line, in their order. */
static void put_columns(struct gp_object *line)
{
    json_t *columns = json_array();
    gp_object_append(line, columns, json_string("configuration"));
    for (size_t i = 0; i < gp_launch_field_count; i++)
        if (gp_is_column(&gp_launch_fields[i]))
            gp_object_append(line, columns, json_string(gp_launch_fields[i].name));
    static const char *const last[] = {"reason", "values", "counters"};
    for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
        gp_object_append(line, columns, json_string(last[i]));
    gp_object_put(line, line->object, "columns", columns);
}

static bool write_header(struct gp_writer *w, const char *const *command,
                         const struct gp_settings *settings)
{
    char host[256] = "", when[64] = "";
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);

    struct gp_object line = gp_object_new("header");
    json_t *arguments = json_array();
    if (!command)
        add_own_command(&line, arguments);
    for (; command && *command; command++)
        gp_object_append(&line, arguments, gp_object_text(*command));
    gp_object_put(&line, line.object, "format", json_integer(GP_PROFILE_FORMAT));
    gp_object_put(&line, line.object, "gpuprof", json_string(GP_VERSION));
    gp_object_put(&line, line.object, "pid", json_integer(getpid()));
    gp_object_put(&line, line.object, "host", gp_object_text(host));
    gp_object_put(&line, line.object, "command", arguments);
    gp_object_put(&line, line.object, "time", json_string(when));
    put_settings(&line, settings);
    put_columns(&line);
    return write_object(w, &line);
}

/* The lock says that somebody is writing, a child process perhaps that inherited our settings. It
 * is this process's own: a forked child that lives on does not hold it. Only a regular file has a
 * lock. */
static bool is_being_written(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES);
}

struct gp_writer *gp_writer_open(const char *path, const char *const *command,
                                 const struct gp_settings *settings, char *why, size_t why_size)
{
    struct gp_writer *w = calloc(1, sizeof(*w));
    char *name = strdup(path);
    bool is_programs = false;
    int fd = w && name ? gp_open_output(path, &is_programs) : -1;
    if (fd < 0) {
        snprintf(why, why_size, "%s: %s", path, w && name ? gp_open_error(errno) : "out of memory");
        free(w);
        free(name);
        return NULL;
    }
    if (!is_programs && is_being_written(fd)) {
        snprintf(why, why_size,
                 "%s: another process is writing this file; put %%p (process id) into its name",
                 path);
        close(fd);
        free(w);
        free(name);
        return NULL;
    }
    if (!is_programs && ftruncate(fd, 0) != 0)
        errno = 0; /* a pipe or a terminal: nothing to empty */
    w->file = gp_output_of(fd);
    w->path = name;
    if (!gp_sink_open(&w->sink, &w->file, gp_sink_compresses(path))) {
        snprintf(why, why_size, "%s: out of memory", path);
        gp_writer_close(w);
        return NULL;
    }
    if (!write_header(w, command, settings)) {
        snprintf(why, why_size, "%s: cannot be written", path);
        gp_writer_close(w);
        return NULL;
    }
    return w;
}

const char *gp_writer_path(const struct gp_writer *w)
{
    return w->stopped ? NULL : w->path;
}

bool gp_writer_device(struct gp_writer *w, const struct gp_device *device)
{
    if (w->stopped)
        return false;
    uint64_t bit = device->ordinal >= 0 && device->ordinal < GP_MAX_DEVICES
                       ? (uint64_t)1 << device->ordinal
                       : 0;
    if (w->devices_written & bit)
        return true;
    w->devices_written |= bit;
    struct gp_object line = gp_object_new("device");
    gp_object_put_fields(&line, gp_device_fields, gp_device_field_count, GP_FIELDS_ALL, device);
    return write_object(w, &line);
}

/* ---- launches ---- */

/* The kinds of texts that have keys: no two are alike. */
enum { CONFIGURATION = 1, REASON, NAMES };

/* Says w->body under a number, once. 0 when out of memory. */
static unsigned say_once(struct gp_writer *w, const char *type)
{
    if (w->body.failed)
        return 0;
    size_t length = w->body.length;
    /* Texts of two types are never alike: each begins with the names of its fields. */
    unsigned number = gp_said_find(&w->said, w->body.data, length);
    if (number)
        return number;
    number = gp_said_add(&w->said, w->body.data, length);
    gp_text_addf(&w->lines, "{\"type\":\"%s\",\"id\":%u,", type, number);
    gp_text_add_bytes(&w->lines, w->body.data + 1, length - 1);
    gp_text_add(&w->lines, "\n");
    return number;
}

/* The object becomes w->body. */
static unsigned say_object_once(struct gp_writer *w, const char *type, struct gp_object *object)
{
    gp_text_clear(&w->body);
    return gp_object_finish(object, &w->body) ? say_once(w, type) : 0;
}

static void add_once_fields(struct gp_said_key *key, const struct gp_record *launch)
{
    for (size_t i = 0; i < gp_launch_field_count; i++) {
        const struct gp_field *f = &gp_launch_fields[i];
        const char *at = (const char *)launch + f->offset;
        if (!f->once)
            continue;
        if (f->kind != GP_FIELD_STRING)
            gp_said_key_add(key, at, f->size);
        else if (*(const char *const *)at)
            gp_said_key_add_text(key, *(const char *const *)at);
    }
}

static unsigned say_configuration(struct gp_writer *w, const struct gp_record *launch)
{
    struct gp_said_key key = {{CONFIGURATION}};
    add_once_fields(&key, launch);
    unsigned number = gp_said_find_key(&w->said, &key);
    if (number)
        return number;
    struct gp_object object = gp_object_new(NULL);
    gp_object_put_fields(&object, gp_launch_fields, gp_launch_field_count, GP_FIELDS_ONCE, launch);
    number = say_object_once(w, "configuration", &object);
    gp_said_note_key(&w->said, &key, number);
    return number;
}

static unsigned say_reason(struct gp_writer *w, const char *reason)
{
    struct gp_said_key key = {{REASON}};
    gp_said_key_add_text(&key, reason);
    unsigned number = gp_said_find_key(&w->said, &key);
    if (number)
        return number;
    struct gp_object object = gp_object_new(NULL);
    gp_object_put(&object, object.object, "reason", gp_object_text(reason));
    number = say_object_once(w, "reason", &object);
    gp_said_note_key(&w->said, &key, number);
    return number;
}

/* Why a counter has no value; NULL where it has one. */
static const char *absence(const struct gp_counter *c)
{
    if (!c->absent && !isfinite(c->value))
        return "not a finite number";
    return c->absent;
}

/* The counts of instrumented code are the same for many launches. */
static bool is_shared(const struct gp_counter *c)
{
    return strstr(c->name, GP_INSTRUMENTED) != NULL;
}

static void add_names(struct gp_said_key *key, const struct gp_record *launch, bool shared)
{
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (is_shared(c) != shared)
            continue;
        gp_said_key_add_text(key, c->name);
        gp_said_key_add_text(key, absence(c) ? absence(c) : "");
    }
}

/* The names of those counters that are shared, or are not. */
static unsigned say_names(struct gp_writer *w, const struct gp_record *launch, bool shared)
{
    struct gp_said_key key = {{NAMES}};
    add_names(&key, launch, shared);
    unsigned number = gp_said_find_key(&w->said, &key);
    if (number)
        return number;
    struct gp_object object = gp_object_new(NULL);
    json_t *names = json_array(), *absent = json_object();
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (is_shared(c) != shared)
            continue;
        if (absence(c))
            gp_object_put(&object, absent, c->name, gp_object_text(absence(c)));
        else
            gp_object_append(&object, names, json_string(c->name));
    }
    gp_object_put(&object, object.object, "names", names);
    gp_object_put(&object, object.object, "absent", absent);
    number = say_object_once(w, "counters", &object);
    gp_said_note_key(&w->said, &key, number);
    return number;
}

static void add_values(struct gp_text *out, const struct gp_record *launch, bool shared)
{
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (is_shared(c) != shared || absence(c))
            continue;
        gp_text_add(out, ",");
        gp_number_add_measured(out, c->value);
    }
}

static unsigned say_shared_values(struct gp_writer *w, const struct gp_record *launch)
{
    unsigned names = say_names(w, launch, true);
    if (names == 0)
        return 0;
    gp_text_clear(&w->body);
    gp_text_addf(&w->body, "{\"values\":[%u", names);
    add_values(&w->body, launch, true);
    gp_text_add(&w->body, "]}");
    return say_once(w, "values");
}

/* Whole microseconds. */
static void add_milliseconds(struct gp_text *out, double value)
{
    gp_number_add(out, isfinite(value) ? round(value * 1e3) / 1e3 : 0);
}

static void add_column(struct gp_text *out, const struct gp_field *f,
                       const struct gp_record *launch)
{
    const char *at = (const char *)launch + f->offset;
    switch (f->kind) {
    case GP_FIELD_INT:
        gp_text_addf(out, ",%d", *(const int *)at);
        break;
    case GP_FIELD_UNSIGNED:
    case GP_FIELD_U32:
        gp_text_addf(out, ",%" PRIu32, *(const uint32_t *)at);
        break;
    case GP_FIELD_U64:
    case GP_FIELD_SIZE:
        gp_text_addf(out, ",%" PRIu64, *(const uint64_t *)at);
        break;
    default: /* a time: gp_is_column lets no other kind in */
        gp_text_add(out, ",");
        add_milliseconds(out, *(const double *)at);
        break;
    }
}

/* At most so many things are said once for a launch. */
#define SAID_PER_LAUNCH 5

static void forget_when_full(struct gp_writer *w)
{
    if (!gp_said_is_full(&w->said, SAID_PER_LAUNCH))
        return;
    gp_said_forget(&w->said);
    gp_text_add(&w->lines, "{\"type\":\"forget\"}\n");
}

static bool write_launch(struct gp_writer *w, const char *type, const struct gp_record *launch)
{
    if (w->stopped)
        return false;
    bool shares = false;
    for (size_t i = 0; i < launch->counter_count; i++)
        shares |= is_shared(&launch->counters[i]);
    forget_when_full(w);
    unsigned configuration = say_configuration(w, launch);
    unsigned reason = launch->skipped ? say_reason(w, launch->skipped) : 0;
    unsigned values = shares ? say_shared_values(w, launch) : 0;
    unsigned names = say_names(w, launch, false);
    bool complete = configuration && names && (reason || !launch->skipped) && (values || !shares);
    gp_text_addf(&w->lines, "[\"%s\",%u", type, configuration);
    for (size_t i = 0; i < gp_launch_field_count; i++)
        if (gp_is_column(&gp_launch_fields[i]))
            add_column(&w->lines, &gp_launch_fields[i], launch);
    gp_text_addf(&w->lines, ",%u,%u,%u", reason, values, names);
    add_values(&w->lines, launch, false);
    gp_text_add(&w->lines, "]\n");
    return write_lines(w, complete);
}

bool gp_writer_launch(struct gp_writer *w, const struct gp_record *launch)
{
    return write_launch(w, "launch", launch);
}

bool gp_writer_early(struct gp_writer *w, const struct gp_record *launch)
{
    return write_launch(w, "early", launch);
}

bool gp_writer_count(struct gp_writer *w, const struct gp_count *count)
{
    if (w->stopped)
        return false;
    struct gp_object line = gp_object_count(count);
    return write_object(w, &line);
}

bool gp_writer_given_up(struct gp_writer *w, const char *reason)
{
    if (w->stopped)
        return false;
    struct gp_object line = gp_object_new("given_up");
    gp_object_put(&line, line.object, "reason", gp_object_text(reason));
    return write_object(w, &line);
}

bool gp_writer_end(struct gp_writer *w, const struct gp_end *end)
{
    if (w->stopped)
        return false;
    struct gp_object line = gp_object_new("end");
    gp_object_put_fields(&line, gp_end_fields, gp_end_field_count, GP_FIELDS_ALL, end);
    return write_object(w, &line);
}

bool gp_writer_line(struct gp_writer *w, const char *type, struct json_t *fields)
{
    struct gp_object line = gp_object_new(type);
    if (!fields || json_object_update(line.object, fields) != 0)
        line.failed = true;
    json_decref(fields);
    if (!w->stopped)
        return write_object(w, &line);
    json_decref(line.object);
    return false;
}

void gp_writer_finish(struct gp_writer *w)
{
    int error = w->stopped ? 0 : gp_sink_finish(&w->sink);
    if (error)
        stop(w, error);
}

void gp_writer_close(struct gp_writer *w)
{
    if (!w)
        return;
    gp_writer_finish(w);
    gp_sink_free(&w->sink);
    gp_said_forget(&w->said);
    gp_text_free(&w->lines);
    gp_text_free(&w->body);
    gp_output_close(&w->file);
    free(w->path);
    free(w);
}
