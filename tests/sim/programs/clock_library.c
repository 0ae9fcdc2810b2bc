/*
 * A clock that does not depend on the other work of the machine, for programs that take minutes:
 * preloaded behind libgpuprof.so. It shows the time of all sleeps, and a moment for each reading of
 * it, so that each loop that waits for a time ends. Nobody sleeps for SHORT or longer: that time
 * has passed at once for all. Shorter sleeps are made, and take no time by this clock: they are
 * waits for the simulated GPU, whose work takes none either.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define SHORT 250000
#define READING_NS 20

static long (*call)(long number, ...);
static _Atomic int64_t passed_ns = SECOND;

__attribute__((constructor)) static void begin(void)
{
    if (!call)
        *(void **)&call = dlsym(RTLD_NEXT, "syscall");
}

static int64_t ns_of(const struct timespec *time)
{
    return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    begin();
    if (clock != CLOCK_MONOTONIC)
        return (int)call(SYS_clock_gettime, clock, time);
    *time = time_of(atomic_fetch_add(&passed_ns, READING_NS));
    return 0;
}

int nanosleep(const struct timespec *rest, struct timespec *left)
{
    begin();
    if (ns_of(rest) < SHORT)
        return (int)call(SYS_nanosleep, rest, left);
    atomic_fetch_add(&passed_ns, ns_of(rest));
    (void)call(SYS_sched_yield);
    return 0;
}

/* A wait that ends by this clock lasts as long by the machine's, and takes no time. */
static long wait_until(long word, long operation, long value, const struct timespec *until)
{
    struct timespec end;
    const int64_t rest = ns_of(until) - atomic_load(&passed_ns);
    (void)call(SYS_clock_gettime, CLOCK_MONOTONIC, &end);
    end = time_of(ns_of(&end) + (rest > 0 ? rest : 0));
    return call(SYS_futex, word, operation, value, &end, NULL, FUTEX_BITSET_MATCH_ANY);
}

long syscall(long number, ...)
{
    long of[6];
    va_list all;
    va_start(all, number);
    for (int i = 0; i < 6; i++)
        of[i] = va_arg(all, long);
    va_end(all);
    begin();
    if (number == SYS_futex && (of[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && of[3])
        return wait_until(of[0], of[1], of[2], (const struct timespec *)of[3]);
    return call(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}
