/* The profile of this process. Its file is opened for the first launch: a process without one
 * leaves none. Owns the writer. Not locked: launch/results.c lets one thread in at a time. */
#include "launch/inside.h"

#include "base/added_time.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pattern.h"
#include "base/process.h"
#include "profile/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most bytes of a profile that the user did not ask for: some 150,000 launches. It is not
 * compressed, as that takes longer than to write it. */
#define MOST_UNASKED ((uint64_t)64 << 20)

/* How often a process says how many launches it has made where each has a line. */
#define SECONDS_BETWEEN_SAYING 2

/* Sums are written so often in seconds; of a long run at each sixtieth of its time. */
#define LEAST_BETWEEN_SUMS 2
#define MOST_BETWEEN_SUMS 60

static struct {
    const struct gp_summary *summary;
    char *path;    /* NULL: none is written, or it is open */
    bool asked;    /* for it, by the user */
    bool is_whole; /* somebody wants all of it, beside the report */
    struct gp_writer *writer;
    const char *name;  /* as recording_name */
    uint64_t recorded; /* launches with a line */
    uint64_t so_far;   /* launches that the process has made, as was written last */
    double so_far_at;  /* that was */
    double began, sums_at;
} recording;

/* ---- its file -------------------------------------------------------------------------------- */

/* The program may change its folder before its first launch. */
char *recording_path_from_here(const char *path)
{
    struct gp_text text = {0};
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    if (here)
        gp_text_addf(&text, "%s/", here);
    gp_text_add(&text, path);
    free(here);
    if (!text.failed)
        return text.data;
    gp_text_free(&text);
    return NULL;
}

static void say_unwritten(const char *why)
{
    if (recording.asked)
        gp_say("GPUPROF_OUTPUT=%s: %s; no profile is written", secure_getenv("GPUPROF_OUTPUT"),
               why);
    else if (recording.is_whole)
        gp_say("%s: nothing can be checked", why);
    if (recording.asked)
        command_note_unwritten();
}

void recording_prepare(const struct gp_summary *summary)
{
    const char *pattern = secure_getenv("GPUPROF_OUTPUT");
    struct gp_text path = {0};
    char why[512];
    recording.summary = summary;
    recording.asked = pattern && *pattern;
    recording.is_whole = recording.asked || checks_need_profile();
    if (!recording.asked) {
        if (command_profile(&path))
            recording.path = recording_path_from_here(path.data);
    } else if (gp_pattern_expand(pattern, &path, why, sizeof(why))) {
        recording.path = recording_path_from_here(gp_text_string(&path));
    } else {
        say_unwritten(why);
    }
    gp_text_free(&path);
}

static void write_devices(void)
{
    for (int i = 0; i < GP_MAX_DEVICES; i++) {
        const struct gp_device *device = gp_summary_get_device(recording.summary, i);
        if (device)
            gp_writer_device(recording.writer, device);
    }
}

static void note_opened(const char *asked_path)
{
    const char *path = gp_writer_path(recording.writer);
    const char *beside = gp_writer_beside(recording.writer);
    if (user_settings.profile_limit > 0)
        gp_writer_limit(recording.writer, user_settings.profile_limit, !recording.is_whole);
    else if (!recording.is_whole)
        gp_writer_limit(recording.writer, MOST_UNASKED, true);
    recording.began = recording.sums_at = recording.so_far_at = gp_clock_seconds();
    if (recording.asked && beside)
        gp_say("%s: %s; the profile of process %ld is %s", asked_path, beside, (long)getpid(),
               path);
    if (recording.asked)
        recording.name = path;
    write_devices();
    ended_start();
}

/* The profile's writer, NULL where there is none. The file is opened at the first launch. */
static struct gp_writer *opened(void)
{
    char why[512], *path = recording.path;
    if (!path)
        return recording.writer;
    recording.path = NULL;
    recording.writer = gp_writer_open(path, NULL, &user_settings.recorded, why, sizeof(why));
    if (recording.writer)
        note_opened(path);
    else
        say_unwritten(why);
    free(path);
    return recording.writer;
}

/* Tells the command where lines could not be written. */
static void check(void)
{
    if (recording.asked && recording.writer && !gp_writer_path(recording.writer))
        command_note_unwritten();
}

struct gp_writer *recording_at_end(bool launched)
{
    struct gp_writer *writer = launched ? opened() : recording.writer;
    if (writer)
        gp_writer_sums(writer, true);
    return recording.is_whole ? writer : NULL;
}

static void say_left_out(void)
{
    const uint64_t left_out = gp_writer_left_out(recording.writer);
    const size_t cut = gp_writer_cut(recording.writer);
    if (!recording.name || !gp_writer_path(recording.writer))
        return;
    if (left_out > 0)
        gp_say("%s: %" PRIu64 " of %" PRIu64
               " launches have no line of their own there, as it has a "
               "limit (--limit-profile); sums have their number and their times",
               recording.name, left_out, recording.recorded);
    if (cut > 0)
        gp_say("%s: the limit (--limit-profile) had no room for %zu other lines, of counts and of "
               "the kernels' code",
               recording.name, cut);
}

void recording_end(const struct gp_end *end)
{
    if (!recording.writer)
        return;
    say_left_out();
    gp_writer_end(recording.writer, end);
    gp_writer_finish(recording.writer);
    check();
    if (!gp_writer_path(recording.writer))
        command_note_ended();
}

const char *recording_name(void)
{
    return recording.name;
}

/* ---- its lines ------------------------------------------------------------------------------- */

void recording_device(const struct gp_device *device)
{
    if (recording.writer)
        gp_writer_device(recording.writer, device);
    check();
}

static void count_line(bool noted)
{
    if (!noted && opened())
        recording.recorded++;
}

void recording_launch(const struct gp_record *launch, bool noted)
{
    count_line(noted);
    if (opened())
        gp_writer_launch(recording.writer, launch);
    check();
}

static bool has_duration(const struct gp_record *launch)
{
    size_t i = 0;
    while (i < launch->counter_count && strcmp(launch->counters[i].name, GP_DURATION_COUNTER) != 0)
        i++;
    return i < launch->counter_count;
}

void recording_early(const struct gp_record *launch, double duration_ns, bool noted)
{
    count_line(noted);
    if (opened() && gp_writer_early(recording.writer, launch) && duration_ns > 0 &&
        !has_duration(launch))
        gp_writer_ended(recording.writer, launch->index, duration_ns);
    check();
}

void recording_ended(uint64_t index, double duration_ns)
{
    if (recording.writer)
        gp_writer_ended(recording.writer, index, duration_ns);
    check();
}

/* Readers from outside want to know, too, how long the process runs. */
static bool is_time_to_say(double now)
{
    const double since = now - recording.so_far_at;
    return since >= SECONDS_BETWEEN_SAYING ||
           (since >= 1 && gp_writer_left_out(recording.writer) > 0);
}

void recording_so_far(uint64_t launches)
{
    if (!recording.writer || launches == recording.so_far)
        return;
    const double now = gp_clock_seconds();
    const bool lack_lines = launches > recording.recorded;
    if (!is_time_to_say(now) && (!lack_lines || gp_writer_left_out(recording.writer) > 0))
        return;
    recording.so_far = launches;
    recording.so_far_at = now;
    const struct gp_end times = {.seconds = gp_process_seconds(),
                                 .added_seconds = gp_added_seconds()};
    gp_writer_so_far(recording.writer, launches, &times);
    check();
}

void recording_count_so_far(const struct gp_count *more)
{
    if (recording.writer)
        gp_writer_count_so_far(recording.writer, more);
}

bool recording_sums_are_due(void)
{
    const double now = gp_clock_seconds();
    const double between =
        fmin(fmax((now - recording.began) / 60, LEAST_BETWEEN_SUMS), MOST_BETWEEN_SUMS);
    return recording.writer && now - recording.sums_at >= between &&
           (session_launches() > recording.recorded || gp_writer_left_out(recording.writer) > 0);
}

void recording_sums(void)
{
    recording.sums_at = gp_clock_seconds();
    gp_writer_sums(recording.writer, false);
    check();
}

void recording_thin(void (*lock)(void), void (*unlock)(void), bool (*goes_on)(void))
{
    lock();
    struct gp_writer *writer = recording.writer;
    const bool is_long = writer && gp_writer_is_long(writer);
    unlock();
    if (!is_long)
        return;
    gp_writer_thin(writer, lock, unlock, goes_on);
    lock();
    recording.so_far = 0; /* its line is not in the new file */
    unlock();
}

void recording_give_up(const char *why)
{
    if (opened())
        gp_writer_given_up(recording.writer, why);
    check();
}
