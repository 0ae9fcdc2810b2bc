#include "base/futex.h"

#include <errno.h>
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

void gp_futex_wake(atomic_int *word)
{
    int saved_errno = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved_errno;
}
