#include "profile/writer.h"

#include "base/log.h"
#include "base/output.h"
#include "base/run_id.h"
#include "base/text.h"
#include "gpuprof_version.h"
#include "profile/claim.h"
#include "profile/number.h"
#include "profile/object.h"
#include "profile/writer_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *meaning(int error)
{
    return error == EBADF    ? "the program has closed its descriptor"
           : error == EAGAIN ? "its reader does not read on"
                             : strerror(error);
}

static bool stop(struct gp_writer *w, int error)
{
    w->stopped = true;
    if (!w->unasked)
        gp_say("%s: %s; nothing more is recorded in this profile", w->path, meaning(error));
    return false;
}

/* Lines that would pass the limit are left out; the last one of a process has its room. */
static bool has_room(struct gp_writer *w)
{
    if (!w->limit || w->sink.written + w->lines.length + GP_ROOM_FOR_END <= w->limit)
        return true;
    w->cut++;
    gp_said_lines_free(&w->said); /* they may have had definitions */
    w->said = (struct gp_said_lines){0};
    w->must_forget = true;
    return false;
}

/* Writes the lines that were made. 0 or an errno value. */
static int put_lines(struct gp_writer *w, bool complete)
{
    bool failed = !complete || w->lines.failed;
    if (!failed && !has_room(w)) {
        gp_text_clear(&w->lines);
        return 0;
    }
    int error = failed ? ENOMEM : gp_sink_write(&w->sink, w->lines.data, w->lines.length);
    gp_text_clear(&w->lines);
    return error;
}

/* Writes the lines that were made; an error ends the profile. */
static bool write_lines(struct gp_writer *w, bool complete)
{
    int error = put_lines(w, complete);
    return error ? stop(w, error) : true;
}

/* Both free the line. */
static int put_object(struct gp_writer *w, struct gp_object *line)
{
    bool complete = gp_object_finish(line, &w->lines);
    gp_text_add(&w->lines, "\n");
    return put_lines(w, complete);
}

static bool write_object(struct gp_writer *w, struct gp_object *line)
{
    int error = put_object(w, line);
    return error ? stop(w, error) : true;
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
    if (settings && settings->overhead)
        gp_object_put(line, line->object, "overhead", gp_object_text(settings->overhead));
    if (settings && settings->window)
        gp_object_put(line, line->object, "window", gp_object_text(settings->window));
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

/* The file that has the name that was asked for needs no number. */
static void put_run(struct gp_object *line, const char *run, unsigned number)
{
    if (run)
        gp_object_put(line, line->object, "run", json_string(run));
    if (run && number > 1)
        gp_object_put(line, line->object, "number", json_integer(number));
}

/* 0 or an errno value. */
static int write_header(struct gp_writer *w, const char *const *command,
                        const struct gp_settings *settings, const char *run, unsigned number)
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
    put_run(&line, run, number);
    gp_object_put(&line, line.object, "pid", json_integer(getpid()));
    gp_object_put(&line, line.object, "host", gp_object_text(host));
    gp_object_put(&line, line.object, "command", arguments);
    gp_object_put(&line, line.object, "time", json_string(when));
    put_settings(&line, settings);
    put_columns(&line);
    if (!gp_object_finish(&line, &w->header))
        return ENOMEM;
    gp_text_add(&w->header, "\n");
    gp_text_add_bytes(&w->lines, gp_text_string(&w->header), w->header.length);
    return put_lines(w, !w->header.failed);
}

struct gp_writer *gp_writer_open(const char *path, const char *const *command,
                                 const struct gp_settings *settings, char *why, size_t why_size)
{
    const char *run = gp_run_id();
    struct gp_claim claim;
    if (!gp_claim_file(path, run, &claim, why, why_size))
        return NULL;
    struct gp_writer *w = calloc(1, sizeof(*w));
    if (!w) {
        snprintf(why, why_size, "%s: out of memory", path);
        gp_output_close(&claim.file);
        gp_text_free(&claim.path);
        return NULL;
    }
    w->file = claim.file;
    w->path = claim.path.data;
    w->why_beside = claim.why_beside;
    w->stays = claim.is_programs; /* the program's text stands in it, too */
    w->thinning = gp_thinning_new();
    int error = w->thinning && gp_sink_open(&w->sink, &w->file, gp_sink_compresses(path))
                    ? write_header(w, command, settings, run, claim.number)
                    : ENOMEM;
    if (!error)
        return w;
    snprintf(why, why_size, "%s: %s", w->path, meaning(error));
    w->stopped = true;
    gp_writer_close(w);
    return NULL;
}

void gp_writer_limit(struct gp_writer *w, uint64_t bytes, bool unasked)
{
    w->limit = bytes;
    w->unasked = unasked;
}

const char *gp_writer_beside(const struct gp_writer *w)
{
    return w->why_beside;
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

static void add_values(struct gp_text *out, const struct gp_record *launch)
{
    for (size_t i = 0; i < launch->counter_count; i++) {
        if (!gp_is_in_line(&launch->counters[i]))
            continue;
        gp_text_add(out, ",");
        gp_number_add_measured(out, launch->counters[i].value);
    }
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

/* ---- launches that keep their lines ---- */

static bool is_long(const struct gp_writer *w)
{
    return w->limit && w->sink.written > w->limit / 100 * GP_PERCENT_TO_THIN;
}

bool gp_writer_is_long(const struct gp_writer *w)
{
    return is_long(w) && !w->stopped && !w->stays;
}

/* The lines of sums alone may have made it long. */
void gp_writer_halve(struct gp_writer *w)
{
    const uint64_t lasting = w->sink.written - w->passing;
    if (!w->halved && lasting > w->limit / 100 * GP_PERCENT_TO_THIN / 4 * 3)
        gp_thinning_halve(w->thinning);
    w->halved = true;
}

/* While the file is written anew, or where it cannot be, fewer and fewer launches get a line, and
 * beyond all steps none. */
static bool keeps(struct gp_writer *w, const struct gp_record *launch)
{
    const uint64_t percent = w->limit ? w->sink.written / (w->limit / 100) : 0;
    const unsigned steps = percent > GP_PERCENT_TO_THIN
                               ? (unsigned)(percent - GP_PERCENT_TO_THIN) / GP_PERCENT_OF_STEP
                               : 0;
    return !w->limit ||
           (percent < GP_PERCENT_OF_LAUNCHES && gp_thinning_keeps(w->thinning, launch, steps));
}

static size_t find_early(const struct gp_writer *w, uint64_t index)
{
    size_t i = 0;
    while (i < w->early_count && w->early[i] != index)
        i++;
    return i;
}

static void note_early(struct gp_writer *w, uint64_t index)
{
    if (find_early(w, index) < w->early_count)
        return;
    if (w->early_count == GP_MAX_EARLY) /* the oldest one is forgotten */
        memmove(w->early, w->early + 1, --w->early_count * sizeof(w->early[0]));
    w->early[w->early_count++] = index;
}

/* True where it has an early line. */
static bool forget_early(struct gp_writer *w, uint64_t index)
{
    const size_t i = find_early(w, index);
    if (i == w->early_count)
        return false;
    w->early[i] = w->early[--w->early_count];
    return true;
}

/* ---- their lines ---- */

static bool write_launch(struct gp_writer *w, const char *type, const struct gp_record *launch)
{
    struct gp_references r;
    if (w->must_forget)
        gp_text_add(&w->lines, "{\"type\":\"forget\"}\n");
    w->must_forget = false;
    const bool complete = gp_say_launch(&w->said, launch, &r, &w->lines);
    gp_text_addf(&w->lines, "[\"%s\",%u", type, r.configuration);
    for (size_t i = 0; i < gp_launch_field_count; i++)
        if (gp_is_column(&gp_launch_fields[i]))
            add_column(&w->lines, &gp_launch_fields[i], launch);
    gp_text_addf(&w->lines, ",%u,%u,%u", r.reason, r.values, r.counters);
    add_values(&w->lines, launch);
    gp_text_add(&w->lines, "]\n");
    return write_lines(w, complete);
}

/* The launch is in a sum; its early line would count it once more. */
static bool leave_out(struct gp_writer *w, const struct gp_record *launch, bool has_early_line)
{
    gp_thinning_leave_out(w->thinning, launch);
    if (has_early_line)
        gp_text_addf(&w->lines, "[\"left_out\",%" PRIu64 "]\n", launch->index);
    return !has_early_line || write_lines(w, true);
}

bool gp_writer_launch(struct gp_writer *w, const struct gp_record *launch)
{
    if (w->stopped)
        return false;
    const bool has_early_line = w->limit && forget_early(w, launch->index);
    if (!keeps(w, launch))
        return leave_out(w, launch, has_early_line);
    if (w->limit)
        gp_thinning_line(w->thinning, launch);
    const bool written = write_launch(w, "launch", launch);
    if (is_long(w))
        gp_writer_halve(w);
    return written;
}

bool gp_writer_early(struct gp_writer *w, const struct gp_record *launch)
{
    if (w->stopped || !keeps(w, launch))
        return false;
    if (w->limit)
        note_early(w, launch->index);
    return write_launch(w, "early", launch);
}

bool gp_writer_ended(struct gp_writer *w, uint64_t index, double duration_ns)
{
    if (w->stopped)
        return false;
    if (w->limit && find_early(w, index) == w->early_count)
        return true;
    gp_text_addf(&w->lines, "[\"ended\",%" PRIu64 ",", index);
    gp_number_add_measured(&w->lines, duration_ns);
    gp_text_add(&w->lines, "]\n");
    return write_lines(w, true);
}

uint64_t gp_writer_left_out(const struct gp_writer *w)
{
    return gp_thinning_left_out(w->thinning);
}

size_t gp_writer_cut(const struct gp_writer *w)
{
    return w->cut;
}

void gp_writer_count_so_far(struct gp_writer *w, const struct gp_count *more)
{
    const struct gp_sum sum = {.kernel = more->kernel,
                               .device = more->device,
                               .configuration = more->configuration,
                               .launched = more->launches};
    gp_thinning_sum(w->thinning, &sum);
}

/* Near the limit the room is for the lines of the process's end. */
static bool has_room_for_passing(const struct gp_writer *w)
{
    return !w->limit || w->sink.written < w->limit / 100 * GP_PERCENT_OF_SUMS;
}

/* Lines that stand for a while only. */
static bool write_passing(struct gp_writer *w, bool complete)
{
    const uint64_t before = w->sink.written;
    const bool written = write_lines(w, complete);
    w->passing += w->sink.written - before;
    return written;
}

bool gp_writer_so_far(struct gp_writer *w, uint64_t launches, const struct gp_end *times)
{
    if (w->stopped || !has_room_for_passing(w))
        return !w->stopped;
    gp_text_addf(&w->lines, "{\"type\":\"so_far\",\"launches\":%" PRIu64, launches);
    gp_text_add(&w->lines, ",\"seconds\":");
    gp_number_add(&w->lines, rint(1e3 * times->seconds) / 1e3);
    gp_text_add(&w->lines, ",\"added_seconds\":");
    gp_number_add(&w->lines, rint(1e3 * times->added_seconds) / 1e3);
    gp_text_add(&w->lines, "}\n");
    return write_passing(w, true);
}

/* ---- sums ---- */

void gp_writer_sum(void *writer, const struct gp_sum *sum)
{
    struct gp_writer *w = writer;
    struct gp_object line = gp_object_new("sum");
    gp_object_put_fields(&line, gp_sum_fields, gp_sum_field_count, GP_FIELDS_ALL, sum);
    const bool complete = gp_object_finish(&line, &w->lines);
    gp_text_add(&w->lines, "\n");
    if (w->stopped)
        gp_text_clear(&w->lines);
    else
        write_passing(w, complete);
}

bool gp_writer_sums(struct gp_writer *w, bool at_end)
{
    if (at_end || has_room_for_passing(w)) /* else they wait for the end */
        gp_thinning_take(w->thinning, gp_writer_sum, w);
    return !w->stopped;
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
    struct gp_object line = gp_object_end(end);
    w->limit = 0; /* it has its room */
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
    gp_said_lines_free(&w->said);
    gp_thinning_free(w->thinning);
    gp_text_free(&w->header);
    gp_text_free(&w->lines);
    gp_output_close(&w->file);
    free(w->path);
    free(w);
}
