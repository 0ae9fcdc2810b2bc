/* The profile of this process. Its file is opened for the first launch: a process without one
 * leaves none. Owns the writer. Not locked: launch/results.c lets one thread in at a time. */
#include "launch/inside.h"

#include "base/log.h"
#include "base/pattern.h"
#include "profile/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most bytes of a profile that the user did not ask for: some 150,000 launches. It is not
 * compressed, as that takes longer than to write it. */
#define MOST_UNASKED ((uint64_t)64 << 20)

static struct {
    const struct gp_summary *summary;
    char *path;    /* NULL: none is written, or it is open */
    bool asked;    /* for it, by the user */
    bool is_whole; /* somebody wants all of it, beside the report */
    struct gp_writer *writer;
    const char *name;  /* as recording_name */
    uint64_t recorded; /* launches with a line */
    uint64_t so_far;   /* launches that the process has made, as was written last */
} recording;

/* ---- its file -------------------------------------------------------------------------------- */

/* The program may change its folder before its first launch. */
static char *from_here(const char *path)
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
            recording.path = from_here(path.data);
    } else if (gp_pattern_expand(pattern, &path, why, sizeof(why))) {
        recording.path = from_here(gp_text_string(&path));
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
    if (!recording.is_whole)
        gp_writer_limit(recording.writer, MOST_UNASKED);
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
    return recording.is_whole ? writer : NULL;
}

void recording_end(const struct gp_end *end)
{
    if (!recording.writer)
        return;
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
    if (!noted && opened() && !gp_writer_is_full(recording.writer))
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

void recording_so_far(uint64_t launches)
{
    if (!recording.writer || launches <= recording.recorded || launches == recording.so_far)
        return;
    recording.so_far = launches;
    gp_writer_so_far(recording.writer, launches);
    check();
}

void recording_give_up(const char *why)
{
    if (opened())
        gp_writer_given_up(recording.writer, why);
    check();
}
