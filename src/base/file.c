#include "base/file.h"

#include "base/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOWEST_DESCRIPTOR 200
#define PATIENCE_MS 1000 /* with a pipe that is full and does not block */

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

static bool is_same_file(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int gp_open_output(const char *path, bool *is_programs)
{
    int fd = gp_open_high(path, O_WRONLY | O_CREAT | O_APPEND);
    *is_programs = false;
    for (int own = STDOUT_FILENO; fd >= 0 && own <= STDERR_FILENO; own++) {
        int copy = is_same_file(fd, own) ? fcntl(own, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR) : -1;
        if (copy >= 0) {
            close(fd);
            *is_programs = true;
            return copy;
        }
    }
    return fd;
}

static int write_loop(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n > 0) {
            bytes += n;
            length -= (size_t)n;
        } else if (n == 0) {
            return EIO;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            if (poll(&p, 1, PATIENCE_MS) == 0)
                return EAGAIN;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

int gp_write_all(int fd, const char *bytes, size_t length)
{
    /* Both signals are sent to the writing thread. They are held back during the write and, when
     * this write brought one up, taken out of the queue: the program must not notice. */
    sigset_t fatal, before, pending;
    gp_cancel_hold(); /* nor is a thread to be cancelled here, where it would not be without us */
    sigemptyset(&fatal);
    sigaddset(&fatal, SIGPIPE);
    sigaddset(&fatal, SIGXFSZ);
    int blocked = pthread_sigmask(SIG_BLOCK, &fatal, &before) == 0;
    sigpending(&pending);

    int error = write_loop(fd, bytes, length);

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
