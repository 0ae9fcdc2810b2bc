#include "base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

bool gp_futex_wait(atomic_int *word, int value, const struct timespec *until)
{
    int saved_errno = errno;
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value, until, NULL,
                          FUTEX_BITSET_MATCH_ANY);
    bool in_time = result == 0 || errno != ETIMEDOUT;
    errno = saved_errno;
    return in_time;
}

static void wake(atomic_int *word, int most)
{
    int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
    errno = saved_errno;
}

void gp_futex_wake(atomic_int *word)
{
    wake(word, 1);
}

void gp_futex_wake_all(atomic_int *word)
{
    wake(word, INT_MAX);
}
