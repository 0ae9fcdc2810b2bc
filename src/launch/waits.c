#include "launch/waits.h"

#include "base/clock.h"
#include "cuda/wait.h"
#include "launch/session.h"

#include <pthread.h>
#include <stdatomic.h>

/* All waits in vain, in times of the first one's limit. */
#define ALL_IN_VAIN 2.0

/* Launches of one process that do not end, and are under way at a time. What is beyond is waited
 * for. */
#define MOST_UNENDING 16

static atomic_ullong in_vain_ns;

/* ---- the account ----------------------------------------------------------------------------- */

/* Half of what is left, so that something is left for the next wait. */
double gp_wait_limit(void)
{
    double left = ALL_IN_VAIN * gp_session_timeout() - 1e-9 * (double)atomic_load(&in_vain_ns);
    return left > 0 ? left / ALL_IN_VAIN : 0;
}

void gp_wait_was_in_vain(double seconds)
{
    atomic_fetch_add(&in_vain_ns, (unsigned long long)(1e9 * seconds));
}

/* Notes what came of a wait that began then. */
static CUresult account(CUresult result, double began, double *waited)
{
    double seconds = gp_clock_seconds() - began;
    if (result == CUDA_ERROR_NOT_READY)
        gp_wait_was_in_vain(seconds);
    if (waited)
        *waited = seconds;
    return result;
}

CUresult gp_wait_within_limit(CUevent event, double seconds, double *waited)
{
    double began = gp_clock_seconds();
    return account(gp_wait_for_event(event, seconds), began, waited);
}

CUresult gp_wait_for_rest(CUcontext context, CUevent event, double seconds, double *waited)
{
    double began = gp_clock_seconds();
    return account(gp_wait_for_context(context, event, seconds), began, waited);
}

/* ---- launches that do not end by themselves -------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unending {
    CUcontext context; /* NULL: free */
    CUstream stream;
    CUevent event;
    bool taken; /* it is being recorded */
} all[MOST_UNENDING];

static bool is_under_way(const struct unending *u)
{
    return u->taken || gp_cuda.cuEventQuery(u->event) == CUDA_ERROR_NOT_READY;
}

/* An entry for one more launch in the stream; NULL where there is none, or one is not needed, as an
 * earlier launch of the stream is still under way: each event takes room in the stream's queue.
 * Locked. */
static struct unending *take(CUcontext context, CUstream stream)
{
    struct unending *unused = NULL, *ended = NULL;
    for (size_t i = 0; i < MOST_UNENDING; i++) {
        struct unending *u = &all[i];
        if (!u->context)
            unused = u;
        else if (u->context != context)
            continue;
        else if (!is_under_way(u))
            ended = u;
        else if (u->stream == stream)
            return NULL;
    }
    if (ended)
        return ended;
    if (!unused || gp_cuda.cuEventCreate(&unused->event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        return NULL;
    unused->context = context;
    return unused;
}

void gp_unending_launched(CUstream stream, bool per_thread_stream)
{
    CUcontext context;
    if (gp_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)
        return;
    pthread_mutex_lock(&lock);
    struct unending *u = take(context, stream);
    if (u) {
        u->stream = stream;
        u->taken = true;
    }
    pthread_mutex_unlock(&lock);
    if (!u)
        return;
    /* It waits where the stream's queue is full. */
    if (per_thread_stream)
        gp_cuda.cuEventRecord_ptsz(u->event, stream);
    else
        gp_cuda.cuEventRecord(u->event, stream);
    pthread_mutex_lock(&lock);
    u->taken = false;
    pthread_mutex_unlock(&lock);
}

bool gp_unending_runs(CUcontext context)
{
    bool runs = false;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_UNENDING && !runs; i++)
        runs = all[i].context == context && is_under_way(&all[i]);
    pthread_mutex_unlock(&lock);
    return runs;
}

void gp_unending_forget(CUcontext context, bool alive)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_UNENDING; i++) {
        if (all[i].context != context)
            continue;
        if (alive)
            gp_cuda.cuEventDestroy_v2(all[i].event);
        all[i] = (struct unending){0};
    }
    pthread_mutex_unlock(&lock);
}
