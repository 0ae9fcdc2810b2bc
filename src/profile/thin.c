/* Writes a profile anew with fewer launches, while the process goes on and adds lines to it. The
 * new file has no name until it is complete, so that a process that is killed leaves none behind.
 */
#include "profile/writer_inside.h"

#include "base/file.h"
#include "base/path.h"
#include "profile/claim.h"
#include "profile/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct thin {
    struct gp_writer *old, *anew;
    void (*lock)(void);
    bool (*goes_on)(void);
    bool locked;
};

/* ---- the new file ---------------------------------------------------------------------------- */

/* A file without a name, or where the file system has none of these one with `name`. */
static int open_anew(const char *folder, const char *name)
{
    const int flags = O_RDWR | O_APPEND | O_NONBLOCK;
    const int fd = gp_open_high(folder, flags | O_TMPFILE);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return fd;
    unlink(name); /* one that a killed process has left */
    return gp_open_high(name, flags | O_CREAT | O_EXCL);
}

/* The real path of the file, and the name of the new one beside it. */
static bool find_names(const struct gp_writer *w, char **path, struct gp_text *name)
{
    *path = realpath(w->path, NULL);
    if (*path)
        gp_text_addf(name, "%s.thin.%ld", *path, (long)getpid());
    return *path && !name->failed;
}

static bool is_same_file(const struct gp_output *file, const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && about.st_dev == file->device && about.st_ino == file->file;
}

static struct gp_writer *begin(const struct gp_writer *w, const char *folder, const char *name)
{
    struct stat about;
    struct gp_writer *anew = calloc(1, sizeof(*anew));
    if (!anew)
        return NULL;
    const int fd = open_anew(folder, name);
    anew->file = gp_output_of(fd);
    anew->unasked = true; /* its failure is no end of the profile */
    anew->thinning = gp_thinning_again(w->thinning);
    gp_text_add_bytes(&anew->header, gp_text_string(&w->header), w->header.length);
    if (fd >= 0 && fstat(w->file.fd, &about) == 0 && fchmod(fd, about.st_mode & 07777) == 0 &&
        gp_claim_lock(fd) && anew->thinning && !anew->header.failed &&
        gp_sink_open(&anew->sink, &anew->file, gp_sink_compresses(w->path)) &&
        gp_sink_write(&anew->sink, anew->header.data, anew->header.length) == 0)
        return anew;
    gp_writer_close(anew);
    return NULL;
}

/* ---- lines of the old file -------------------------------------------------------------------
 *
 * Reading goes on where the new writer does not: the lines that it cannot take end it. */

static bool take_device(void *user, const struct gp_device *device)
{
    return gp_writer_device(((struct thin *)user)->anew, device);
}

static bool take_launch(void *user, const struct gp_record *launch)
{
    struct thin *t = user;
    struct gp_writer *w = t->anew;
    if (!t->goes_on())
        return false;
    if (gp_thinning_keeps(w->thinning, launch, 0)) {
        gp_thinning_line(w->thinning, launch);
        return gp_writer_launch(w, launch);
    }
    gp_thinning_leave_out(w->thinning, launch);
    return true;
}

static bool take_early(void *user, const struct gp_record *launch)
{
    struct thin *t = user;
    return !gp_thinning_keeps(t->anew->thinning, launch, 0) || gp_writer_early(t->anew, launch);
}

static bool take_sum(void *user, const struct gp_sum *sum)
{
    gp_thinning_sum(((struct thin *)user)->anew->thinning, sum);
    return true;
}

static bool take_count(void *user, const struct gp_count *count)
{
    return gp_writer_count(((struct thin *)user)->anew, count);
}

static void take_given_up(void *user, const char *why)
{
    gp_writer_given_up(((struct thin *)user)->anew, why);
}

static bool take_other(void *user, const char *type, const struct json_t *line)
{
    return gp_writer_line(((struct thin *)user)->anew, type, json_copy((json_t *)line));
}

/* Up to here the process was at work; the last lines are read while it cannot add some. */
static bool take_rest(void *user)
{
    struct thin *t = user;
    if (t->locked)
        return false;
    t->lock();
    t->locked = true;
    return true;
}

static bool write_anew(struct thin *t)
{
    char why[512];
    const struct gp_profile_visitor visitor = {.user = t,
                                               .exact = true,
                                               .device = take_device,
                                               .launch = take_launch,
                                               .count = take_count,
                                               .sum = take_sum,
                                               .early = take_early,
                                               .more = take_rest,
                                               .gave_up = take_given_up,
                                               .other = take_other};
    const bool read =
        gp_profile_read_open(t->old->file.fd, t->old->path, &visitor, why, sizeof(why));
    gp_thinning_take(t->anew->thinning, gp_writer_sum, t->anew);
    return read && !t->anew->stopped && t->locked && t->goes_on();
}

/* ---- its name -------------------------------------------------------------------------------- */

static bool give_name(int fd, const char *name)
{
    char path[64];
    struct stat about;
    if (fstat(fd, &about) != 0)
        return false;
    if (about.st_nlink > 0)
        return true;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    unlink(name);
    return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* The writer goes on with the new file. */
static void take_over(struct gp_writer *w, struct gp_writer *anew)
{
    const struct gp_output file = w->file;
    const struct gp_sink sink = w->sink;
    const struct gp_said_lines said = w->said;
    gp_thinning_take_lines(w->thinning, anew->thinning);
    w->file = anew->file;
    w->sink = anew->sink;
    w->sink.file = &w->file;
    w->said = anew->said;
    w->devices_written = anew->devices_written;
    w->passing = 0;
    w->halved = false;
    w->must_forget = false;
    anew->file = file;
    anew->sink = sink;
    anew->sink.file = &anew->file;
    anew->said = said;
    anew->stopped = true; /* nothing more is written to it */
}

static bool replace(struct thin *t, const char *path, const char *name)
{
    struct gp_writer *w = t->old;
    if (w->stopped || !gp_output_is_ours(&w->file) || !is_same_file(&w->file, path) ||
        !give_name(t->anew->file.fd, name))
        return false;
    if (rename(name, path) != 0) {
        unlink(name);
        return false;
    }
    take_over(w, t->anew);
    return true;
}

/* ---- */

static void thin(struct thin *t, const char *path, const char *name)
{
    struct gp_writer *w = t->old;
    const bool replaced = write_anew(t) && replace(t, path, name);
    if (!t->locked)
        t->lock();
    t->locked = true;
    /* A file that is full of other lines would be written again and again. */
    if (t->goes_on() && (!replaced || gp_writer_is_long(w)))
        w->stays = true;
    if (!replaced)
        unlink(name);
}

void gp_writer_thin(struct gp_writer *w, void (*lock)(void), void (*unlock)(void),
                    bool (*goes_on)(void))
{
    struct thin t = {.old = w, .lock = lock, .goes_on = goes_on};
    struct gp_text name = {0}, folder = {0};
    char *path = NULL;
    lock();
    if (w->file.type == S_IFREG && find_names(w, &path, &name)) {
        gp_add_folder_of(path, &folder);
        gp_writer_halve(w);
        t.anew = begin(w, gp_text_string(&folder), gp_text_string(&name));
    }
    if (!t.anew)
        w->stays = true;
    unlock();
    if (t.anew) {
        thin(&t, path, gp_text_string(&name));
        unlock();
    }
    gp_writer_close(t.anew);
    gp_text_free(&folder);
    gp_text_free(&name);
    free(path);
}
