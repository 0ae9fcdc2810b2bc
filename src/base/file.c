#include "base/file.h"

#include "base/output.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOWEST_DESCRIPTOR 200
#define PART 4096 /* a pipe that has room for a write takes so much at once */

int gp_open_high(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

int gp_open_output(const char *path, bool *is_programs)
{
    /* Without a reader a FIFO is not waited for, nor one that is full. */
    int fd = gp_open_high(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY);
    const struct gp_output opened = gp_output_of(fd);
    *is_programs = false;
    for (int own = STDOUT_FILENO; fd >= 0 && own <= STDERR_FILENO; own++) {
        const struct gp_output same = {own, opened.device, opened.file, opened.type};
        int copy = gp_output_is_ours(&same) ? fcntl(own, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR) : -1;
        if (copy >= 0) {
            close(fd);
            *is_programs = true;
            return copy;
        }
    }
    return fd;
}

const char *gp_open_error(int error)
{
    return error == ENXIO ? "nobody has this FIFO open for reading" : strerror(error);
}

int gp_write_all(int fd, const char *bytes, size_t length)
{
    const struct gp_output output = gp_output_of(fd);
    int wait_ms = INT_MAX;
    return gp_output_write(&output, bytes, length, &wait_ms);
}

int gp_write_bounded(int fd, const char *bytes, size_t length)
{
    const struct gp_output output = gp_output_of(fd);
    int error = 0;
    while (length > 0 && error == 0) {
        size_t part = length < PART ? length : PART;
        int wait_ms = GP_OUTPUT_WAIT_MS;
        error = gp_output_write(&output, bytes, part, &wait_ms);
        bytes += part;
        length -= part;
    }
    return error;
}

/* ---- a file as a whole ----------------------------------------------------------------------- */

static int write_and_close(int fd, const char *bytes, size_t length)
{
    const int error = fd < 0 ? errno : gp_write_bounded(fd, bytes, length);
    return fd >= 0 && close(fd) != 0 && error == 0 ? errno : error;
}

/* `beside`: the name until then, with the number of the process, so that two never share one. */
static int replace(const char *path, const char *beside, const char *bytes, size_t length)
{
    unlink(beside); /* one that a process of that number has left */
    const int fd = gp_open_high(beside, O_WRONLY | O_CREAT | O_EXCL);
    int error = write_and_close(fd, bytes, length);
    if (error == 0 && rename(beside, path) != 0)
        error = errno;
    if (error != 0 && fd >= 0)
        unlink(beside);
    return error;
}

int gp_replace_file(const char *path, const char *bytes, size_t length)
{
    struct stat about;
    const bool there = stat(path, &about) == 0;
    if (there && !S_ISREG(about.st_mode))
        return write_and_close(gp_open_high(path, O_WRONLY | O_NONBLOCK | O_NOCTTY), bytes, length);
    char *real = there ? realpath(path, NULL) : strdup(path);
    struct gp_text beside = {0};
    gp_text_addf(&beside, "%s.%ld", real ? real : path, (long)getpid());
    const int error = real && !beside.failed ? replace(real, beside.data, bytes, length) : ENOMEM;
    gp_text_free(&beside);
    free(real);
    return error;
}
