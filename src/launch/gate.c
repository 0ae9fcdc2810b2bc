#include "launch/gate.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

/* Writers first: a program whose threads copy all the time would else never be measured. */
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
/* Launches to be measured queue here, however long: only the wait for calls that pass the gate,
 * which may themselves wait for the GPU, is bounded. */
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;

/* A thread that is cancelled at the gate would leave it as it is for ever. */
static __thread int cancel_state __attribute__((tls_model("initial-exec")));

void gp_gate_share(void)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_rwlock_rdlock(&gate);
}

void gp_gate_unshare(void)
{
    pthread_rwlock_unlock(&gate);
    pthread_setcancelstate(cancel_state, NULL);
}

static struct timespec from_now(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    long ns = t.tv_nsec + (long)(1e9 * (seconds - (double)(time_t)seconds));
    t.tv_sec += (time_t)seconds + ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

bool gp_gate_queue(double seconds)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&queue);
    const struct timespec until = from_now(seconds);
    return pthread_rwlock_timedwrlock(&gate, &until) == 0;
}

void gp_gate_leave(bool closed)
{
    if (closed)
        pthread_rwlock_unlock(&gate);
    pthread_mutex_unlock(&queue);
    pthread_setcancelstate(cancel_state, NULL);
}

bool gp_gate_close(double seconds)
{
    bool closed = gp_gate_queue(seconds);
    if (!closed)
        gp_gate_leave(closed);
    return closed;
}

void gp_gate_open(void)
{
    gp_gate_leave(true);
}
