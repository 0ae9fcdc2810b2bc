#include "cli/run_limit.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <unistd.h>

/* True when the process ended in time. */
static bool ends_until(int process, double until)
{
    struct pollfd p = {.fd = process, .events = POLLIN};
    for (double left; (left = until - gp_clock_seconds()) > 0;) {
        double most = left < 1e6 ? left : 1e6; /* poll takes no more than an int of ms */
        if (poll(&p, 1, (int)(1e3 * most) + 1) > 0)
            return true;
    }
    return false;
}

static void watch(int process, double until, const char *seconds, const char *program)
{
    /* A signal that interrupts the program, from the terminal say, is not for this process. */
    setsid();
    /* Nobody is to wait for a pipe that this process still has. */
    if (dup2(process, STDIN_FILENO) < 0)
        return;
    process = STDIN_FILENO;
    close(STDOUT_FILENO);
    syscall(__NR_close_range, STDERR_FILENO + 1, ~0U, 0); /* glibc names it since 2.34 */
    if (!ends_until(process, until)) {
        gp_say("%s: ended after %s s (--timeout)", program, seconds);
        syscall(SYS_pidfd_send_signal, process, SIGTERM, NULL, 0);
    }
    _exit(0);
}

bool run_limit(const char *seconds, const char *program)
{
    if (!seconds)
        return true;
    double until = gp_clock_seconds() + strtod(seconds, NULL);
    int process = (int)syscall(SYS_pidfd_open, getpid(), 0);
    pid_t child = process >= 0 ? fork() : -1;
    if (child < 0) {
        gp_say("--timeout: %s", strerror(errno));
        if (process >= 0)
            close(process);
        return false;
    }
    if (child == 0) {
        /* Of a child that has a child of its own and ends nobody is the parent but init. */
        if (fork() == 0)
            watch(process, until, seconds, program);
        _exit(0);
    }
    close(process);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return true;
}
