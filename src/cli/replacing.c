#include "cli/replacing.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_and_name(int fd, const char *beside, const char *path, mode_t mode,
                          cli_writes *writes, void *user)
{
    int error = fchmod(fd, mode) == 0 ? writes(user, fd) : errno;
    if (close(fd) != 0 && error == 0)
        error = errno;
    if (error == 0 && rename(beside, path) != 0)
        error = errno;
    if (error != 0)
        unlink(beside);
    return error;
}

int cli_replace(const char *path, mode_t mode, cli_writes *writes, void *user)
{
    struct gp_text beside = {0};
    gp_text_addf(&beside, "%s.XXXXXX", path);
    const int fd = beside.failed ? -1 : mkostemp(beside.data, O_CLOEXEC);
    const int error = beside.failed ? ENOMEM
                      : fd < 0      ? errno
                                    : write_and_name(fd, beside.data, path, mode, writes, user);
    gp_text_free(&beside);
    return error;
}
