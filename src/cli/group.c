#include "cli/group.h"

#include "base/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Two signals so close are one: a sender that goes from process to process takes a moment. */
#define SAME_SECONDS 0.1
#define MOST_NAPS 20
#define NAP_NS 1000000

/* When each signal came there last. Shared by both processes. */
struct arrivals {
    _Atomic double seconds[_NSIG];
};

static struct arrivals *arrivals;
static pid_t watcher;

/* Linux has the call since 5.9. Headers of glibc before 2.32 have only the kernel's name of it. */
#ifndef SYS_close_range
#define SYS_close_range __NR_close_range
#endif

static void close_between(int first, int last)
{
    if (first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0)
        return;
    const long most = sysconf(_SC_OPEN_MAX);
    for (int fd = first; fd <= last && fd < most; fd++)
        close(fd);
}

void cli_close_from(int first, int but)
{
    if (but >= first)
        close_between(first, but - 1);
    close_between(but >= first ? but + 1 : first, INT_MAX);
}

static void watch(pid_t parent)
{
    sigset_t all;
    sigfillset(&all);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cli_close_from(0, -1);
    while (getppid() == parent) {
        int number = sigwaitinfo(&all, NULL);
        if (number > 0 && number < _NSIG)
            atomic_store(&arrivals->seconds[number], gp_clock_seconds());
    }
    _exit(0);
}

void cli_group_watch(void)
{
    const pid_t self = getpid();
    void *shared =
        mmap(NULL, sizeof(*arrivals), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return;
    arrivals = shared;
    watcher = fork();
    if (watcher == 0)
        watch(self);
}

/* It came there, and the process had no time yet to note it. */
static bool is_pending(int number)
{
    char path[64], text[4096] = "";
    snprintf(path, sizeof(path), "/proc/%ld/status", (long)watcher);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    if (fd >= 0)
        close(fd);
    const char *pending = n > 0 ? strstr(text, "\nShdPnd:") : NULL;
    const unsigned long long set = pending ? strtoull(pending + strlen("\nShdPnd:"), NULL, 16) : 0;
    return number >= 1 && number <= 64 && (set >> (number - 1) & 1);
}

bool cli_group_got(int number)
{
    const double came = gp_clock_seconds();
    const struct timespec nap = {.tv_nsec = NAP_NS};
    if (watcher <= 0 || number <= 0 || number >= _NSIG)
        return false;
    for (int naps = 0; naps < MOST_NAPS; naps++) {
        if (is_pending(number) || atomic_load(&arrivals->seconds[number]) > came - SAME_SECONDS)
            return true;
        nanosleep(&nap, NULL);
    }
    return false;
}

void cli_group_leave(void)
{
    if (watcher > 0) {
        kill(watcher, SIGKILL);
        waitpid(watcher, NULL, 0);
    }
    watcher = 0;
    if (arrivals)
        munmap(arrivals, sizeof(*arrivals));
    arrivals = NULL;
}
