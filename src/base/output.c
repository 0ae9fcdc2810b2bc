#include "base/output.h"

#include "base/cancel.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <unistd.h>

/* The bytes that a terminal takes without waiting when poll says that it takes some. */
#define SMALL_PART 256

struct gp_output gp_output_of(int fd)
{
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0)
        return (struct gp_output){.fd = -1};
    return (struct gp_output){
        .fd = fd, .device = about.st_dev, .file = about.st_ino, .type = about.st_mode & S_IFMT};
}

bool gp_output_is_ours(const struct gp_output *output)
{
    const struct gp_output now = gp_output_of(output->fd);
    return now.fd >= 0 && now.device == output->device && now.file == output->file;
}

void gp_output_close(struct gp_output *output)
{
    if (gp_output_is_ours(output))
        close(output->fd);
    output->fd = -1;
}

/* ---- writing that may have to wait ----------------------------------------------------------- */

static bool does_not_block(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & O_NONBLOCK);
}

/* Others use the same descriptor, so its flags are not ours to change: the same pipe or terminal
 * opened once more has flags of its own. -1 where that cannot be done. */
static int open_again(const struct gp_output *output)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", output->fd);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const struct gp_output again = {fd, output->device, output->file, output->type};
    if (fd < 0 || gp_output_is_ours(&again))
        return fd;
    close(fd);
    return -1;
}

/* 0 when the descriptor takes something. */
static int wait_for_room(int fd, int *wait_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    double start = gp_clock_seconds();
    int ready = poll(&p, 1, *wait_ms > 0 ? *wait_ms : 0), error = errno;
    double waited = 1e3 * (gp_clock_seconds() - start);
    *wait_ms -= waited < *wait_ms ? (int)waited : *wait_ms;
    if (ready > 0 || (ready < 0 && error == EINTR))
        return 0;
    return ready == 0 ? EAGAIN : error;
}

/* `largest`: the most bytes to write at once; 0: any number. */
struct way {
    int fd;
    bool socket, waits_first;
    size_t largest;
};

static ssize_t write_part(const struct way *way, const char *bytes, size_t length)
{
    if (way->largest && length > way->largest)
        length = way->largest;
    return way->socket ? send(way->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL)
                       : write(way->fd, bytes, length);
}

static int write_loop(const struct way *way, const char *bytes, size_t length, int *wait_ms)
{
    while (length > 0) {
        int error = way->waits_first ? wait_for_room(way->fd, wait_ms) : 0;
        if (error)
            return error;
        ssize_t n = write_part(way, bytes, length);
        if (n > 0) {
            bytes += n;
            length -= (size_t)n;
        } else if (n == 0) {
            return EIO;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if ((error = wait_for_room(way->fd, wait_ms)) != 0)
                return error;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

static int write_somehow(const struct gp_output *output, const char *bytes, size_t length,
                         int *wait_ms)
{
    struct way way = {.fd = output->fd, .socket = output->type == S_IFSOCK};
    bool may_block = output->type == S_IFIFO || (output->type == S_IFCHR && isatty(output->fd));
    if (!may_block || does_not_block(output->fd))
        return write_loop(&way, bytes, length, wait_ms);
    way.fd = open_again(output);
    if (way.fd < 0 && errno == ENXIO)
        return EPIPE; /* nobody reads it */
    if (way.fd < 0)
        way = (struct way){.fd = output->fd, .waits_first = true, .largest = SMALL_PART};
    int error = write_loop(&way, bytes, length, wait_ms);
    if (way.fd != output->fd)
        close(way.fd);
    return error;
}

/* Both signals are sent to the writing thread. They are held back during the write and, when this
 * write brought one up, taken out of the queue: the program must not notice. */
int gp_output_write(const struct gp_output *output, const char *bytes, size_t length, int *wait_ms)
{
    sigset_t fatal, before, pending;
    gp_cancel_hold(); /* nor is a thread to be cancelled here, where it would not be without us */
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGPIPE);
    sigaddset(&fatal, SIGXFSZ);
    bool blocked = pthread_sigmask(SIG_BLOCK, &fatal, &before) == 0;
    sigpending(&pending);

    int error = gp_output_is_ours(output) ? write_somehow(output, bytes, length, wait_ms) : EBADF;

    int raised = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
    if (blocked && raised && !sigismember(&pending, raised)) {
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, raised);
        struct timespec now = {0, 0};
        while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    if (blocked)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    gp_cancel_release();
    return error;
}
