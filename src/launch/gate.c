#include "launch/gate.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define CLOSE_SECONDS 5

/* Writers first: a program whose threads copy all the time would else never be measured. */
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

void gp_gate_share(void)
{
    pthread_rwlock_rdlock(&gate);
}

void gp_gate_unshare(void)
{
    pthread_rwlock_unlock(&gate);
}

bool gp_gate_close(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLOSE_SECONDS;
    return pthread_rwlock_timedwrlock(&gate, &until) == 0;
}

void gp_gate_open(void)
{
    pthread_rwlock_unlock(&gate);
}
