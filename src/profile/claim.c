#include "profile/claim.h"

#include "base/file.h"
#include "profile/head.h"
#include "profile/run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that others replace again and again is given up. */
#define MOST_TRIES 10

static const char of_this_run[] = "another process of this run has that file";
static const char of_others[] = "another run is writing that file";
static const char no_locks[] =
    "that file is there already, and its file system has no locks that would tell whether "
    "somebody is writing it";
static const char not_of_a_run[] = "that file was not written beside another one";

/* OURS: open, locked and empty. TAKEN: the next name may be free. AGAIN: the name has just become
 * another file's. */
enum outcome { OURS, TAKEN, AGAIN, FAILED };

/* ---- locks ----------------------------------------------------------------------------------- */

/* The lock says that somebody is writing. It is this process's own: a forked child that lives on
 * does not hold it. */
static int lock(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int error;
    do
        error = fcntl(fd, F_SETLK, &whole) == 0 ? 0 : errno;
    while (error == EINTR);
    return error == EACCES ? EAGAIN : error;
}

bool gp_claim_lock(int fd)
{
    return lock(fd) != EAGAIN;
}

static bool has_name(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev &&
           opened.st_ino == named.st_ino;
}

/* ---- regular files --------------------------------------------------------------------------- */

static bool read_head(int fd, struct gp_head *head)
{
    struct gp_source *source = lseek(fd, 0, SEEK_SET) == 0 ? gp_source_use(fd) : NULL;
    const bool read = source && gp_head_read(source, head);
    gp_source_close(source);
    return read;
}

static bool is_of_run(const struct gp_head *head, const char *run)
{
    return run && strcmp(head->run, run) == 0;
}

static bool is_empty(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_size == 0;
}

/* True for a file that is not to be replaced; nobody is writing it. The name that was asked for may
 * be any file's; under another one only a file that an earlier run has put there is replaced. */
static bool must_stay(int fd, const char *run, unsigned number, const char **why)
{
    struct gp_head head;
    if (is_empty(fd))
        return false;
    const bool known = read_head(fd, &head), same = known && is_of_run(&head, run);
    *why = same ? of_this_run : not_of_a_run;
    return same || (number > 1 && !(known && head.number > 1));
}

/* The run whose process is writing it. One that has no head yet was begun in this moment, as
 * processes of one run are. */
static const char *writer_of(int fd, const char *run)
{
    struct gp_head head;
    return read_head(fd, &head) && !is_of_run(&head, run) ? of_others : of_this_run;
}

/* Makes an open file ours. `made`: by us, where there was none. */
static enum outcome take(int fd, const char *path, const char *run, unsigned number, bool made,
                         const char **why)
{
    const int error = lock(fd);
    if (error) {
        *why = error == EAGAIN ? writer_of(fd, run) : no_locks;
        return made && error != EAGAIN ? OURS : TAKEN;
    }
    /* Before we had the lock somebody may have removed or replaced it. */
    if (!has_name(fd, path))
        return AGAIN;
    if (must_stay(fd, run, number, why))
        return TAKEN;
    return ftruncate(fd, 0) == 0 ? OURS : FAILED;
}

/* *fd is open where the outcome is OURS. */
static enum outcome try_name(const char *path, const char *run, unsigned number, int *fd,
                             const char **why)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY;
    *fd = gp_open_high(path, flags | O_EXCL);
    const bool made = *fd >= 0;
    if (!made && errno == EEXIST)
        *fd = gp_open_high(path, flags); /* makes the file that a link leads to */
    if (*fd < 0)
        return FAILED;
    const enum outcome outcome = take(*fd, path, run, number, made, why);
    const int error = errno;
    if (outcome != OURS)
        close(*fd);
    errno = error;
    return outcome;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* A device, a pipe or the program's own standard output has no file beside it. */
static bool has_files_beside(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0)
        return true; /* it is made, or cannot be */
    for (int own = STDOUT_FILENO; own <= STDERR_FILENO; own++) {
        const struct gp_output same = gp_output_of(own);
        if (same.fd >= 0 && same.device == about.st_dev && same.file == about.st_ino)
            return false;
    }
    return S_ISREG(about.st_mode);
}

static bool claim_other(const char *path, struct gp_claim *claim, char *why, size_t why_size)
{
    const int fd = gp_open_output(path, &claim->is_programs);
    if (fd < 0) {
        snprintf(why, why_size, "%s: %s", path, gp_open_error(errno));
        return false;
    }
    if (!claim->is_programs && lock(fd) == EAGAIN) {
        snprintf(why, why_size, "%s: another process is writing to it", path);
        close(fd);
        return false;
    }
    gp_text_add(&claim->path, path);
    claim->file = gp_output_of(fd);
    return true;
}

static bool claim_beside(const char *path, const char *run, struct gp_claim *claim, char *why,
                         size_t why_size)
{
    int fd = -1, tries = MOST_TRIES;
    enum outcome outcome = TAKEN;
    const char *reason = NULL;
    for (claim->number = 1; outcome != OURS && claim->number <= GP_MOST_RUN_FILES;) {
        gp_text_clear(&claim->path);
        gp_add_run_file(path, claim->number, &claim->path);
        errno = ENOMEM;
        outcome = claim->path.failed ? FAILED
                                     : try_name(claim->path.data, run, claim->number, &fd, &reason);
        if (outcome == FAILED || (outcome == AGAIN && tries-- == 0))
            break;
        if (outcome != TAKEN)
            continue;
        /* One process of a run says why its file is beside: the second one, or the first where
         * others have that name. */
        if (claim->number == 1)
            claim->why_beside = reason;
        else if (reason == of_this_run)
            claim->why_beside = NULL;
        claim->number++;
    }
    if (outcome == OURS) {
        claim->file = gp_output_of(fd);
        return true;
    }
    snprintf(why, why_size, "%s: %s", outcome == FAILED ? gp_text_string(&claim->path) : path,
             outcome == FAILED  ? gp_open_error(errno)
             : outcome == AGAIN ? "it is replaced again and again"
                                : "there are too many files beside it");
    return false;
}

bool gp_claim_file(const char *path, const char *run, struct gp_claim *claim, char *why,
                   size_t why_size)
{
    *claim = (struct gp_claim){.file = {.fd = -1}, .number = 1};
    const bool claimed = has_files_beside(path) ? claim_beside(path, run, claim, why, why_size)
                                                : claim_other(path, claim, why, why_size);
    if (!claimed)
        gp_text_free(&claim->path);
    return claimed;
}
