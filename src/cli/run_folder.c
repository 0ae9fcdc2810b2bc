#include "cli/run_folder.h"

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME "gpuprof-run"
/* As in launch/command.c. */
#define MARK "unwritten"
#define ENDED "ended."

/* A folder without a lock that is younger may be about to get it. */
#define LEAST_AGE 60

/* ---- removal --------------------------------------------------------------------------------- */

static void remove_files(int folder)
{
    const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
    for (const struct dirent *e; entries && (e = readdir(entries)) != NULL;)
        unlinkat(folder, e->d_name, 0); /* not those that are folders */
    if (entries)
        closedir(entries);
    else if (copy >= 0)
        close(copy);
}

/* One that a killed command has left: nobody has its lock. */
static void remove_left(int parent, const char *name)
{
    struct stat about;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
        time(NULL) - about.st_mtime > LEAST_AGE && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        remove_files(fd);
        unlinkat(parent, name, AT_REMOVEDIR);
    }
    close(fd);
}

static void remove_all_left(const char *sibling)
{
    static const char begin[] = NAME ".";
    struct gp_text parent = {0};
    gp_add_folder_of(sibling, &parent);
    DIR *entries = opendir(gp_text_string(&parent));
    for (const struct dirent *e; entries && (e = readdir(entries)) != NULL;)
        if (strncmp(e->d_name, begin, sizeof(begin) - 1) == 0)
            remove_left(dirfd(entries), e->d_name);
    if (entries)
        closedir(entries);
    gp_text_free(&parent);
}

void cli_run_folder_remove(struct cli_run_folder *folder)
{
    if (folder->lock >= 0) {
        remove_files(folder->lock);
        close(folder->lock);
    }
    if (folder->path[0])
        rmdir(folder->path);
    folder->lock = -1;
    folder->path[0] = '\0';
}

void cli_run_folder_remove_with(const struct cli_run_folder *folder, char *const *files,
                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        unlink(files[i]);
    if (folder->lock >= 0)
        unlinkat(folder->lock, MARK, 0);
    if (folder->path[0])
        rmdir(folder->path);
}

/* ---- use ------------------------------------------------------------------------------------- */

/* It has its byte from the start: a disk may be full when it is wanted. */
static bool make_mark(int folder)
{
    int fd = openat(folder, MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool made = fd >= 0 && write(fd, "0", 1) == 1;
    if (fd >= 0)
        close(fd);
    return made;
}

bool cli_run_folder_is_marked(const struct cli_run_folder *folder)
{
    char byte = '0';
    int fd = folder->lock >= 0 ? openat(folder->lock, MARK, O_RDONLY | O_CLOEXEC) : -1;
    bool marked = fd >= 0 && read(fd, &byte, 1) == 1 && byte != '0';
    if (fd >= 0)
        close(fd);
    return marked;
}

bool cli_run_folder_has_end(const struct cli_run_folder *folder, long process)
{
    char name[32];
    snprintf(name, sizeof(name), ENDED "%ld", process);
    return folder->lock >= 0 && faccessat(folder->lock, name, F_OK, 0) == 0;
}

bool cli_run_folder_make(struct cli_run_folder *folder, int *error)
{
    struct gp_text name = {0};
    *folder = (struct cli_run_folder){.lock = -1};
    gp_add_temporary(NAME, &name);
    const bool made = !name.failed && mkdtemp(name.data);
    /* The program may change its own folder. */
    if (made && realpath(name.data, folder->path))
        folder->lock = gp_open_high(folder->path, O_RDONLY | O_DIRECTORY);
    const bool usable = folder->lock >= 0 && make_mark(folder->lock);
    *error = name.failed ? ENOMEM : errno;
    if (usable) {
        flock(folder->lock, LOCK_EX | LOCK_NB); /* without locks nobody removes it */
        remove_all_left(folder->path);
    } else if (made) {
        cli_run_folder_remove(folder);
        rmdir(name.data);
    }
    gp_text_free(&name);
    return usable;
}
