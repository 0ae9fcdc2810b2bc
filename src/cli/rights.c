#include "cli/rights.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* As many as the kernel follows. */
#define MOST_INTERPRETERS 4

/* "#!/usr/bin/python3 -u" at the beginning of a file names an interpreter, whose path goes to
 * `path`, which has CLI_LONGEST_PATH bytes. */
static bool find_interpreter(const char *file, char *path)
{
    char line[CLI_LONGEST_PATH] = "";
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, line, sizeof(line) - 1) : 0;
    if (fd >= 0)
        close(fd);
    if (length < 2 || strncmp(line, "#!", 2) != 0)
        return false;
    const char *begin = line + 2 + strspn(line + 2, " \t");
    size_t size = strcspn(begin, " \t\n");
    memcpy(path, begin, size);
    path[size] = '\0';
    return size > 0;
}

/* Nobody gets any: the file system, or the caller for all its descendants, has said so. */
static bool are_ignored(const char *path)
{
    struct statvfs about;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
           (statvfs(path, &about) == 0 && (about.f_flag & ST_NOSUID));
}

const char *cli_interpreter_of(const char *path, char *room)
{
    char next[CLI_LONGEST_PATH];
    for (int i = 0; i < MOST_INTERPRETERS && find_interpreter(path, next); i++)
        path = strcpy(room, next);
    return path;
}

const char *cli_gets_rights(const char *path)
{
    struct stat about;
    char room[CLI_LONGEST_PATH];
    path = cli_interpreter_of(path, room);
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) || are_ignored(path))
        return NULL;
    if ((about.st_mode & S_ISUID) && about.st_uid != getuid())
        return "as a set-user-ID program";
    if ((about.st_mode & S_ISGID) && about.st_gid != getgid())
        return "as a set-group-ID program";
    /* Root has all capabilities anyway. */
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return "by file capabilities (see getcap)";
    return NULL;
}
