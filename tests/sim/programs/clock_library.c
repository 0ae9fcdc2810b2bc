/*
 * A clock for programs that take minutes: preloaded behind libgpuprof.so, nobody sleeps for a
 * millisecond or longer, and that time has passed at once for all. Shorter sleeps are made: they
 * are waits for the simulated GPU, which works in real time.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000
#define SHORT 1000000

static _Atomic int64_t slept_ns;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (syscall(SYS_clock_gettime, clock, time) != 0)
        return -1; /* errno is set */
    if (clock == CLOCK_MONOTONIC) {
        const int64_t ns = time->tv_nsec + atomic_load(&slept_ns);
        time->tv_sec += ns / SECOND;
        time->tv_nsec = ns % SECOND;
    }
    return 0;
}

int nanosleep(const struct timespec *rest, struct timespec *left)
{
    if (rest->tv_sec == 0 && rest->tv_nsec < SHORT)
        return (int)syscall(SYS_nanosleep, rest, left);
    atomic_fetch_add(&slept_ns, (int64_t)rest->tv_sec * SECOND + rest->tv_nsec);
    (void)syscall(SYS_sched_yield);
    return 0;
}
