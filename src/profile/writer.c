#include "profile/writer.h"

#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "gpuprof_version.h"
#include "profile/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct gp_writer {
    struct gp_output file;
    int stopped;
    char *path;
    uint64_t devices_written; /* one bit per ordinal */
};

/* One line in the making; `failed`: memory ran out and something is missing in it. */
struct line {
    json_t *object;
    int failed;
};

static void put(struct line *line, json_t *into, const char *key, json_t *value)
{
    /* Takes the value over also when it fails, and fails when there is none. */
    if (json_object_set_new(into, key, value) != 0)
        line->failed = 1;
}

static void add(struct line *line, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        line->failed = 1;
}

static struct line new_line(const char *type)
{
    struct line line = {.object = json_object()};
    put(&line, line.object, "type", json_string(type));
    return line;
}

/* Bytes that are no UTF-8, which arguments and kernel names may hold, become '?'. */
static json_t *text_value(const char *s)
{
    json_t *value = json_string(s);
    if (value)
        return value;
    char *clean = strdup(s);
    if (!clean)
        return NULL;
    for (char *p = clean; *p; p++)
        if ((unsigned char)*p >= 0x80)
            *p = '?';
    value = json_string(clean);
    free(clean);
    return value;
}

static json_t *whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

/* Every field of the record that is a plain number or text, by the one list of fields. */
static void put_fields(struct line *line, const struct gp_field *fields, size_t count,
                       const void *record)
{
    for (size_t i = 0; i < count; i++) {
        const struct gp_field *f = &fields[i];
        const char *at = (const char *)record + f->offset;
        switch (f->kind) {
        case GP_FIELD_INT:
            put(line, line->object, f->name, json_integer(*(const int *)at));
            break;
        case GP_FIELD_UNSIGNED:
            put(line, line->object, f->name, whole(*(const unsigned *)at));
            break;
        case GP_FIELD_U32:
            put(line, line->object, f->name, whole(*(const uint32_t *)at));
            break;
        case GP_FIELD_U64:
            put(line, line->object, f->name, whole(*(const uint64_t *)at));
            break;
        case GP_FIELD_SIZE:
            put(line, line->object, f->name, whole(*(const size_t *)at));
            break;
        case GP_FIELD_DOUBLE:
            if (isfinite(*(const double *)at))
                put(line, line->object, f->name, json_real(*(const double *)at));
            break;
        case GP_FIELD_TEXT:
            put(line, line->object, f->name, text_value(at));
            break;
        case GP_FIELD_STRING:
            if (*(const char *const *)at)
                put(line, line->object, f->name, text_value(*(const char *const *)at));
            break;
        case GP_FIELD_EXTENT: {
            const unsigned *extent = (const unsigned *)at;
            json_t *array = json_array();
            for (int k = 0; k < 3; k++)
                add(line, array, whole(extent[k]));
            put(line, line->object, f->name, array);
            break;
        }
        }
    }
}

static int stop(struct gp_writer *w, int error)
{
    w->stopped = 1;
    const char *why = error == EBADF    ? "the program has closed its descriptor"
                      : error == EAGAIN ? "who reads it does not read on"
                                        : strerror(error);
    gp_say("%s: %s; nothing more is recorded in this profile", w->path, why);
    return -1;
}

static int append(const char *bytes, size_t length, void *text)
{
    gp_text_add_bytes(text, bytes, length);
    return ((struct gp_text *)text)->failed ? -1 : 0;
}

/* Writes the line and lets go of it. */
static int write_line(struct gp_writer *w, struct line *line)
{
    struct gp_text text = {0};
    int complete = !line->failed && json_dump_callback(line->object, append, &text,
                                                       JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0;
    gp_text_add(&text, "\n");
    int wait_ms = GP_OUTPUT_WAIT_MS;
    int error = complete && !text.failed
                    ? gp_output_write(&w->file, text.data, text.length, &wait_ms)
                    : ENOMEM;
    json_decref(line->object);
    gp_text_free(&text);
    return error ? stop(w, error) : 0;
}

static void add_own_command(struct line *line, json_t *array)
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
        add(line, array, text_value(all.data + at));
    gp_text_free(&all);
}

/* What is as usual is left out. */
static void put_settings(struct line *line, const struct gp_settings *settings)
{
    if (settings && settings->sample)
        put(line, line->object, "sample", text_value(settings->sample));
    if (settings && settings->replay_off)
        put(line, line->object, "replay", json_string("off"));
}

static int write_header(struct gp_writer *w, const char *const *command,
                        const struct gp_settings *settings)
{
    char host[256] = "", when[64] = "";
    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &utc);

    struct line line = new_line("header");
    json_t *arguments = json_array();
    if (!command)
        add_own_command(&line, arguments);
    for (; command && *command; command++)
        add(&line, arguments, text_value(*command));
    put(&line, line.object, "format", json_integer(GP_PROFILE_FORMAT));
    put(&line, line.object, "gpuprof", json_string(GP_VERSION));
    put(&line, line.object, "pid", json_integer(getpid()));
    put(&line, line.object, "host", text_value(host));
    put(&line, line.object, "command", arguments);
    put(&line, line.object, "time", json_string(when));
    put_settings(&line, settings);
    return write_line(w, &line);
}

/* The lock says that somebody is writing, a child process perhaps that inherited our settings. It
 * is this process's own: a forked child that lives on does not hold it. What is no regular file has
 * none. */
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
    if (write_header(w, command, settings) != 0) {
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

int gp_writer_device(struct gp_writer *w, const struct gp_device *device)
{
    if (w->stopped)
        return -1;
    uint64_t bit = device->ordinal >= 0 && device->ordinal < GP_MAX_DEVICES
                       ? (uint64_t)1 << device->ordinal
                       : 0;
    if (w->devices_written & bit)
        return 0;
    w->devices_written |= bit;
    struct line line = new_line("device");
    put_fields(&line, gp_device_fields, gp_device_field_count, device);
    return write_line(w, &line);
}

static int write_launch(struct gp_writer *w, const char *type, const struct gp_launch *launch)
{
    if (w->stopped)
        return -1;
    struct line line = new_line(type);
    put_fields(&line, gp_launch_fields, gp_launch_field_count, launch);
    json_t *counters = json_object(), *absent = json_object();
    for (size_t i = 0; i < launch->counter_count; i++) {
        const struct gp_counter *c = &launch->counters[i];
        if (c->absent)
            put(&line, absent, c->name, text_value(c->absent));
        else if (!isfinite(c->value))
            put(&line, absent, c->name, json_string("not a finite number"));
        else
            put(&line, counters, c->name, json_real(c->value));
    }
    put(&line, line.object, "counters", counters);
    put(&line, line.object, "absent", absent);
    return write_line(w, &line);
}

int gp_writer_launch(struct gp_writer *w, const struct gp_launch *launch)
{
    return write_launch(w, "launch", launch);
}

int gp_writer_early(struct gp_writer *w, const struct gp_launch *launch)
{
    return write_launch(w, "early", launch);
}

int gp_writer_count(struct gp_writer *w, const struct gp_count *count)
{
    if (w->stopped)
        return -1;
    struct line line = new_line("count");
    put_fields(&line, gp_count_fields, gp_count_field_count, count);
    return write_line(w, &line);
}

void gp_writer_close(struct gp_writer *w)
{
    if (!w)
        return;
    gp_output_close(&w->file);
    free(w->path);
    free(w);
}
